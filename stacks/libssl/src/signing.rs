//! The signature of a handshake, made as in libssl.

use netbench_protocol::Material;
use netbench_tls::KeyType;
use netbench_worker::{SIGNED, SetupError, SigningKey, refused};
use openssl::{
    error::ErrorStack,
    hash::MessageDigest,
    pkey::{PKey, Private, Public},
    rsa::Padding,
    sign::{RsaPssSaltlen, Signer, Verifier},
    x509::X509,
};

/// A key, and the public key of its certificate, which is parsed in advance.
pub struct Keys {
    private: PKey<Private>,
    public: PKey<Public>,
    kind: KeyType,
}

impl Keys {
    /// Reads the leaf's key and certificate.
    ///
    /// # Errors
    /// A key or certificate that the library cannot read.
    pub fn new(kind: KeyType, material: &Material) -> Result<Self, SetupError> {
        let certificate = X509::from_pem(material.chain_pem.as_bytes()).map_err(refused("key"))?;
        Ok(Self {
            private: PKey::private_key_from_pem(material.key_pem.as_bytes())
                .map_err(refused("key"))?,
            public: certificate.public_key().map_err(refused("key"))?,
            kind,
        })
    }

    fn digest(&self) -> Option<MessageDigest> {
        match self.kind {
            KeyType::EcdsaP384 => Some(MessageDigest::sha384()),
            KeyType::Ed25519 | KeyType::MlDsa44 | KeyType::MlDsa65 | KeyType::MlDsa87 => None,
            _ => Some(MessageDigest::sha256()),
        }
    }

    fn is_rsa(&self) -> bool {
        self.kind.algorithm() == "RSA"
    }
}

impl SigningKey for Keys {
    type Error = ErrorStack;

    fn sign(&self, signature: &mut Vec<u8>) -> Result<(), ErrorStack> {
        let mut signer = match self.digest() {
            Some(digest) => Signer::new(digest, &self.private)?,
            None => Signer::new_without_digest(&self.private)?,
        };
        if self.is_rsa() {
            signer.set_rsa_padding(Padding::PKCS1_PSS)?;
            signer.set_rsa_pss_saltlen(RsaPssSaltlen::DIGEST_LENGTH)?;
        }
        *signature = signer.sign_oneshot_to_vec(&SIGNED)?;
        Ok(())
    }

    fn verify(&self, signature: &[u8]) -> Result<bool, ErrorStack> {
        let mut verifier = match self.digest() {
            Some(digest) => Verifier::new(digest, &self.public)?,
            None => Verifier::new_without_digest(&self.public)?,
        };
        if self.is_rsa() {
            verifier.set_rsa_padding(Padding::PKCS1_PSS)?;
            verifier.set_rsa_pss_saltlen(RsaPssSaltlen::DIGEST_LENGTH)?;
        }
        verifier.verify_oneshot(signature, &SIGNED)
    }
}
