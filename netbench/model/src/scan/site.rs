use std::{collections::BTreeMap, net::SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChainScan, Features};
use crate::{
    Record,
    named::words,
    tls::{CipherSuite, FfdheSize, Group, SignatureScheme, TlsVersion},
};

/// The version of the format of `scan.jsonl`. The version increases when a reader of the old format could misread the
/// new one.
pub const SCAN_SCHEMA_VERSION: u32 = 1;

/// The results of the scan of one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteScan {
    /// [`SCAN_SCHEMA_VERSION`].
    pub schema: u32,
    /// `host`, or `host:port` if the port is not 443.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The host name or address that was scanned.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The address of the connections; `None` if the name did not resolve.
    pub address: Option<SocketAddr>,
    /// All addresses of the name, in the order of the attempts, if the name has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<SocketAddr>,
    /// The outcome of the scan of this site.
    pub outcome: ScanOutcome,
    /// Versions, the newest first: those that the site supports, and the reasons why it does not support the others.
    pub versions: Vec<VersionScan>,
    /// Signature schemes with which the server signs its key exchange, in the order in which it selected them.
    pub signatures: Vec<SignatureScan>,
    /// The chains of certificates that the server sent, in the order of their first appearance.
    pub chains: Vec<ChainScan>,
    /// The other features of the server.
    pub features: Features,
    /// The server's tolerance of each kind of hello: `grease`, `hello of 4 KiB` …
    pub intolerance: BTreeMap<String, Tolerance>,
    /// The limits of the hellos that this server can read.
    #[serde(default, skip_serializing_if = "HelloLimits::is_empty")]
    pub hello_limits: HelloLimits,
    /// Unusual behaviour, as sentences.
    pub notes: Vec<String>,
    /// The cost of the scan of this site.
    pub effort: Effort,
}

/// The outcome of the scan of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ScanOutcome {
    /// The scan is complete.
    Scanned,
    /// The scan is partial, for the reason `why`.
    Partial {
        /// The reason.
        why: String,
    },
    /// The scan failed: the site does not support TLS, or not with this client.
    Failed {
        /// The class, for counting.
        class: FailedClass,
        /// Details of the failure.
        detail: String,
    },
}

words!(
    /// The reason why a site could not be scanned.
    FailedClass, {
        /// The name has no address.
        Resolve = "resolve",
        /// No server listens on the port, or the network is unreachable.
        Connect = "connect",
        /// The site accepts connections and sends no data.
        Silent = "silent",
        /// The site resets or closes connections instead of answering.
        Reset = "reset",
        /// The site answers in plain HTTP.
        PlainHttp = "plain-http",
        /// The site answers with SSH.
        Ssh = "ssh",
        /// The site sends a greeting in text, as SMTP and FTP servers do.
        Greeting = "greeting",
        /// It was asked for TLS in plain text, and does not begin it.
        StartTls = "starttls",
        /// It answers in another protocol that is not text, or in one that is not known here.
        NotTls = "not-tls",
        /// The site answers with TLS that violates the protocol.
        Malformed = "malformed",
        /// The site supports TLS and refuses every hello with an alert.
        Refused = "refused",
        /// The machine of the scan failed.
        Local = "local",
    }
);

/// The results for one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionScan {
    /// The version.
    #[schemars(extend("x-key" = "condition"))]
    pub version: TlsVersion,
    /// Whether the server supports the version.
    pub supported: bool,
    /// The reason why the server does not support the version: the alert, or another event.
    pub refusal: Option<String>,
    /// Every suite that the server accepts, in the order in which it selected them.
    pub suites: Vec<SuiteScan>,
    /// The side whose order of suites decides.
    pub suite_order: Order,
    /// Groups, in the order in which the server selected or stated them; empty for versions older than the newest
    /// before TLS 1.3.
    pub groups: Vec<NamedCode>,
    /// The side whose order of groups decides.
    pub group_order: Order,
    /// The source of the groups.
    pub groups_learned: Learned,
    /// Whether the lists are known to be complete.
    pub complete: bool,
}

impl VersionScan {
    /// Returns the code points of its suites.
    pub fn suite_codes(&self) -> Vec<u16> {
        self.suites.iter().map(|suite| suite.code).collect()
    }

    /// Returns the code points of its groups.
    pub fn group_codes(&self) -> Vec<u16> {
        self.groups.iter().map(|group| group.code).collect()
    }
}

/// The side whose order of preference decides a selection.
#[derive(Debug, Clone, Copy, PartialEq, Hash, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The server's order decides; a list is in that order.
    Server,
    /// The client's order decides: the server has no order, and the order of a list has no meaning.
    Client,
    /// Both orders decide in part, such as equal preference within a class.
    Mixed,
    /// At most one choice exists.
    Single,
    /// The server stated an order; the scan did not test whether the server follows it.
    Stated,
    /// The server answered inconsistently, or gave too few answers.
    Unknown,
}

/// The source of a server's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// The server selected each group.
    Chosen,
    /// The server listed them in its EncryptedExtensions, and refuses all others.
    Stated,
}

