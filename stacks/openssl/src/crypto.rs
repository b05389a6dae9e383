//! The cryptography of a handshake, called as libssl calls it.

use netbench_model::{FailureWord, Group, KeyType, Primitive};
use netbench_protocol::Material;
use netbench_worker::{PrimitiveOperation, SessionError, SetupError};
use openssl::{
    error::ErrorStack,
    hash::MessageDigest,
    pkey::{PKey, Private, Public},
    rsa::Padding,
    sign::{RsaPssSaltlen, Signer, Verifier},
    x509::X509,
};

use crate::exchange::{decapsulate, derive, encapsulate, encoded, key_pair, peer};

const MESSAGE: [u8; Primitive::SIGNED_BYTES] = [0x20; Primitive::SIGNED_BYTES];

pub(crate) fn operation(
    primitive: Primitive,
    material: &Material,
) -> Result<Box<dyn PrimitiveOperation>, SetupError> {
    Ok(match primitive {
        Primitive::Sign { key } => Box::new(Sign(Signatures::new(key, material)?)),
        Primitive::Verify { key } => Box::new(Verify(Signatures::new(key, material)?)),
        Primitive::KeyShare { group } => Box::new(KeyShare(Exchange::new(group)?)),
        Primitive::Respond { group } => Box::new(Respond(Exchange::new(group)?)),
        Primitive::Agree { group } => Box::new(Agree(Exchange::new(group)?)),
    })
}

fn failed(why: impl std::fmt::Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, why)
}

/// A key, the public key of its certificate, which libssl has read before, and the last signature.
struct Signatures {
    key: PKey<Private>,
    public: PKey<Public>,
    kind: KeyType,
    signature: Vec<u8>,
}

impl Signatures {
    fn new(kind: KeyType, material: &Material) -> Result<Self, SetupError> {
        let refused = |e| SetupError::refused("key", e);
        let certificate = X509::from_pem(material.chain_pem.as_bytes()).map_err(refused)?;
        let mut made = Self {
            key: PKey::private_key_from_pem(material.key_pem.as_bytes()).map_err(refused)?,
            public: certificate.public_key().map_err(refused)?,
            kind,
            signature: Vec::new(),
        };
        made.sign()
            .map_err(|e| SetupError::refused("signature", e))?;
        Ok(made)
    }

    fn digest(&self) -> Option<MessageDigest> {
        match self.kind {
            KeyType::EcdsaP384 => Some(MessageDigest::sha384()),
            KeyType::Ed25519 => None,
            _ => Some(MessageDigest::sha256()),
        }
    }

    fn is_rsa(&self) -> bool {
        matches!(
            self.kind,
            KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096
        )
    }

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
            signer.sign_oneshot_to_vec(&MESSAGE)
        };
        self.signature = made().map_err(failed)?;
        Ok(())
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
        verifier.verify_oneshot(&self.signature, &MESSAGE)
    }

    fn verify(&self) -> Result<(), SessionError> {
        match self.verifies() {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed("the signature is wrong")),
            Err(error) => Err(failed(error)),
        }
    }
}

struct Sign(Signatures);

impl PrimitiveOperation for Sign {
    fn run(&mut self) -> Result<(), SessionError> {
        self.0.sign()
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        self.0.verify()
    }
}

struct Verify(Signatures);

impl PrimitiveOperation for Verify {
    fn run(&mut self) -> Result<(), SessionError> {
        self.0.verify()
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        if let Some(byte) = self.0.signature.last_mut() {
            *byte ^= 1;
        }
        // What is no signature at all is an error, which also is a refusal.
        let accepted = self.0.verifies().unwrap_or_default();
        self.0.sign()?;
        if accepted {
            return Err(failed("a wrong signature is accepted"));
        }
        Ok(())
    }
}

/// Both sides of a key exchange.
struct Exchange {
    group: Group,
    client: PKey<Private>,
    share: Vec<u8>,
    /// What the server sent, and the secret that it has.
    answer: (Vec<u8>, Vec<u8>),
    secret: Vec<u8>,
}

impl Exchange {
    fn new(group: Group) -> Result<Self, SetupError> {
        let client = key_pair(group)
            .map_err(|_| SetupError::Unsupported(format!("no {group} in this OpenSSL")))?;
        let share = encoded(&client).map_err(|e| SetupError::refused("key share", e))?;
        Ok(Self {
            group,
            client,
            share,
            answer: Default::default(),
            secret: Vec::new(),
        })
    }

    fn is_kem(&self) -> bool {
        self.group == Group::X25519MLKEM768
    }

    fn begin(&mut self) -> Result<(), ErrorStack> {
        self.client = key_pair(self.group)?;
        self.share = encoded(&self.client)?;
        Ok(())
    }

    fn respond(&mut self) -> Result<(), ErrorStack> {
        let client = peer(&self.client, &self.share)?;
        self.answer = if self.is_kem() {
            encapsulate(&client)?
        } else {
            let own = key_pair(self.group)?;
            (encoded(&own)?, derive(&own, &client)?)
        };
        Ok(())
    }

    fn agree(&mut self) -> Result<(), ErrorStack> {
        self.secret = if self.is_kem() {
            decapsulate(&self.client, &self.answer.0)?
        } else {
            derive(&self.client, &*peer(&self.client, &self.answer.0)?)?
        };
        Ok(())
    }

    fn same(&self) -> Result<(), SessionError> {
        if !self.secret.is_empty() && self.secret == self.answer.1 {
            Ok(())
        } else {
            Err(failed("the sides have different secrets"))
        }
    }
}

struct KeyShare(Exchange);

impl PrimitiveOperation for KeyShare {
    fn run(&mut self) -> Result<(), SessionError> {
        self.0.begin().map_err(failed)
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        self.0
            .respond()
            .and_then(|()| self.0.agree())
            .map_err(failed)?;
        self.0.same()
    }
}

struct Respond(Exchange);

impl PrimitiveOperation for Respond {
    fn run(&mut self) -> Result<(), SessionError> {
        self.0.respond().map_err(failed)
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        self.0.agree().map_err(failed)?;
        self.0.same()
    }
}

struct Agree(Exchange);

impl PrimitiveOperation for Agree {
    fn ready(&mut self) -> Result<(), SessionError> {
        self.0
            .begin()
            .and_then(|()| self.0.respond())
            .map_err(failed)
    }

    fn run(&mut self) -> Result<(), SessionError> {
        self.0.agree().map_err(failed)
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        self.0.same()
    }
}
