//! The certificate that a scan shows to servers that ask for one.

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{
        self, ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING,
        ECDSA_P521_SHA512_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair,
        RsaEncoding, RsaKeyPair,
    },
};
use netbench_model::tls::{SignatureScheme as S, TlsVersion};
use x509_parser::pem::Pem;

use crate::codec::certificate_verify;

/// A client's certificate with its key.
#[derive(Debug)]
pub struct ClientIdentity {
    /// The certificates as DER, the client's own first.
    chain: Vec<Vec<u8>>,
    key: Key,
}

/// An error of a certificate or its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClientIdentityError {
    /// There is no certificate.
    #[error("no certificate in it")]
    NoCertificate,
    /// The key is of an unknown kind, or cannot be read.
    #[error("no key that can sign here: expected RSA, ECDSA on P-256, P-384 or P-521, or Ed25519")]
    NoKey,
}

#[derive(Debug)]
enum Key {
    Rsa(RsaKeyPair),
    Ecdsa(u16, EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// ECDSA schemes: each with its curve and its hash.
const ECDSA: [(u16, &EcdsaSigningAlgorithm); 3] = [
    (S::ECDSA_SECP256R1_SHA256.0, &ECDSA_P256_SHA256_ASN1_SIGNING),
    (S::ECDSA_SECP384R1_SHA384.0, &ECDSA_P384_SHA384_ASN1_SIGNING),
    (S::ECDSA_SECP521R1_SHA512.0, &ECDSA_P521_SHA512_ASN1_SIGNING),
];

/// RSA schemes, the best first.
const RSA: [(u16, &dyn RsaEncoding); 4] = [
    (S::RSA_PSS_RSAE_SHA256.0, &signature::RSA_PSS_SHA256),
    (S::RSA_PSS_RSAE_SHA384.0, &signature::RSA_PSS_SHA384),
    (S::RSA_PKCS1_SHA256.0, &signature::RSA_PKCS1_SHA256),
    (S::RSA_PKCS1_SHA384.0, &signature::RSA_PKCS1_SHA384),
];

impl Key {
    fn of_der(label: &str, der: &[u8]) -> Option<Self> {
        match label {
            "RSA PRIVATE KEY" => RsaKeyPair::from_der(der).ok().map(Self::Rsa),
            "EC PRIVATE KEY" => {
                Self::ecdsa(|kind| EcdsaKeyPair::from_private_key_der(kind, der).ok())
            }
            "PRIVATE KEY" => RsaKeyPair::from_pkcs8(der)
                .ok()
                .map(Self::Rsa)
                .or_else(|| Self::ecdsa(|kind| EcdsaKeyPair::from_pkcs8(kind, der).ok()))
                .or_else(|| {
                    let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der);
                    key.ok().map(Self::Ed25519)
                }),
            _ => None,
        }
    }

    /// Returns the key with the first algorithm by which it can be read.
    fn ecdsa(
        read: impl Fn(&'static EcdsaSigningAlgorithm) -> Option<EcdsaKeyPair>,
    ) -> Option<Self> {
        let mut kinds = ECDSA.into_iter();
        kinds.find_map(|(scheme, kind)| Some(Self::Ecdsa(scheme, read(kind)?)))
    }

    /// Signs with a scheme of `asked` that the key supports in this version. Returns the scheme and the signature.
    fn sign(&self, asked: &[u16], version: TlsVersion, data: &[u8]) -> Option<(u16, Vec<u8>)> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                // RSASSA-PKCS1-v1_5 signs no handshake of TLS 1.3 (RFC 8446 section 4.2.3).
                let (scheme, encoding) = RSA.into_iter().find(|(scheme, _)| {
                    asked.contains(scheme) && (version < TlsVersion::Tls13 || *scheme >= 0x0800)
                })?;
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(encoding, &random, data, &mut signature).ok()?;
                Some((scheme, signature))
            }
            Self::Ecdsa(scheme, key) => {
                let signature = asked.contains(scheme).then(|| key.sign(&random, data));
                Some((*scheme, signature?.ok()?.as_ref().to_vec()))
            }
            Self::Ed25519(key) => {
                let signature = asked.contains(&S::ED25519.0).then(|| key.sign(data));
                Some((S::ED25519.0, signature?.as_ref().to_vec()))
            }
        }
    }
}

impl ClientIdentity {
    /// Reads a certificate with its chain, and a key, in PEM.
    ///
    /// # Errors
    /// Returns an error if there is no certificate, or no key that can be used here. That they match is not
    /// checked.
    pub fn of_pem(chain: &str, key: &str) -> Result<Self, ClientIdentityError> {
        let certificates = Pem::iter_from_buffer(chain.as_bytes()).flatten();
        let certificates = certificates.filter(|block| block.label == "CERTIFICATE");
        let chain: Vec<Vec<u8>> = certificates.map(|block| block.contents).collect();
        if chain.is_empty() {
            return Err(ClientIdentityError::NoCertificate);
        }
        let mut keys = Pem::iter_from_buffer(key.as_bytes()).flatten();
        let key = keys.find_map(|block| Key::of_der(&block.label, &block.contents));
        Ok(Self {
            chain,
            key: key.ok_or(ClientIdentityError::NoKey)?,
        })
    }

    /// Returns the certificates as DER, the client's own first.
    pub(crate) fn chain(&self) -> &[Vec<u8>] {
        &self.chain
    }

    /// Returns the CertificateVerify message over `data`, the input that the version signs. Returns `None` if the
    /// server accepts no signature of this key.
    pub(crate) fn verify(
        &self,
        asked: &[u16],
        version: TlsVersion,
        data: &[u8],
    ) -> Option<Vec<u8>> {
        let (scheme, signature) = self.key.sign(asked, version, data)?;
        Some(certificate_verify(scheme, &signature))
    }
}
