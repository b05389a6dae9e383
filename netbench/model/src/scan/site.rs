use std::{collections::BTreeMap, net::SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ChainScan;
use crate::{
    Record,
    named::words,
    tls::{FfdheSize, TlsVersion},
};

/// The version of this form. It rises when a reader of the old form could misread the new one.
pub const SCAN_SCHEMA_VERSION: u32 = 1;

/// Everything that was found out about one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteScan {
    /// [`SCAN_SCHEMA_VERSION`].
    pub schema: u32,
    /// `host`, or `host:port` where the port is not 443.
    pub site: String,
    /// The host name or address that was scanned.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The address that was connected to; none where the name did not resolve.
    pub address: Option<SocketAddr>,
    /// Every address of the name, in the order in which they were tried, where it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<SocketAddr>,
    /// How the scan of this site ended.
    pub outcome: ScanOutcome,
    /// Versions, the newest first: those that are spoken, and why the others are not.
    pub versions: Vec<VersionScan>,
    /// Signature schemes with which the server signs its key exchange, as it chose them.
    pub signatures: Vec<SignatureScan>,
    /// The chains of certificates that the server sent, as they were first seen.
    pub chains: Vec<ChainScan>,
    /// What the server does beyond that.
    pub features: Features,
    /// Which hellos the server tolerates and which it does not: `grease`, `hello of 4 KiB` …
    pub intolerance: BTreeMap<String, Tolerance>,
    /// What a hello may not have for this server to read it.
    #[serde(default, skip_serializing_if = "HelloLimits::is_empty")]
    pub hello_limits: HelloLimits,
    /// Unusual behaviour, in words.
    pub notes: Vec<String>,
    /// What the scan of this site cost.
    pub effort: Effort,
}

/// How the scan of a site ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ScanOutcome {
    /// All of it was settled.
    Scanned,
    /// Some of it: `why` says what cut it short.
    Partial {
        /// Why.
        why: String,
    },
    /// Nothing: the site does not speak TLS, or not to this client.
    Failed {
        /// The class, for counting.
        class: FailedClass,
        /// More, in words.
        detail: String,
    },
}

words!(
    /// Why a site could not be scanned.
    FailedClass, {
        /// The name has no address.
        Resolve = "resolve",
        /// No port listens there, or the network is unreachable.
        Connect = "connect",
        /// It accepts connections and sends nothing.
        Silent = "silent",
        /// It resets or closes connections instead of answering.
        Reset = "reset",
        /// It answers in plain HTTP.
        PlainHttp = "plain-http",
        /// It answers as SSH.
        Ssh = "ssh",
        /// It sends a greeting in text, as SMTP or FTP do.
        Greeting = "greeting",
        /// It was asked for TLS in plain text, and does not begin it.
        StartTls = "starttls",
        /// It answers in another protocol that is not text, or in one that is not known here.
        NotTls = "not-tls",
        /// It answers in TLS that breaks the protocol.
        Malformed = "malformed",
        /// It speaks TLS and refuses every hello with an alert.
        Refused = "refused",
        /// The scan's own machine failed.
        Local = "local",
    }
);

/// One version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionScan {
    /// Which.
    pub version: TlsVersion,
    /// Whether the server speaks it.
    pub supported: bool,
    /// Why not, where it does not: the alert, or what happened instead.
    pub refusal: Option<String>,
    /// Every suite that it accepts, as it chose them.
    pub suites: Vec<SuiteScan>,
    /// Whose order that is.
    pub suite_order: Order,
    /// Groups, as it chose or stated them; empty for versions older than the newest before TLS 1.3.
    pub groups: Vec<NamedCode>,
    /// Whose order that is.
    pub group_order: Order,
    /// How the groups were learned.
    pub groups_learned: Learned,
    /// Whether the lists are known to be whole.
    pub complete: bool,
}

/// Whose order decides what is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Hash, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The server's; a list is in that order.
    Server,
    /// The client's: the server has no order, and that of a list means nothing.
    Client,
    /// Partly the one and partly the other, such as equal preference within a class.
    Mixed,
    /// There is only one to choose, or none.
    Single,
    /// The stated order of the server; whether it follows it was not tried.
    Stated,
    /// The server answered inconsistently, or too little.
    Unknown,
}

/// How groups were learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// The server chose each of them.
    Chosen,
    /// The server listed them in its EncryptedExtensions, and refuses all others.
    Stated,
}

/// A suite that a server accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteScan {
    /// The registry's name.
    pub name: String,
    /// The registry's number.
    pub code: u16,
    /// The group that the server chose with it when all were offered.
    pub group: Option<String>,
    /// The prime of a finite-field exchange.
    pub dh: Option<FfdheSize>,
}

/// Something of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCode {
    /// The registry's name.
    pub name: String,
    /// The registry's number.
    pub code: u16,
}

