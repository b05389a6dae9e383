//! The signature of a handshake, made as in libssl. The worker of boringssl compiles this file too, with its
//! library under the name `openssl`.

use netbench_protocol::Material;
use netbench_tls::{FailureWord, KeyType};
use netbench_worker::{SIGNED, SessionError, SetupError, Signatures};
use openssl::{
    error::ErrorStack,
    hash::MessageDigest,
    pkey::{PKey, Private, Public},
    rsa::Padding,
    sign::{RsaPssSaltlen, Signer, Verifier},
    x509::X509,
};

fn failed(why: impl std::fmt::Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, why)
}

/// A key, the public key of its certificate, which is parsed in advance, and the last signature.
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
