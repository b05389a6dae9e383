//! The cryptography of a handshake, called as libssl calls it.

use netbench_model::{FailureWord, Group, KeyType};
use netbench_protocol::Material;
use netbench_worker::{KeyExchange, SIGNED, SessionError, SetupError, Signatures};
use openssl::{
    error::ErrorStack,
    hash::MessageDigest,
    pkey::{PKey, Private, Public},
    rsa::Padding,
    sign::{RsaPssSaltlen, Signer, Verifier},
    x509::X509,
};

use crate::exchange::{decapsulate, derive, encapsulate, encoded, key_pair, peer};

fn failed(why: impl std::fmt::Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, why)
}

/// A key, the public key of its certificate, which libssl has read before, and the last signature.
pub(crate) struct Signing {
    key: PKey<Private>,
    public: PKey<Public>,
    kind: KeyType,
    signature: Vec<u8>,
}

impl Signing {
    pub(crate) fn new(kind: KeyType, material: &Material) -> Result<Self, SetupError> {
        let refused = |e| SetupError::refused("key", e);
        let certificate = X509::from_pem(material.chain_pem.as_bytes()).map_err(refused)?;
        Ok(Self {
            key: PKey::private_key_from_pem(material.key_pem.as_bytes()).map_err(refused)?,
            public: certificate.public_key().map_err(refused)?,
            kind,
            signature: Vec::new(),
        })
    }

    fn digest(&self) -> Option<MessageDigest> {
        match self.kind {
            KeyType::EcdsaP384 => Some(MessageDigest::sha384()),
            KeyType::Ed25519 => None,
            _ => Some(MessageDigest::sha256()),
        }
    }

    fn is_rsa(&self) -> bool {
        self.kind.algorithm() == "RSA"
    }

    fn verifies(&self) -> Result<bool, ErrorStack> {
        let mut verifier = match self.digest() {
            Some(digest) => Verifier::new(digest, &self.public)?,
            None => Verifier::new_without_digest(&self.public)?,
        };
        if self.is_rsa() {
            verifier.set_rsa_padding(Padding::PKCS1_PSS)?;
            verifier.set_rsa_pss_saltlen(RsaPssSaltlen::DIGEST_LENGTH)?;
        }
        verifier.verify_oneshot(&self.signature, &SIGNED)
    }
}

impl Signatures for Signing {
    fn sign(&mut self) -> Result<(), SessionError> {
        let made = || -> Result<Vec<u8>, ErrorStack> {
            let mut signer = match self.digest() {
                Some(digest) => Signer::new(digest, &self.key)?,
                None => Signer::new_without_digest(&self.key)?,
            };
            if self.is_rsa() {
                signer.set_rsa_padding(Padding::PKCS1_PSS)?;
                signer.set_rsa_pss_saltlen(RsaPssSaltlen::DIGEST_LENGTH)?;
            }
            signer.sign_oneshot_to_vec(&SIGNED)
        };
        self.signature = made().map_err(failed)?;
        Ok(())
    }

    fn verify(&self) -> Result<(), SessionError> {
        match self.verifies() {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed("the signature is wrong")),
            Err(error) => Err(failed(error)),
        }
    }

    fn signature(&mut self) -> &mut [u8] {
        &mut self.signature
    }
}

/// Both sides of a key exchange.
pub(crate) struct Exchange {
    group: Group,
    client: PKey<Private>,
    share: Vec<u8>,
    /// What the server sent, and the secret that it has.
    answer: (Vec<u8>, Vec<u8>),
    secret: Vec<u8>,
}

impl Exchange {
    pub(crate) fn new(group: Group) -> Result<Self, SetupError> {
        let client = key_pair(group)
            .map_err(|_| SetupError::Unsupported(format!("no {group} in this OpenSSL")))?;
        Ok(Self {
            group,
            client,
            share: Vec::new(),
            answer: Default::default(),
            secret: Vec::new(),
        })
    }

    fn is_kem(&self) -> bool {
        self.group == Group::X25519MLKEM768
    }

    fn answered(&self) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
        let client = peer(&self.client, &self.share)?;
        if self.is_kem() {
            return encapsulate(&client);
        }
        let own = key_pair(self.group)?;
        Ok((encoded(&own)?, derive(&own, &client)?))
    }

    fn agreed(&self) -> Result<Vec<u8>, ErrorStack> {
        if self.is_kem() {
            return decapsulate(&self.client, &self.answer.0);
        }
        derive(&self.client, &*peer(&self.client, &self.answer.0)?)
    }
}

impl KeyExchange for Exchange {
    fn key_share(&mut self) -> Result<(), SessionError> {
        self.client = key_pair(self.group).map_err(failed)?;
        self.share = encoded(&self.client).map_err(failed)?;
        Ok(())
    }

    fn respond(&mut self) -> Result<(), SessionError> {
        self.answer = self.answered().map_err(failed)?;
        Ok(())
    }

    fn agree(&mut self) -> Result<(), SessionError> {
        self.secret = self.agreed().map_err(failed)?;
        Ok(())
    }

    fn secrets(&self) -> Option<[&[u8]; 2]> {
        Some([&self.secret, &self.answer.1])
    }
}