/// A signature scheme that the server used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignatureScan {
    /// The version in which it did.
    pub version: TlsVersion,
    /// The scheme's name (RFC 8446 section 4.2.3).
    pub name: String,
    /// Its number.
    pub code: u16,
}

/// Whether a server does something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Not probed, or no answer.
    #[default]
    Unknown,
}

impl From<bool> for Observed {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// What a server does beyond versions, suites, groups and certificates.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Features {
    /// Staples an OCSP response (RFC 6066).
    pub ocsp_stapling: Observed,
    /// Application protocols that it agrees to, in the order found.
    pub alpn: Vec<String>,
    /// Gives session tickets in TLS 1.2 (RFC 5077).
    pub tickets_tls12: Observed,
    /// Gives session IDs in TLS 1.2.
    pub session_ids: Observed,
    /// Resumes a session of TLS 1.2.
    pub resumption_tls12: Observed,
    /// Tickets that it sends after a handshake of TLS 1.3.
    pub tickets_tls13: Option<u32>,
    /// Resumes a session of TLS 1.3.
    pub resumption_tls13: Observed,
    /// Bytes of early data (0-RTT) that its tickets allow; 0 for none.
    pub early_data_bytes: Option<u32>,
    /// Extended master secret (RFC 7627).
    pub extended_master_secret: Observed,
    /// Encrypt-then-MAC with CBC suites (RFC 7366).
    pub encrypt_then_mac: Observed,
    /// Secure renegotiation (RFC 5746).
    pub secure_renegotiation: Observed,
    /// Lets the client renegotiate.
    pub client_renegotiation: Observed,
    /// Compression of TLS (RFC 3749), which leaks.
    pub compression: Observed,
    /// Heartbeat (RFC 6520).
    pub heartbeat: Observed,
    /// Refuses a fallback that was not needed (RFC 7507).
    pub fallback_scsv: Observed,
    /// Chooses ChaCha20 for clients that put it first, and else not.
    pub chacha20_by_client: Observed,
    /// Asks the client for a certificate.
    pub client_certificate: Observed,
    /// Ends the handshake of a client that shows none.
    #[serde(default)]
    pub client_certificate_required: Observed,
    /// Groups of TLS 1.3 that the server takes where it is offered all of its groups and a key share of this one alone. Of
    /// its other groups it asks for a share of another one. None where it was not asked.
    #[serde(default)]
    pub shares_taken: Option<Vec<NamedCode>>,
    /// The status of the response to `HEAD /`.
    pub http_status: Option<u16>,
    /// The response's `Strict-Transport-Security` (RFC 6797).
    pub strict_transport_security: Option<String>,
    /// The response's `Alt-Svc` (RFC 7838).
    pub alt_svc: Option<String>,
}

/// Whether a server tolerates a hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Tolerance {
    /// It answers as without it.
    Tolerant,
    /// It fails.
    Intolerant {
        /// How.
        how: String,
    },
}

/// What a ClientHello may not have, because the server then fails although it would find something in it to agree to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HelloLimits {
    /// The most suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_suites: Option<u32>,
    /// The most groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_groups: Option<u32>,
    /// The most signature schemes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_schemes: Option<u32>,
    /// The most bytes on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u32>,
    /// Extensions that a hello may not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<NamedCode>,
    /// Suites that a hello may not have, whatever else is in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<NamedCode>,
    /// Versions that a hello may not offer, although the server need not choose them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<TlsVersion>,
    /// Application protocols that the server refused together; without any it answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<String>,
}

impl HelloLimits {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a scan cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Effort {
    /// TCP connections, all of them.
    pub connections: u32,
    /// Of these, for versions, suites with their order, and groups.
    pub enumeration_connections: u32,
    /// Connections by what they were for.
    pub by_part: BTreeMap<String, u32>,
    /// Connections that were tried again.
    pub retries: u32,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// From the first connection to the last answer, in milliseconds.
    pub elapsed_ms: u64,
    /// The median of the times that a TCP connection took, in microseconds: about one round trip.
    pub connect_us: Option<u64>,
    /// The shortest of them: the round trip where the scan itself keeps its machine busy.
    pub fastest_connect_us: Option<u64>,
}

impl SiteScan {
    /// The version's entry, if it is spoken.
    pub fn version(&self, version: TlsVersion) -> Option<&VersionScan> {
        self.versions
            .iter()
            .find(|found| found.version == version && found.supported)
    }

    /// Whether the site was scanned, at least in part.
    pub fn is_scanned(&self) -> bool {
        self.outcome.is_scanned()
    }
}

impl ScanOutcome {
    /// Whether the site was scanned, at least in part.
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

/// Of a [`SiteScan`], which site it is of and how it ended: what a run of many sites can hold of all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteOutcome {
    /// [`SCAN_SCHEMA_VERSION`].
    pub schema: u32,
    /// As [`SiteScan::site`].
    pub site: String,
    /// As [`SiteScan::outcome`].
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
