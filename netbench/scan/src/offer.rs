//! What a stack offers: read from its own ClientHello, never from a table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    codec::{ClientHello, extension},
    fingerprint::{ja3, ja3_text, ja4},
    registry::{Version, extension_name, group_name, is_grease, signature_name, suite_name},
    result::{NamedCode, clean},
};

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
    pub versions: Vec<Version>,
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

/// Values of the list of suites that are no suites (RFC 5746, RFC 7507).
const SIGNALS: [u16; 2] = [0x00ff, 0x5600];

/// `signature_algorithms_cert` (RFC 8446 section 4.2.3).
const SIGNATURES_CERT: u16 = 50;

impl Offer {
    /// What `stack` offers by this hello of its.
    pub fn of_hello(stack: &str, hello: &ClientHello) -> Self {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let named = |codes: Vec<u16>, name: fn(u16) -> String| -> Vec<NamedCode> {
            let codes = codes.into_iter().filter(|code| !is_grease(*code));
            let named = |code| NamedCode {
                name: name(code),
                code,
            };
            codes.map(named).collect()
        };
        let mut versions: Vec<Version> = hello
            .versions()
            .into_iter()
            .filter_map(Version::of)
            .collect();
        if hello.extension(extension::SUPPORTED_VERSIONS).is_none() {
            // Before TLS 1.3 a hello names the newest, and means the older ones too.
            versions = Version::ALL
                .into_iter()
                .filter(|v| v.code() <= hello.legacy_version && *v != Version::Ssl3)
                .collect();
        }
        versions.sort_unstable_by(|a, b| b.cmp(a));
        let mut suites = hello.suites.clone();
        suites.retain(|code| !SIGNALS.contains(code));
        let certificate_signatures = hello.extension(SIGNATURES_CERT).and_then(|body| {
            crate::codec::Reader::new(crate::codec::Reader::new(body).vec16()?).u16s()
        });
        Self {
            stack: stack.to_owned(),
            wire_bytes: number(hello.wire_bytes),
            message_bytes: number(hello.message_bytes),
            versions,
            suites: named(suites, suite_name),
            groups: named(hello.groups(), group_name),
            shares: hello
                .shares()
                .into_iter()
                .map(|(group, bytes)| ShareOffer {
                    group: if is_grease(group) {
                        "GREASE".to_owned()
                    } else {
                        group_name(group)
                    },
                    bytes: number(bytes),
                })
                .collect(),
            signatures: named(hello.signatures(), signature_name),
            certificate_signatures: certificate_signatures
                .map(|codes| named(codes, signature_name)),
            alpn: hello
                .alpn()
                .iter()
                .map(|name| clean(&String::from_utf8_lossy(name)))
                .collect(),
            extensions: hello
                .extensions
                .iter()
                .map(|(code, body)| ExtensionOffer {
                    name: extension_name(*code),
                    code: *code,
                    bytes: number(body.len()),
                })
                .collect(),
            ja3: ja3(hello),
            ja3_text: ja3_text(hello),
            ja4: ja4(hello),
        }
    }

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
