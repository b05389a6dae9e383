use super::code_point::{UnknownName, code, code_point_schema, read};

/// A version of the protocol, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum TlsVersion {
    /// SSL 3.0, RFC 6101.
    Ssl3 = 0x0300,
    /// TLS 1.0, RFC 2246.
    Tls10 = 0x0301,
    /// TLS 1.1, RFC 4346.
    Tls11 = 0x0302,
    /// TLS 1.2, RFC 5246.
    Tls12 = 0x0303,
    /// TLS 1.3, RFC 8446.
    Tls13 = 0x0304,
}

impl TlsVersion {
    /// Every version, oldest first.
    pub const ALL: [Self; 5] = [
        Self::Ssl3,
        Self::Tls10,
        Self::Tls11,
        Self::Tls12,
        Self::Tls13,
    ];

    /// The versions that every stack supports and that clients offer by default.
    pub const OFFERED: &'static [Self] = &[Self::Tls12, Self::Tls13];

    /// The versions that a site of the lab can have. Those before TLS 1.2 need a server and a client that still have them.
    pub const SERVED: &'static [Self] = &[Self::Tls10, Self::Tls11, Self::Tls12, Self::Tls13];

    /// Returns whether the version is deprecated (RFC 8996): older than TLS 1.2.
    pub fn is_deprecated(self) -> bool {
        self < Self::Tls12
    }

    /// Returns the code point on the wire: `ProtocolVersion` of RFC 8446 section 4.1.2.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// Returns the version of a code point, if known.
    pub fn of(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.code() == code)
    }

    /// Returns the name: `ssl3`, `1.0` … `1.3`.
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

impl std::fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for TlsVersion {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|version| version.name() == text);
        let found = named.or_else(|| Self::of(code(text)?));
        found.ok_or_else(|| UnknownName {
            what: "TLS version",
            text: text.to_owned(),
            example: Self::Tls13.name(),
        })
    }
}

impl serde::Serialize for TlsVersion {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for TlsVersion {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from, "TLS version", |code| {
            u16::try_from(code).ok().and_then(Self::of)
        })
    }
}

code_point_schema!(TlsVersion, "TLS version");
