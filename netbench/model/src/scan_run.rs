use std::{net::SocketAddr, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ClientCertificate, ConnectTo, HostName, Kind, Manifest, Plan, Profile, RootsRecord, Site,
    StackName, Target, named::named, scan::Policy,
};

/// The plan of a run of `scan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanPlan {
    /// The location of the sites.
    pub place: Target,
    /// The sites file as given, `built-in`, or `command line`.
    pub sites_file: String,
    /// SHA-256 of the sites file, or of the lines of URLs; empty in runs from before it was recorded.
    #[serde(default)]
    pub sites_sha256: String,
    /// The sites, in the file's order. Their profiles have a meaning only in the lab.
    pub sites: Arc<Vec<Site>>,
    /// The parts that were requested in addition to versions, suites and groups.
    pub parts: Vec<String>,
    /// Number of sites scanned concurrently.
    pub jobs: u32,
    /// Maximum number of connections started per second; `None` for no limit.
    pub rate: Option<f64>,
    /// The time limit of one connection and of one answer, in milliseconds.
    pub timeout_ms: u64,
    /// The time limit of a site, in milliseconds.
    #[serde(default = "two_minutes_ms")]
    pub site_timeout_ms: u64,
    /// Maximum number of attempts after a failed connection.
    pub retries: u32,
    /// The trust roots for the verification of chains.
    pub roots: RootsRecord,
    /// The seed of the link's losses.
    pub seed: u64,
    /// The stacks that are compared by their predicted agreement with each site.
    pub against: Vec<StackName>,
    /// The profile of those stacks' connectors.
    pub client_profile: Profile,
    /// Number of sites lost by a stack that are confirmed by handshakes.
    pub confirm: u32,
    /// Number of sites reached by all stacks that are tested too.
    #[serde(default = "five")]
    pub confirm_reached: u32,
    /// Whether the report has the population table.
    pub summary: bool,
    /// The name that the scan requests, if not the site's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sni: Option<HostName>,
    /// The policy with which sites are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Size of the list from which the sites were drawn at random; `None` if they are the whole list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_of: Option<u32>,
    /// The certificate for servers that require one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// Rules that redirect connections to some hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<ConnectTo>,
    /// The DNS server that was asked for the HTTPS records of sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<SocketAddr>,
    /// The protocol in which servers were asked for TLS; none where connections began with TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_tls: Option<StartTls>,
    /// The link to emulated sites that the user requested, by its name; `None` if netbench chooses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
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

/// Returns the limit of plans that were stored before the limit could be chosen.
fn two_minutes_ms() -> u64 {
    120_000
}

/// Returns the fixed value of the time before the option existed.
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

    fn random_seed(&self) -> Option<u64> {
        Some(self.seed)
    }
}

/// The manifest of a run of `scan`.
pub type ScanManifest = Manifest<ScanPlan>;
