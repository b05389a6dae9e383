use std::{collections::BTreeSet, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ClientSettings, CompressionRecord, Condition, ConnectTo, CpuShare, Kind, Manifest, Plan, Site,
    StackName, Sweep, is_default,
};

/// The plan of a run of `connect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectPlan {
    /// The seed of every random choice: the order of trials, the losses on a link.
    pub seed: u64,
    /// The stacks, in the given order. Each is compared with the first.
    pub stacks: Vec<StackName>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Number of rounds.
    pub rounds: u32,
    /// Number of concurrent trials.
    pub jobs: u32,
    /// The CPU quota of each client; `None` if the CPU time was not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<CpuShare>,
    /// The location of the sites.
    pub target: Target,
    /// The sites file as given, `built-in`, or `command line`.
    pub sites_file: String,
    /// SHA-256 of the sites file, in hexadecimal; for URLs, of their lines.
    pub sites_sha256: String,
    /// The sites, in the file's order; in a sweep, each site at every point.
    pub sites: Vec<Site>,
    /// The sweep; `None` if the sites are as their file defines them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// The settings of every client.
    pub client: ClientSettings,
    /// The trust roots.
    pub roots: RootsRecord,
    /// The time limit of one connection, in milliseconds.
    pub timeout_ms: u64,
    /// The pause between two connections to one site, in milliseconds; `None` for the default
    /// ([`Target::usual_pause`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ms: Option<u64>,
    /// Rules that redirect connections to some hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<ConnectTo>,
    /// The request that every site receives.
    #[serde(default, skip_serializing_if = "is_default")]
    pub request: RequestRecord,
    /// The certificate that clients present to servers that request one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// The compression of certificates that is predicted; `None` unless chains are swept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<CompressionRecord>,
    /// The link to emulated sites that the user requested, by its name; `None` if netbench chooses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl ConnectPlan {
    /// Returns the number of sites. A site that is swept counts once, whatever the number of points.
    pub fn site_count(&self) -> u64 {
        let places: BTreeSet<String> = self.sites.iter().map(Site::place).collect();
        places.len() as u64
    }

    /// Returns the time limit of one connection.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// Returns the pause between two connections to one site.
    pub fn pause(&self) -> Duration {
        let given = self.pause_ms.map(Duration::from_millis);
        given.unwrap_or(self.target.usual_pause())
    }
}

impl Plan for ConnectPlan {
    const KIND: Kind = Kind::new("connect");

    fn random_seed(&self) -> Option<u64> {
        Some(self.seed)
    }
}

/// The manifest of a run of `connect`.
pub type ConnectManifest = Manifest<ConnectPlan>;

/// The location of the sites.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Emulated on this machine.
    #[default]
    Lab,
    /// Servers that already listen on this machine.
    Loopback,
    /// The real hosts.
    Live,
}

impl Target {
    /// Returns the location of the sites of two runs: the lab if either run is of the lab.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match self {
            Self::Lab => self,
            Self::Loopback | Self::Live => other,
        }
    }

    /// Returns the default pause between two connections to one site.
    pub fn usual_pause(self) -> Duration {
        match self {
            Self::Lab | Self::Loopback => Duration::ZERO,
            Self::Live => Duration::from_secs(1),
        }
    }
}

/// The request that every site receives. The values of headers are not kept, because they may be secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestRecord {
    /// The method.
    pub method: String,
    /// The names of the headers that were added to the client's own.
    pub headers: Vec<String>,
}

impl Default for RequestRecord {
    fn default() -> Self {
        Self {
            method: "GET".to_owned(),
            headers: Vec::new(),
        }
    }
}

/// A client's certificate. Its key and the path of the key are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientCertificate {
    /// SHA-256 of the file with the certificate and its chain, in hexadecimal.
    pub sha256: String,
    /// Number of certificates in the file.
    pub certificates: u32,
}

/// The trust roots of every client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsRecord {
    /// The source of the roots.
    pub source: RootsSource,
    /// Number of roots, including the lab's root.
    pub count: u32,
    /// SHA-256 of the PEM that the set was read from, in hexadecimal.
    pub sha256: String,
}

/// A source of trust roots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RootsSource {
    /// Mozilla's set as checked in under `trust-roots/`.
    Mozilla,
    /// The roots of the operating system.
    Native,
    /// A PEM file.
    File(String),
}
