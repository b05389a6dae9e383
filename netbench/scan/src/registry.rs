//! The registry of `netbench_model::tls`, by code points as they are on the wire.

pub use netbench_model::tls::{
    Authentication, FfdheSize, GroupKind, KeyExchange, Protection as Bulk, TlsVersion as Version,
    is_grease,
};

use netbench_model::tls::{
    Alert, CipherSuite, CipherSuiteFacts, ExtensionType, Group, SignatureScheme,
};

/// A registered cipher suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suite {
    /// The code point.
    pub code: u16,
    /// The registered name.
    pub name: &'static str,
    facts: &'static CipherSuiteFacts,
}

/// The suite of a code point.
pub fn suite(code: u16) -> Option<Suite> {
    let facts = CipherSuite(code).facts()?;
    Some(Suite {
        code,
        name: facts.name,
        facts,
    })
}

/// Every suite, by code point.
pub fn suites() -> impl Iterator<Item = Suite> + Clone {
    CipherSuite::registered().filter_map(|known| suite(known.0))
}

/// The suites that may be negotiated in a version.
pub fn suites_of(version: Version) -> Vec<u16> {
    CipherSuite::of_version(version).map(u16::from).collect()
}

impl Suite {
    /// Whether the suite may be negotiated in `version`.
    pub fn fits(self, version: Version) -> bool {
        self.facts.fits(version)
    }

    /// How keys are agreed.
    pub fn key_exchange(self) -> KeyExchange {
        self.facts.key_exchange
    }

    /// How the server proves who it is.
    pub fn authentication(self) -> Authentication {
        self.facts.authentication
    }

    /// How records are protected.
    pub fn bulk(self) -> Bulk {
        self.facts.protection
    }

    /// Whether the server signs its key exchange, so that a signature scheme is chosen.
    pub fn is_signed(self) -> bool {
        self.facts.is_signed()
    }

    /// Whether a ServerKeyExchange message comes with it.
    pub fn has_server_key_exchange(self) -> bool {
        self.facts.has_server_key_exchange()
    }

    /// Whether security is that of the 1990s.
    pub fn is_broken(self) -> bool {
        self.facts.is_broken
    }
}

/// The suite's name, or its code point in hexadecimal.
pub fn suite_name(code: u16) -> String {
    CipherSuite(code).to_string()
}

/// Every group: code point and kind, by code point.
pub fn groups() -> impl Iterator<Item = (u16, GroupKind)> + Clone {
    Group::registered().filter_map(|group| Some((group.0, group.kind()?)))
}

/// The group's name, or its code point in hexadecimal.
pub fn group_name(code: u16) -> String {
    Group(code).to_string()
}

/// What the group computes with, where it is registered.
pub fn group_kind(code: u16) -> Option<GroupKind> {
    Group(code).kind()
}

/// Every signature scheme, by code point.
pub fn signature_schemes() -> impl Iterator<Item = u16> + Clone {
    SignatureScheme::registered().map(u16::from)
}

/// The scheme's name, or its code point in hexadecimal.
pub fn signature_name(code: u16) -> String {
    SignatureScheme(code).to_string()
}

/// The extension's name, `GREASE`, or its number.
pub fn extension_name(code: u16) -> String {
    ExtensionType(code).shown()
}

/// The alert's name, or its code point in hexadecimal.
pub fn alert_name(code: u8) -> String {
    Alert(code).to_string()
}
