use std::fmt;

use netbench_model::tls::{Alert, FfdheSize, TlsVersion};

/// The offer of a hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeHello {
    /// Versions, newest first.
    pub versions: Vec<TlsVersion>,
    /// Suites, most wanted first.
    pub suites: Vec<u16>,
    /// Groups, most wanted first.
    pub groups: Vec<u16>,
    /// Key shares of TLS 1.3.
    pub shares: Shares,
}

/// The key shares of a hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shares {
    /// No key share: the server responds with the group that it prefers, and neither side computes a key.
    Empty,
    /// A share for each of these groups that can be computed here.
    Of(Vec<u16>),
}

impl ProbeHello {
    /// Returns a hello for one version, without a key share.
    pub fn new(version: TlsVersion, suites: &[u16], groups: &[u16]) -> Self {
        Self {
            versions: vec![version],
            suites: suites.to_vec(),
            groups: groups.to_vec(),
            shares: Shares::Empty,
        }
    }

    /// Returns whether everything that a server chose is offered.
    pub fn offers(&self, choice: &Choice) -> bool {
        let versions = &self.versions;
        versions.iter().any(|v| v.code() == choice.version)
            && self.suites.contains(&choice.suite)
            && choice
                .group
                .is_none_or(|group| self.groups.contains(&group))
    }
}

/// The choice of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The version's code point.
    pub version: u16,
    /// The suite.
    pub suite: u16,
    /// The group.
    pub group: Option<u16>,
    /// The prime of a finite-field exchange.
    pub prime: Option<FfdheSize>,
    /// The groups that the server states, in its order, if it states them (`supported_groups` in
    /// EncryptedExtensions, RFC 8446 section 4.2.7).
    pub stated_groups: Option<Vec<u16>>,
}

/// The way in which a server refused a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// An alert.
    Alert(u8),
    /// The connection was closed.
    Closed,
    /// The connection was reset.
    Reset,
    /// There was no response in time.
    Silent,
    /// The bytes are not TLS, or break the protocol.
    Malformed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alert(code) => f.write_str(&Alert(*code).to_string()),
            Self::Closed => f.write_str("closed"),
            Self::Reset => f.write_str("reset"),
            Self::Silent => f.write_str("silent"),
            Self::Malformed => f.write_str("malformed"),
        }
    }
}

/// A server's response to a hello: the choice of its ServerHello, or the way in which it sent none.
pub type ProbeAnswer = Result<Choice, Refusal>;

/// The parts of hellos other than versions, suites, groups and key shares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dress {
    /// Extensions that the hellos omit.
    pub without: Vec<u16>,
    /// The offered signature schemes.
    pub schemes: Schemes,
    /// The minimum length of the message.
    pub pad_to: usize,
}

/// The signature schemes of a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schemes {
    /// Every registered scheme.
    #[default]
    All,
    /// The schemes that browsers offer, and SHA-1.
    Common,
}

/// A limit of the hellos that a server reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// A larger number of suites.
    Suites(usize),
    /// A larger number of groups.
    Groups(usize),
    /// A larger number of signature schemes.
    Schemes(usize),
    /// A longer handshake message.
    Bytes(usize),
    /// This extension.
    Extension(u16),
    /// These suites, regardless of the rest of the offer.
    These(Vec<u16>),
    /// This version.
    Version(TlsVersion),
    /// The application protocols that hellos offer.
    Protocols,
}

/// The end of a site's scan: the site is gone, or its time is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop;

/// A peer that answers hellos.
pub trait Responder {
    /// Returns the response to one hello, on a separate connection.
    ///
    /// # Errors
    /// Returns an error if the enumeration must end: see [`Stop`].
    fn answer(&self, hello: ProbeHello) -> impl Future<Output = Result<ProbeAnswer, Stop>>;

    /// Sets the dress of the next hellos.
    fn wear(&self, dress: Dress);

    /// Records a part that the server does not read, and the way in which it refuses it.
    fn cannot_read(&self, limit: Limit, how: Refusal);

    /// Records an unusual observation for the report.
    fn note(&self, what: String);
}
