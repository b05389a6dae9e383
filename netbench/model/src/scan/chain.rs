use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tls::TlsVersion;

/// A chain of certificates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainScan {
    /// Versions in which it was sent.
    pub versions: Vec<TlsVersion>,
    /// As they were sent; the first is the server's own.
    pub certificates: Vec<CertificateScan>,
    /// Whether each certificate was issued and signed by the next.
    pub in_order: bool,
    /// Certificates that lead to no place in the chain.
    pub unrelated: u32,
    /// Whether the last one is its own issuer, so that it need not have been sent.
    pub has_root: bool,
    /// How the chain ends: at a root of the list of roots, or in nothing.
    pub anchor: Anchor,
    /// Whether one of the leaf's names is the host's.
    pub names_match: bool,
    /// DER bytes of all certificates.
    pub bytes: u32,
    /// Certificate transparency timestamps: in the leaf, and in a TLS extension.
    pub scts: u32,
}

impl CertificateScan {
    /// Whether it has a host in its subject's common name, and no alternative name at all.
    pub fn is_for_common_name(&self, host: &str) -> bool {
        let mut parts = self.subject.split(", ").flat_map(|part| part.split(" + "));
        self.names.is_empty()
            && parts.any(|part| {
                let name = part.strip_prefix("CN=");
                name.is_some_and(|name| name.eq_ignore_ascii_case(host))
            })
    }
}

/// How a chain ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// At a root that clients have: by its name, and where it was sent by its bytes.
    Known,
    /// The leaf signs itself.
    SelfSigned,
    /// At a root that clients do not have.
    UnknownRoot,
    /// Its last certificate's issuer was not sent, and is no root: an intermediate is missing.
    Missing,
    /// The list of roots was not given.
    Unchecked,
}

/// One certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CertificateScan {
    /// SHA-256 of the DER, in hexadecimal.
    pub sha256: String,
    /// The subject's name.
    pub subject: String,
    /// The issuer's name.
    pub issuer: String,
    /// The names that it is for.
    pub names: Vec<String>,
    /// The key: `rsa`, `ec`, `ed25519`, `ed448`, `dsa`, or an object identifier.
    pub key: String,
    /// Bits of the key.
    pub key_bits: u32,
    /// The curve, by its registered name.
    pub curve: Option<String>,
    /// The signature's algorithm: `sha256WithRSAEncryption`, or an object identifier.
    pub signature: String,
    /// From when it is valid, in UTC.
    pub not_before: String,
    /// Until when.
    pub not_after: String,
    /// Whether that includes the moment of the scan.
    pub valid_now: bool,
    /// Whether it may sign others.
    pub is_ca: bool,
    /// Timestamps of certificate transparency in it.
    pub scts: u32,
    /// Bytes of DER.
    pub bytes: u32,
}
