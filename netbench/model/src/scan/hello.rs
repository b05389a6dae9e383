use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CertificateScan, NamedCode};
use crate::tls::{KeyType, SignatureScheme, TlsVersion};

/// The contents of a stack's ClientHello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The stack.
    #[schemars(extend("x-key" = "first"))]
    pub stack: String,
    /// Size on the wire, including record headers, in bytes.
    pub wire_bytes: u32,
    /// Size of the handshake message, in bytes.
    pub message_bytes: u32,
    /// Versions, newest first, without unknown versions.
    pub versions: Vec<TlsVersion>,
    /// Cipher suites, most preferred first, without signalling values and GREASE.
    pub suites: Vec<NamedCode>,
    /// Groups, most preferred first.
    pub groups: Vec<NamedCode>,
    /// Groups of the key shares, with the size of each.
    pub shares: Vec<ShareOffer>,
    /// Signature schemes for handshakes, most preferred first.
    pub signatures: Vec<NamedCode>,
    /// Signature schemes for certificates, if different (`signature_algorithms_cert`).
    pub certificate_signatures: Option<Vec<NamedCode>>,
    /// Algorithms with which the server may compress its certificates (RFC 8879), most preferred first; empty if there are
    /// none. Absent in the records of older versions of netbench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_compression: Option<Vec<NamedCode>>,
    /// Application protocols, most preferred first.
    pub alpn: Vec<String>,
    /// Extensions, in the order of the hello, including GREASE.
    pub extensions: Vec<ExtensionOffer>,
    /// Whether the client has a certificate for servers that request one. The hello does not contain this fact.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_certificate: bool,
    /// Whether Nagle's algorithm remains on, so that the client's request may wait for an acknowledgement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_nagle: bool,
    /// JA3, in hexadecimal.
    pub ja3: String,
    /// The text whose hash is JA3.
    pub ja3_text: String,
    /// JA4.
    pub ja4: String,
}

/// A key share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareOffer {
    /// The group.
    #[schemars(extend("x-key" = "item"))]
    pub group: String,
    /// Size of the public value, in bytes.
    pub bytes: u32,
}

/// An extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionOffer {
    /// The registered name, `GREASE`, or the number.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The registered number.
    pub code: u16,
    /// Size of the body, in bytes.
    pub bytes: u32,
}

impl Offer {
    /// Returns whether the hello offers the suite.
    pub fn has_suite(&self, code: u16) -> bool {
        self.suites.iter().any(|suite| suite.code == code)
    }

    /// Returns whether the hello offers the group. A hello without the extension offers every group (RFC 8422 section
    /// 4).
    pub fn has_group(&self, code: u16) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|group| group.code == code)
    }

    /// Returns whether the hello offers the scheme for the server's handshake signature. A hello without the extension
    /// offers SHA-1 (RFC 5246 section 7.4.1.4.1).
    pub fn has_signature(&self, code: u16) -> bool {
        if self.signatures.is_empty() {
            return matches!(code, 0x0201..=0x0203);
        }
        self.signatures.iter().any(|scheme| scheme.code == code)
    }

    /// Returns whether the certificate has a signature of ML-DSA, whose scheme the hello does not offer for certificates.
    pub fn lacks_ml_dsa_of(&self, certificate: &CertificateScan) -> bool {
        let mut keys = KeyType::ALL.iter();
        let key = keys.find(|key| key.name() == certificate.signature);
        let schemes = key.map_or(&[][..], |key| key.schemes());
        let offered = self.certificate_signatures.as_ref();
        let offered = offered.unwrap_or(&self.signatures);
        let mut ml_dsa = (schemes.iter()).filter(|scheme| SignatureScheme::ML_DSA.contains(scheme));
        ml_dsa.any(|scheme| !offered.iter().any(|offered| offered.code == scheme.0))
    }
}
