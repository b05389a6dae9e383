//! Keys of certificates, and their signatures.

use aws_lc_rs::{
    encoding::{AsBigEndian, EcPrivateKeyBin},
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING,
        ECDSA_P521_SHA256_ASN1_SIGNING, ECDSA_P521_SHA512_ASN1_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair,
    },
};
use netbench_model::SignatureScheme;
use serde::Deserialize;

use super::{
    der,
    digest::Digest,
    discrete_log::{DsaKey, P192, P256},
    rsa::RsaKey,
};

/// A kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyKind {
    #[serde(rename = "rsa-1024")]
    Rsa1024,
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    #[serde(rename = "rsa-8192")]
    Rsa8192,
    #[serde(rename = "dsa-1024")]
    Dsa1024,
    #[serde(rename = "dsa-2048")]
    Dsa2048,
    EcdsaP192,
    EcdsaP256,
    EcdsaP384,
    EcdsaP521,
    Ed25519,
}

/// An error of a key that could not be made, or cannot sign with this hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("a key of type {0:?} could not be made")]
    Make(KeyKind),
    #[error("a key of type {0:?} cannot sign with {1:?}")]
    Sign(KeyKind, Digest),
}

/// A key pair.
pub(crate) struct Key {
    kind: KeyKind,
    secret: Secret,
}

enum Secret {
    Rsa(RsaKey),
    Dsa(DsaKey),
    Ecdsa(EcdsaKeyPair),
    EcdsaP192 { secret: Vec<u8>, public: Vec<u8> },
    Ed25519(Ed25519KeyPair),
}

impl Key {
    /// Creates a key of this kind; RSA and DSA keys are always the same.
    pub(crate) fn new(kind: KeyKind) -> Result<Self, KeyError> {
        let secret = match kind {
            KeyKind::Rsa1024 => RsaKey::of_pem(include_str!("keys/rsa-1024.pem")).map(Secret::Rsa),
            KeyKind::Rsa2048 => RsaKey::of_pem(include_str!("keys/rsa-2048.pem")).map(Secret::Rsa),
            KeyKind::Rsa8192 => RsaKey::of_pem(include_str!("keys/rsa-8192.pem")).map(Secret::Rsa),
            KeyKind::Dsa1024 => DsaKey::of_pem(include_str!("keys/dsa-1024.pem")).map(Secret::Dsa),
            KeyKind::Dsa2048 => DsaKey::of_pem(include_str!("keys/dsa-2048.pem")).map(Secret::Dsa),
            KeyKind::EcdsaP192 => new_p192(),
            KeyKind::EcdsaP256 => new_ecdsa(&ECDSA_P256_SHA256_ASN1_SIGNING),
            KeyKind::EcdsaP384 => new_ecdsa(&ECDSA_P384_SHA384_ASN1_SIGNING),
            KeyKind::EcdsaP521 => new_ecdsa(&ECDSA_P521_SHA512_ASN1_SIGNING),
            KeyKind::Ed25519 => Ed25519KeyPair::generate().map(Secret::Ed25519).ok(),
        };
        let secret = secret.ok_or(KeyError::Make(kind))?;
        Ok(Self { kind, secret })
    }

    /// Returns the SubjectPublicKeyInfo.
    pub(crate) fn public(&self) -> Vec<u8> {
        const RSA: [u32; 7] = [1, 2, 840, 113_549, 1, 1, 1];
        const DSA: [u32; 6] = [1, 2, 840, 10040, 4, 1];
        const EC: [u32; 6] = [1, 2, 840, 10045, 2, 1];
        match &self.secret {
            Secret::Rsa(key) => public_key_info(&[&der::oid(&RSA), &[5, 0]], &key.public),
            Secret::Dsa(key) => public_key_info(&[&der::oid(&DSA), &key.parameters], &key.public),
            Secret::Ecdsa(key) => {
                let curve: &[u32] = match self.kind {
                    KeyKind::EcdsaP384 => &[1, 3, 132, 0, 34],
                    KeyKind::EcdsaP521 => &[1, 3, 132, 0, 35],
                    _ => P256.oid,
                };
                let point = key.public_key();
                public_key_info(&[&der::oid(&EC), &der::oid(curve)], point.as_ref())
            }
            Secret::EcdsaP192 { public: point, .. } => {
                public_key_info(&[&der::oid(&EC), &der::oid(P192.oid)], point)
            }
            Secret::Ed25519(key) => {
                let point = key.public_key();
                public_key_info(&[&der::oid(&[1, 3, 101, 112])], point.as_ref())
            }
        }
    }

    /// Returns the default hash of its signatures of certificates.
    pub(crate) fn usual_digest(&self) -> Digest {
        match self.kind {
            KeyKind::EcdsaP384 => Digest::Sha384,
            KeyKind::EcdsaP521 | KeyKind::Ed25519 => Digest::Sha512,
            _ => Digest::Sha256,
        }
    }

