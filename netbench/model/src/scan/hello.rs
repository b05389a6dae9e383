use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NamedCode;
use crate::tls::TlsVersion;

/// A stack's ClientHello, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The stack.
    pub stack: String,
    /// Bytes on the wire, record headers included.
    pub wire_bytes: u32,
    /// Bytes of the handshake message.
    pub message_bytes: u32,
    /// Versions, newest first; those that are not known here are left out.
    pub versions: Vec<TlsVersion>,
    /// Cipher suites, most wanted first, without signalling values and GREASE.
    pub suites: Vec<NamedCode>,
    /// Groups, most wanted first.
    pub groups: Vec<NamedCode>,
    /// Groups of the key shares, with the bytes of each.
    pub shares: Vec<ShareOffer>,
    /// Signature schemes for handshakes, most wanted first.
    pub signatures: Vec<NamedCode>,
    /// Signature schemes for certificates, where they are others (`signature_algorithms_cert`).
    pub certificate_signatures: Option<Vec<NamedCode>>,
    /// Application protocols, most wanted first.
    pub alpn: Vec<String>,
    /// Extensions, in the order of the hello, GREASE included.
    pub extensions: Vec<ExtensionOffer>,
    /// Whether the client has a certificate to show to servers that ask for one. The hello does not say it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_certificate: bool,
    /// Whether the client leaves Nagle's algorithm on, so that its request may wait for an acknowledgement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_nagle: bool,
    /// JA3, in hexadecimal.
    pub ja3: String,
    /// The text that JA3 is the hash of.
    pub ja3_text: String,
    /// JA4.
    pub ja4: String,
}

/// A key share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareOffer {
    /// The group.
    pub group: String,
    /// Bytes of the public value.
    pub bytes: u32,
}

/// An extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionOffer {
    /// The registry's name, `GREASE`, or the number.
    pub name: String,
    /// The registry's number.
    pub code: u16,
    /// Bytes of its body.
    pub bytes: u32,
}

impl Offer {
    /// Whether it offers the suite.
    pub fn has_suite(&self, code: u16) -> bool {
        self.suites.iter().any(|suite| suite.code == code)
    }

    /// Whether it offers the group. A hello without the extension offers every one (RFC 8422
    /// section 4).
    pub fn has_group(&self, code: u16) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|group| group.code == code)
    }

    /// Whether it offers the scheme for the server's handshake signature. A hello without the
    /// extension means SHA-1 (RFC 5246 section 7.4.1.4.1).
    pub fn has_signature(&self, code: u16) -> bool {
        if self.signatures.is_empty() {
            return matches!(code, 0x0201..=0x0203);
        }
        self.signatures.iter().any(|scheme| scheme.code == code)
    }
}
