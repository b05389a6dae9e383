use std::fmt;

use netbench_model::tls::{Alert, FfdheSize, TlsVersion};

/// What a hello offers.
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

/// Which key shares a hello has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shares {
    /// None: the server answers with the group that it prefers, and neither side computes anything.
    Empty,
    /// For each of these groups that can be computed here.
    Of(Vec<u16>),
}

impl ProbeHello {
    /// For one version, with no key share.
    pub fn new(version: TlsVersion, suites: &[u16], groups: &[u16]) -> Self {
        Self {
            versions: vec![version],
            suites: suites.to_vec(),
            groups: groups.to_vec(),
            shares: Shares::Empty,
        }
    }
}

/// What a server chose.
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
    /// The groups that the server says it has, in its order, where it says so
    /// (`supported_groups` in EncryptedExtensions, RFC 8446 section 4.2.7).
    pub stated_groups: Option<Vec<u16>>,
}

/// How a server refused a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// With an alert.
    Alert(u8),
    /// By closing.
    Closed,
    /// By a reset.
    Reset,
    /// By not answering in time.
    Silent,
    /// With bytes that are not TLS, or break the protocol.
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

/// How a server answered a hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeAnswer {
    /// With a ServerHello.
    Chose(Choice),
    /// With no ServerHello.
    Refused(Refusal),
}

/// What hellos have beside versions, suites, groups and key shares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dress {
    /// Extensions that they do not have.
    pub without: Vec<u16>,
    /// Which signature schemes they offer.
    pub schemes: Schemes,
    /// The least bytes of the message.
    pub pad_to: usize,
}

/// Which signature schemes a hello offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schemes {
    /// Every one that is registered.
    #[default]
    All,
    /// Those that browsers offer, and SHA-1.
    Common,
}

/// What a hello may not have for a server to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// More suites than these.
    Suites(usize),
    /// More groups than these.
    Groups(usize),
    /// More signature schemes than these.
    Schemes(usize),
    /// More bytes of the handshake message than these.
    Bytes(usize),
    /// This extension.
    Extension(u16),
    /// These suites, whatever else is offered.
    These(Vec<u16>),
    /// This version.
    Version(TlsVersion),
    /// The application protocols that hellos offer.
    Protocols,
}

/// The site can be probed no further: it is gone, or its time is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop;

/// Anything that answers hellos.
pub trait Responder {
    /// The answer to one hello, on a connection of its own.
    ///
    /// # Errors
    /// The enumeration must end: see [`Stop`].
    fn answer(&self, hello: ProbeHello) -> impl Future<Output = Result<ProbeAnswer, Stop>>;

    /// Sets what the next hellos have beside what they offer.
    fn wear(&self, dress: Dress);

    /// Records what the server does not read, and how it refuses it.
    fn cannot_read(&self, limit: Limit, how: Refusal);

    /// Records something unusual, for the report.
    fn note(&self, what: String);
}
