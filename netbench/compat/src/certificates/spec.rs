//! Descriptions of certificates in a case.

use std::{fmt, net::IpAddr};

use netbench_model::tls::one_of;
use serde::Deserialize;

use super::{digest::Digest, key::KeyKind};

/// A certificate. Fields that are not given are those of a usual certificate of the web.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct CertificateSpec {
    /// The certificate whose key signs it; the certificate itself if it is self-signed.
    pub(crate) issuer: Option<String>,
    /// The subject, `CN=…,O=…`; may be empty.
    pub(crate) subject: Option<DirectoryName>,
    /// The certificate whose usual subject it has, in place of `subject`.
    pub(crate) subject_of: Option<String>,
    pub(crate) key: Option<KeyKind>,
    /// The certificate whose key it has.
    pub(crate) key_of: Option<String>,
    pub(crate) digest: Option<Digest>,
    /// The version; 3 by default.
    pub(crate) version: Option<u8>,
    /// The bytes of the serial number, in hexadecimal, without normalization.
    pub(crate) serial: Option<Hex>,
    /// Days from now.
    pub(crate) begins: Option<i32>,
    pub(crate) ends: Option<i32>,
    /// Subject alternative names; if the list is empty, there is no such extension.
    pub(crate) names: Option<Vec<GeneralName>>,
    /// Number of additional invented names.
    pub(crate) more_names: u16,
    pub(crate) ca: Option<bool>,
    pub(crate) path_length: Option<u8>,
    pub(crate) key_usage: Option<Vec<KeyUsage>>,
    /// Extended key usage; if the list is empty, there is no such extension.
    pub(crate) purposes: Option<Vec<Purpose>>,
    pub(crate) permitted: Vec<GeneralName>,
    pub(crate) excluded: Vec<GeneralName>,
    pub(crate) must_staple: bool,
    pub(crate) padding_bytes: u16,
    /// Extensions in addition to those of the description.
    pub(crate) extra: Vec<Extra>,
    /// Extensions of usual certificates of the web that this one lacks.
    pub(crate) without: Vec<KeyIdentifier>,
    /// A SubjectPublicKeyInfo in place of the key's own, for certificates that sign no data.
    pub(crate) public_key: Option<Hex>,
    pub(crate) flaw: Option<Flaw>,
}

macro_rules! kebab_words {
    ($name:ident, $what:literal, { $($variant:ident = $text:literal),+ $(,)? }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        pub(crate) enum $name { $($variant),+ }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $text),+ })
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                one_of($what, &text, &[$(Self::$variant),+])
            }
        }
    };
}

pub(crate) use kebab_words;

kebab_words!(KeyUsage, "key usage", {
    DigitalSignature = "digital-signature",
    KeyEncipherment = "key-encipherment",
    KeyAgreement = "key-agreement",
    CertSign = "cert-sign",
    CrlSign = "crl-sign",
});

kebab_words!(Purpose, "purpose", {
    Server = "server",
    Client = "client",
    CodeSigning = "code-signing",
    Any = "any",
});

kebab_words!(KeyIdentifier, "key identifier", {
    Subject = "subject-key-identifier",
    Authority = "authority-key-identifier",
});

kebab_words!(Flaw, "flaw", {
    BadSignature = "bad-signature",
    UnknownCriticalExtension = "unknown-critical-extension",
    UnknownExtension = "unknown-extension",
    DuplicateExtension = "duplicate-extension",
    ExplicitFalse = "explicit-false",
    TrailingData = "trailing-data",
    GeneralizedTime = "generalized-time",
    AlgorithmsDiffer = "algorithms-differ",
    EmptySerial = "empty-serial",
});

/// Bytes in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Hex(pub(crate) Vec<u8>);

impl TryFrom<String> for Hex {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        hex_bytes(&text)
            .map(Self)
            .ok_or_else(|| format!("{text:?} is not hexadecimal digits, two for each byte"))
    }
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    // The standard library's parser accepts a sign.
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
        .collect()
}

/// An extension that a certificate has in addition to those of its description.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extra {
    pub(crate) oid: Oid,
    /// Whether a client that does not know the extension must refuse.
    #[serde(default)]
    pub(crate) critical: bool,
    /// The content of its OCTET STRING.
    pub(crate) content: Hex,
}

/// An object identifier, such as `2.5.29.32`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Oid(pub(crate) Vec<u32>);

impl TryFrom<String> for Oid {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split('.').map(str::parse).collect() {
            Ok(arcs) => Ok(Self(arcs)),
            Err(_) => Err(format!("{text:?} is not numbers with dots between them")),
        }
    }
}

/// A distinguished name: `CN=a,O=b`, in the order of its encoding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct DirectoryName(pub(crate) Vec<(u32, String)>);

impl TryFrom<String> for DirectoryName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split(',').filter(|part| !part.is_empty());
        parts
            .map(|part| match part.split_once('=') {
                Some(("CN", value)) => Ok((3, value.to_owned())),
                Some(("C", value)) => Ok((6, value.to_owned())),
                Some(("O", value)) => Ok((10, value.to_owned())),
                Some(("OU", value)) => Ok((11, value.to_owned())),
                _ => Err(format!(
                    "{part:?} is no part of a name; expected CN=, O=, OU= or C="
                )),
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// A name in a certificate, or a range of names: `dns:…`, `ip:…`, `ip:…/mask`, `email:…`, `directory:…`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum GeneralName {
    Dns(String),
    Email(String),
    Ip(Vec<u8>),
    Directory(DirectoryName),
}

impl TryFrom<String> for GeneralName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("dns", name)) => Ok(Self::Dns(name.to_owned())),
            Some(("email", name)) => Ok(Self::Email(name.to_owned())),
            Some(("directory", name)) => {
                DirectoryName::try_from(name.to_owned()).map(Self::Directory)
            }
            Some(("ip", name)) => match name.split_once('/') {
                None => address(name).map(Self::Ip),
                Some((network, mask)) => Ok(Self::Ip([address(network)?, address(mask)?].concat())),
            },
            _ => Err(format!(
                "{text:?} is no name; expected dns:, ip:, email: or directory:"
            )),
        }
    }
}

fn address(text: &str) -> Result<Vec<u8>, String> {
    match text.parse() {
        Ok(IpAddr::V4(address)) => Ok(address.octets().to_vec()),
        Ok(IpAddr::V6(address)) => Ok(address.octets().to_vec()),
        Err(_) => Err(format!("{text:?} is not an IP address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_pairs_of_digits_without_a_sign() {
        assert_eq!(hex_bytes("00fF"), Some(vec![0, 255]));
        for wrong in ["0", "+f", "-1", "zz", "\u{e9}"] {
            assert_eq!(hex_bytes(wrong), None, "{wrong}");
        }
    }
}