/// A suite that a server accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteScan {
    /// The registered name.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The registered number.
    pub code: u16,
    /// The group that the server selected with the suite when all groups were offered.
    pub group: Option<String>,
    /// The prime of a finite-field exchange.
    pub dh: Option<FfdheSize>,
}

impl SuiteScan {
    /// Returns a suite that a server accepts, without a group or a prime.
    pub fn new(suite: CipherSuite) -> Self {
        Self {
            name: suite.to_string(),
            code: suite.0,
            group: None,
            dh: None,
        }
    }
}

/// An entry of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCode {
    /// The registered name.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The registered number.
    pub code: u16,
}

impl From<Group> for NamedCode {
    fn from(group: Group) -> Self {
        Self::new(group.0, group)
    }
}

impl NamedCode {
    /// Returns a code point with its name.
    pub fn new(code: u16, name: impl ToString) -> Self {
        let name = name.to_string();
        Self { name, code }
    }
}

/// A signature scheme that the server used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignatureScan {
    /// The version in which the server used the scheme.
    pub version: TlsVersion,
    /// The name of the scheme (RFC 8446 section 4.2.3).
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The code point of the scheme.
    pub code: u16,
}

impl SignatureScan {
    /// Returns a scheme that the server used in a version.
    pub fn new(version: TlsVersion, scheme: SignatureScheme) -> Self {
        Self {
            version,
            name: scheme.to_string(),
            code: scheme.0,
        }
    }
}

/// The tolerance of a server for a hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Tolerance {
    /// The server answers as without the change.
    Tolerant,
    /// The server fails.
    Intolerant {
        /// A description of the failure.
        how: String,
    },
}

/// The limits of a ClientHello, beyond which a server fails although the hello includes parameters that it supports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HelloLimits {
    /// Maximum number of suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_suites: Option<u32>,
    /// Maximum number of groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_groups: Option<u32>,
    /// Maximum number of signature schemes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_schemes: Option<u32>,
    /// Maximum size on the wire, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u32>,
    /// Extensions at which the server fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<NamedCode>,
    /// Suites at which the server fails, whatever the rest of the hello.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<NamedCode>,
    /// Versions at which the server fails, although it need not select them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<TlsVersion>,
    /// Application protocols that the server refused together. The server answers a hello without application
    /// protocols.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<String>,
}

impl HelloLimits {
    /// Returns whether the server has no limits.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The cost of a scan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Effort {
    /// Number of all TCP connections.
    pub connections: u32,
    /// Number of connections for versions, suites with their order, and groups.
    pub enumeration_connections: u32,
    /// Number of connections by purpose.
    pub by_part: BTreeMap<String, u32>,
    /// Number of connections that were repeated.
    pub retries: u32,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Time from the first connection to the last answer, in milliseconds.
    pub elapsed_ms: u64,
    /// The median time of a TCP connect, in microseconds: about one round trip.
    pub connect_us: Option<u64>,
    /// The minimum time of a TCP connect, in microseconds: the round trip if the scan itself keeps its machine busy.
    pub fastest_connect_us: Option<u64>,
}

impl SiteScan {
    /// Creates the record of a scan without any findings.
    pub fn new(site: String, host: String, port: u16) -> Self {
        Self {
            schema: SCAN_SCHEMA_VERSION,
            site,
            host,
            port,
            address: None,
            addresses: Vec::new(),
            outcome: ScanOutcome::Scanned,
            versions: Vec::new(),
            signatures: Vec::new(),
            chains: Vec::new(),
            features: Features::default(),
            intolerance: BTreeMap::new(),
            hello_limits: HelloLimits::default(),
            notes: Vec::new(),
            effort: Effort::default(),
        }
    }

    /// Returns the version's entry if the site supports the version.
    pub fn version(&self, version: TlsVersion) -> Option<&VersionScan> {
        self.versions
            .iter()
            .find(|found| found.version == version && found.supported)
    }

    /// Returns whether the site was scanned, at least in part.
    pub fn is_scanned(&self) -> bool {
        self.outcome.is_scanned()
    }
}

impl ScanOutcome {
    /// Returns whether the site was scanned, at least in part.
    pub fn is_scanned(&self) -> bool {
        !matches!(self, Self::Failed { .. })
    }
}

impl Record for SiteScan {
    const FILE: &'static str = "scan.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }
}

/// The site and the outcome of a [`SiteScan`], which fit into memory for a run of many sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteOutcome {
    /// [`SCAN_SCHEMA_VERSION`].
    pub schema: u32,
    /// The same as [`SiteScan::site`].
    pub site: String,
    /// The same as [`SiteScan::outcome`].
    pub outcome: ScanOutcome,
}

impl From<&SiteScan> for SiteOutcome {
    fn from(scan: &SiteScan) -> Self {
        Self {
            schema: scan.schema,
            site: scan.site.clone(),
            outcome: scan.outcome.clone(),
        }
    }
}

impl Record for SiteOutcome {
    const FILE: &'static str = SiteScan::FILE;

    fn schema(&self) -> u32 {
        self.schema
    }
}