    /// Returns the AlgorithmIdentifier of its signatures with `digest`.
    pub(crate) fn algorithm(&self, digest: Digest) -> Vec<u8> {
        let above_sha256 = match digest {
            Digest::Sha1 | Digest::Sha256 => 0,
            Digest::Sha384 => 1,
            Digest::Sha512 => 2,
        };
        match &self.secret {
            Secret::Rsa(_) => {
                let last = match digest {
                    Digest::Sha1 => 5,
                    _ => 11 + above_sha256,
                };
                let oid = der::oid(&[1, 2, 840, 113_549, 1, 1, last]);
                der::sequence(&[&oid, &[5, 0]])
            }
            Secret::Dsa(_) => {
                let oid = match digest {
                    Digest::Sha1 => der::oid(&[1, 2, 840, 10040, 4, 3]),
                    _ => der::oid(&[2, 16, 840, 1, 101, 3, 4, 3, 2 + above_sha256]),
                };
                der::sequence(&[&oid])
            }
            Secret::Ecdsa(_) | Secret::EcdsaP192 { .. } => {
                let oid = match digest {
                    Digest::Sha1 => der::oid(&[1, 2, 840, 10045, 4, 1]),
                    _ => der::oid(&[1, 2, 840, 10045, 4, 3, 2 + above_sha256]),
                };
                der::sequence(&[&oid])
            }
            Secret::Ed25519(_) => der::sequence(&[&der::oid(&[1, 3, 101, 112])]),
        }
    }

    /// Returns a signature in the format of certificates.
    pub(crate) fn sign(&self, digest: Digest, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = match &self.secret {
            Secret::Rsa(key) => Some(key.sign_pkcs1(digest, message)),
            Secret::Dsa(key) => key.sign(digest, message),
            Secret::EcdsaP192 { secret, .. } => P192.sign(secret, digest, message),
            Secret::Ecdsa(key) => self.sign_ecdsa(key, digest, message),
            Secret::Ed25519(key) => Some(key.sign(message).as_ref().to_vec()),
        };
        signature.ok_or(KeyError::Sign(self.kind, digest))
    }

    fn sign_ecdsa(&self, key: &EcdsaKeyPair, digest: Digest, message: &[u8]) -> Option<Vec<u8>> {
        if digest == self.usual_digest() {
            return signature(key, message);
        }
        let secret: EcPrivateKeyBin<'_> = key.private_key().as_be_bytes().ok()?;
        let secret = secret.as_ref();
        match (self.kind, digest) {
            (KeyKind::EcdsaP256, _) => P256.sign(secret, digest, message),
            (KeyKind::EcdsaP521, Digest::Sha256) => {
                let public = key.public_key().as_ref();
                let algorithm = &ECDSA_P521_SHA256_ASN1_SIGNING;
                let key = EcdsaKeyPair::from_private_key_and_public_key(algorithm, secret, public);
                signature(&key.ok()?, message)
            }
            _ => None,
        }
    }

    /// Returns the schemes with which it signs handshakes, the most preferred first.
    pub(crate) fn schemes(&self) -> &'static [SignatureScheme] {
        use SignatureScheme as S;
        match self.kind {
            KeyKind::Rsa1024 | KeyKind::Rsa2048 | KeyKind::Rsa8192 => {
                &[S::RSA_PSS_RSAE_SHA256, S::RSA_PKCS1_SHA256]
            }
            // RFC 8446 section 4.2.3 has no scheme for these keys.
            KeyKind::Dsa1024 | KeyKind::Dsa2048 | KeyKind::EcdsaP192 => &[],
            KeyKind::EcdsaP256 => &[S::ECDSA_SECP256R1_SHA256],
            KeyKind::EcdsaP384 => &[S::ECDSA_SECP384R1_SHA384],
            KeyKind::EcdsaP521 => &[S::ECDSA_SECP521R1_SHA512],
            KeyKind::Ed25519 => &[S::ED25519],
        }
    }

    /// Signs a handshake with one of its schemes.
    pub(crate) fn sign_handshake(
        &self,
        scheme: SignatureScheme,
        message: &[u8],
    ) -> Result<Vec<u8>, KeyError> {
        match &self.secret {
            Secret::Rsa(key) if scheme == SignatureScheme::RSA_PSS_RSAE_SHA256 => {
                Ok(key.sign_pss(Digest::Sha256, message))
            }
            _ => self.sign(self.usual_digest(), message),
        }
    }

    /// Signs a handshake before TLS 1.2, which has no scheme: MD5 and SHA-1 with RSA (RFC 2246 section 7.4.3),
    /// SHA-1 with ECDSA (RFC 4492 section 5.4).
    pub(crate) fn sign_before_12(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.secret {
            Secret::Rsa(key) => Ok(key.sign_md5_sha1(message)),
            Secret::Dsa(_) | Secret::Ecdsa(_) | Secret::EcdsaP192 { .. } => {
                self.sign(Digest::Sha1, message)
            }
            Secret::Ed25519(_) => Err(KeyError::Sign(self.kind, Digest::Sha1)),
        }
    }

    /// Returns the RSA key, if the key is one.
    pub(crate) fn rsa(&self) -> Option<&RsaKey> {
        match &self.secret {
            Secret::Rsa(key) => Some(key),
            _ => None,
        }
    }
}

/// Returns a SubjectPublicKeyInfo of an algorithm with these parts.
fn public_key_info(algorithm: &[&[u8]], bits: &[u8]) -> Vec<u8> {
    der::sequence(&[&der::sequence(algorithm), &der::bit_string(bits)])
}

fn new_ecdsa(algorithm: &'static EcdsaSigningAlgorithm) -> Option<Secret> {
    let key = EcdsaKeyPair::generate(algorithm);
    key.map(Secret::Ecdsa).ok()
}

fn signature(key: &EcdsaKeyPair, message: &[u8]) -> Option<Vec<u8>> {
    let signature = key.sign(&SystemRandom::new(), message).ok()?;
    Some(signature.as_ref().to_vec())
}

fn new_p192() -> Option<Secret> {
    let mut secret = vec![0; 24];
    aws_lc_rs::rand::fill(&mut secret).ok()?;
    let public = P192.public(&secret)?;
    Some(Secret::EcdsaP192 { secret, public })
}
