//! Code points and their names: versions, cipher suites, groups, signature schemes, extensions, alerts.

mod groups;
mod names;
mod suites;
mod table;

pub use groups::{FfdheSize, GroupKind, group_kind, group_name, groups};
pub use names::{alert_name, extension_name, is_grease, signature_name, signature_schemes};
pub use suites::{Authentication, Bulk, KeyExchange, Suite, suite, suite_name, suites, suites_of};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A version of the protocol, oldest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Version {
    /// RFC 6101.
    #[serde(rename = "ssl3")]
    Ssl3,
    /// RFC 2246.
    #[serde(rename = "1.0")]
    Tls10,
    /// RFC 4346.
    #[serde(rename = "1.1")]
    Tls11,
    /// RFC 5246.
    #[serde(rename = "1.2")]
    Tls12,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    Tls13,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 5] = [
        Self::Ssl3,
        Self::Tls10,
        Self::Tls11,
        Self::Tls12,
        Self::Tls13,
    ];

    /// As it is on the wire.
    pub fn code(self) -> u16 {
        match self {
            Self::Ssl3 => 0x0300,
            Self::Tls10 => 0x0301,
            Self::Tls11 => 0x0302,
            Self::Tls12 => 0x0303,
            Self::Tls13 => 0x0304,
        }
    }

    /// The version of a code point, where it is one of these.
    pub fn of(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.code() == code)
    }

    /// `ssl3`, `1.0` … `1.3`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ssl3 => "ssl3",
            Self::Tls10 => "1.0",
            Self::Tls11 => "1.1",
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
