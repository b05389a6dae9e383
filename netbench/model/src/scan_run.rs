use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ClientCertificate, ConnectTo, HostName, Kind, Manifest, Plan, Profile, RootsRecord, Site,
    StackName, Target, named::named, scan::Policy,
};

/// What a run of `scan` was to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanPlan {
    /// Where the sites are.
    pub place: Target,
    /// The sites file, as given, `built-in`, or `command line`.
    pub sites_file: String,
    /// The digest of the sites file's bytes, or of the lines of URLs; empty in runs of before it was kept.
    #[serde(default)]
    pub sites_sha256: String,
    /// The sites, in the file's order. Only of the lab's do the profiles mean anything.
    pub sites: Arc<Vec<Site>>,
    /// What was asked for beside versions, suites and groups.
    pub parts: Vec<String>,
    /// Sites scanned at one time.
    pub jobs: u32,
    /// Connections begun in a second at most; none for no limit.
    pub rate: Option<f64>,
    /// The time limit of one connection and of one answer, in milliseconds.
    pub timeout_ms: u64,
    /// The time limit of a site, in milliseconds.
    #[serde(default = "two_minutes_ms")]
    pub site_timeout_ms: u64,
    /// How often a connection that failed is tried again.
    pub retries: u32,
    /// The trust roots that chains were held against.
    pub roots: RootsRecord,
    /// The seed of the link's losses.
    pub seed: u64,
    /// The stacks that are compared by what they can agree on with each site.
    pub against: Vec<StackName>,
    /// How those stacks' connectors are set up.
    pub client_profile: Profile,
    /// How many sites that a stack loses are confirmed by handshakes.
    pub confirm: u32,
    /// How many sites that all stacks reach are tried too.
    #[serde(default = "five")]
    pub confirm_reached: u32,
    /// Whether the report has the population table.
    pub summary: bool,
    /// The name that servers are asked for, where it is not the site's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sni: Option<HostName>,
    /// The policy that sites are held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Of how many sites these were drawn at random; none where they are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_of: Option<u32>,
    /// The certificate that was shown to servers that require one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// Where connections to some hosts go instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<ConnectTo>,
    /// The protocol in which servers were asked for TLS; none where connections began with TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_tls: Option<StartTls>,
}

named!(
    /// A protocol in plain text in which a client can ask for TLS.
    StartTls, "protocol for --starttls", {
        /// SMTP (RFC 3207).
        Smtp = "smtp",
        /// IMAP (RFC 9051).
        Imap = "imap",
        /// POP3 (RFC 2595).
        Pop3 = "pop3",
        /// LDAP (RFC 4511).
        Ldap = "ldap",
        /// PostgreSQL.
        Postgresql = "postgres",
        /// XMPP from a client to a server (RFC 6120).
        Xmpp = "xmpp",
    }
);

/// What it was before it could be chosen.
fn two_minutes_ms() -> u64 {
    120_000
}

/// What it was before it could be chosen.
fn five() -> u32 {
    5
}

impl StartTls {
    /// The port that is registered for the protocol.
    pub fn port(self) -> u16 {
        match self {
            Self::Smtp => 25,
            Self::Imap => 143,
            Self::Pop3 => 110,
            Self::Ldap => 389,
            Self::Postgresql => 5432,
            Self::Xmpp => 5222,
        }
    }
}

impl Plan for ScanPlan {
    const KIND: Kind = Kind::new("scan");
}

/// The manifest of a run of `scan`.
pub type ScanManifest = Manifest<ScanPlan>;
