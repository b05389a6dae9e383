//! What a scan says of a site: one of these is a line of `scan.jsonl`.
//!
//! Pure data. Every text that came from a server is cut short and without control characters.

use std::{collections::BTreeMap, net::SocketAddr};

use netbench_model::sanitize_prefix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    enumeration::{Learned, Order},
    registry::{FfdheSize, Version},
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
    /// The host name or address that was asked for.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The address that was connected to; none where the name did not resolve.
    pub address: Option<SocketAddr>,
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
    /// What the server cannot bear, and what it bears: `grease`, `long hello` … with how it failed.
    pub intolerance: BTreeMap<String, Tolerance>,
    /// What was strange, in words.
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

/// Why a site could not be scanned.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FailedClass {
    /// The name has no address.
    Resolve,
    /// No port listens there, or the network is unreachable.
    Connect,
    /// It accepts connections and says nothing.
    Silent,
    /// It resets or closes connections instead of answering.
    Reset,
    /// It answers in plain HTTP.
    PlainHttp,
    /// It answers as SSH.
    Ssh,
    /// It greets in text, as SMTP or FTP do.
    Greeting,
    /// It answers with bytes that are of no protocol known here.
    NotTls,
    /// It answers in TLS that breaks the protocol.
    Malformed,
    /// It speaks TLS and refuses every hello with an alert.
    Refused,
    /// The scan's own machine failed.
    Local,
}

impl FailedClass {
    /// The name that JSON has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Silent => "silent",
            Self::Reset => "reset",
            Self::PlainHttp => "plain-http",
            Self::Ssh => "ssh",
            Self::Greeting => "greeting",
            Self::NotTls => "not-tls",
            Self::Malformed => "malformed",
            Self::Refused => "refused",
            Self::Local => "local",
        }
    }
}

/// One version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionScan {
    /// Which.
    pub version: Version,
    /// Whether the server speaks it.
    pub supported: bool,
    /// Why not, where it does not: the alert, or what it did instead.
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
    pub version: Version,
    /// The scheme's name (RFC 8446 section 4.2.3).
    pub name: String,
    /// Its number.
    pub code: u16,
}

/// A chain of certificates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainScan {
    /// Versions in which it was sent.
    pub versions: Vec<Version>,
    /// As they were sent; the first is the server's own.
    pub certificates: Vec<CertificateScan>,
    /// Whether each certificate was issued and signed by the next.
    pub in_order: bool,
    /// Certificates that lead to no place in the chain.
    pub unrelated: u32,
    /// Whether the last one is its own issuer, so that it need not have been sent.
    pub has_root: bool,
    /// How the chain ends: at a root of the list of roots, or in nothing.
    pub anchor: Anchor,
    /// Whether one of the leaf's names is the host's.
    pub names_match: bool,
    /// DER bytes of all certificates.
    pub bytes: u32,
    /// Certificate transparency timestamps: in the leaf, and in a TLS extension.
    pub scts: u32,
}

/// How a chain ends.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// At a root that clients have: by its name, and where it was sent by its bytes.
    Known,
    /// The leaf signs itself.
    SelfSigned,
    /// At a root that clients do not have.
    UnknownRoot,
    /// Its last certificate's issuer was not sent, and is no root: an intermediate is missing.
    Missing,
    /// The list of roots was not given.
    Unchecked,
}

/// One certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CertificateScan {
    /// SHA-256 of the DER, in hexadecimal.
    pub sha256: String,
    /// The subject's name.
    pub subject: String,
    /// The issuer's name.
    pub issuer: String,
    /// The names that it is for.
    pub names: Vec<String>,
    /// The key: `rsa`, `ec`, `ed25519`, `ed448`, `dsa`, or an object identifier.
    pub key: String,
    /// Bits of the key.
    pub key_bits: u32,
    /// The curve, by its registered name.
    pub curve: Option<String>,
    /// The signature's algorithm: `sha256WithRSAEncryption`, or an object identifier.
    pub signature: String,
    /// From when it is valid, in UTC.
    pub not_before: String,
    /// Until when.
    pub not_after: String,
    /// Whether that includes the moment of the scan.
    pub valid_now: bool,
    /// Whether it may sign others.
    pub is_ca: bool,
    /// Timestamps of certificate transparency in it.
    pub scts: u32,
    /// Bytes of DER.
    pub bytes: u32,
}

/// Yes, no, or that the question could not be put, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Not asked, or no answer.
    #[default]
    Unknown,
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// What a server does beyond versions, suites, groups and certificates.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Features {
    /// Staples an OCSP response (RFC 6066).
    pub ocsp_stapling: Answer,
    /// Application protocols that it agrees to, in the order found.
    pub alpn: Vec<String>,
    /// Gives session tickets in TLS 1.2 (RFC 5077).
    pub tickets_tls12: Answer,
    /// Gives session IDs in TLS 1.2.
    pub session_ids: Answer,
    /// Resumes a session of TLS 1.2.
    pub resumption_tls12: Answer,
    /// Tickets that it sends after a handshake of TLS 1.3.
    pub tickets_tls13: Option<u32>,
    /// Resumes a session of TLS 1.3.
    pub resumption_tls13: Answer,
    /// Bytes of early data (0-RTT) that its tickets allow; 0 for none.
    pub early_data_bytes: Option<u32>,
    /// Extended master secret (RFC 7627).
    pub extended_master_secret: Answer,
    /// Encrypt-then-MAC with CBC suites (RFC 7366).
    pub encrypt_then_mac: Answer,
    /// Secure renegotiation (RFC 5746).
    pub secure_renegotiation: Answer,
    /// Lets the client renegotiate.
    pub client_renegotiation: Answer,
    /// Compression of TLS (RFC 3749), which leaks.
    pub compression: Answer,
    /// Heartbeat (RFC 6520).
    pub heartbeat: Answer,
    /// Refuses a fallback that was not needed (RFC 7507).
    pub fallback_scsv: Answer,
    /// Chooses ChaCha20 for clients that put it first, and else not.
    pub chacha20_by_client: Answer,
    /// Asks the client for a certificate.
    pub client_certificate: Answer,
    /// The status of the response to `HEAD /`.
    pub http_status: Option<u16>,
    /// The response's `Strict-Transport-Security` (RFC 6797).
    pub strict_transport_security: Option<String>,
    /// The response's `Alt-Svc` (RFC 7838).
    pub alt_svc: Option<String>,
}

/// Whether a server bears something.
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
    pub fn version(&self, version: Version) -> Option<&VersionScan> {
        self.versions
            .iter()
            .find(|found| found.version == version && found.supported)
    }

    /// Whether the site was scanned, at least in part.
    pub fn is_scanned(&self) -> bool {
        !matches!(self.outcome, ScanOutcome::Failed { .. })
    }
}

/// At most 200 characters of a text that a server sent, safe to show.
pub fn clean(text: &str) -> String {
    sanitize_prefix(text, 200)
}

impl netbench_model::Record for SiteScan {
    const FILE: &'static str = "scan.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }
}
