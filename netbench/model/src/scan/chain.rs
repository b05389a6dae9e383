use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tls::TlsVersion;

/// A chain of certificates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainScan {
    /// Versions in which the chain was sent.
    pub versions: Vec<TlsVersion>,
    /// The certificates in the order in which they were sent; the first is the leaf.
    pub certificates: Vec<CertificateScan>,
    /// Whether each certificate was issued and signed by the next.
    pub in_order: bool,
    /// Number of certificates that are not part of the chain, without duplicates.
    pub unrelated: u32,
    /// Number of certificates that were sent before in the same chain.
    #[serde(default)]
    pub duplicates: u32,
    /// Whether the last certificate is self-issued, so that the server need not have sent it.
    pub has_root: bool,
    /// The end of the chain.
    pub anchor: Anchor,
    /// The name of the issuer that was not sent and is not a root that clients have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Number of certificates between the leaf and the root whose validity period does not include the time of the scan.
    #[serde(default)]
    pub invalid_issuers: u32,
    /// Whether a name of the leaf matches the host.
    pub names_match: bool,
    /// Size of the DER of all certificates, in bytes.
    pub bytes: u32,
    /// Number of certificate transparency timestamps in the leaf and in a TLS extension.
    pub scts: u32,
}

impl CertificateScan {
    /// Returns the key's kind with its number of bits, where it has one.
    pub fn sized_key(&self) -> String {
        match self.key_bits {
            0 => self.key.clone(),
            bits => format!("{}-{bits}", self.key),
        }
    }

    /// Returns whether the certificate has the host in its subject's common name, and no alternative name.
    pub fn is_for_common_name(&self, host: &str) -> bool {
        let mut parts = self.subject.split(", ").flat_map(|part| part.split(" + "));
        self.names.is_empty()
            && parts.any(|part| {
                let name = part.strip_prefix("CN=");
                name.is_some_and(|name| name.eq_ignore_ascii_case(host))
            })
    }
}

/// The end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// A certificate of the chain was issued by a root that clients have, or is one.
    Known,
    /// The leaf is self-signed.
    SelfSigned,
    /// The chain ends at a root that clients do not have.
    UnknownRoot,
    /// The issuer of the last certificate was not sent, and is not a root that clients have: an intermediate is missing, or
    /// the root is unknown.
    Missing,
    /// The list of roots was not given.
    Unchecked,
}

/// One certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CertificateScan {
    /// SHA-256 of the DER, in hexadecimal.
    pub sha256: String,
    /// The subject's name.
    pub subject: String,
    /// The issuer's name.
    pub issuer: String,
    /// The names of the certificate.
    pub names: Vec<String>,
    /// The key: `rsa`, `ec`, `ed25519`, `ed448`, `dsa`, `mldsa-44`, `mldsa-65`, `mldsa-87`, or an object identifier.
    pub key: String,
    /// Size of the key, in bits; 0 for kinds that have no such size.
    pub key_bits: u32,
    /// The registered name of the curve.
    pub curve: Option<String>,
    /// The signature's algorithm: `sha256WithRSAEncryption`, or an object identifier.
    pub signature: String,
    /// Start of the validity period, in UTC.
    pub not_before: String,
    /// End of the validity period, in UTC.
    pub not_after: String,
    /// Whether the validity period includes the time of the scan.
    pub valid_now: bool,
    /// Whether the certificate may sign others.
    pub is_ca: bool,
    /// Whether the certificate has extended key usages, and server authentication is not among them (RFC 5280 section
    /// 4.2.1.12).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_for_servers: bool,
    /// Number of certificate transparency timestamps in the certificate.
    pub scts: u32,
    /// Size of the DER, in bytes.
    pub bytes: u32,
}
