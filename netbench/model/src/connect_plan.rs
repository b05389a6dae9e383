use std::{collections::BTreeSet, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Alpn, CipherSuite, Condition, ConnectTo, CpuShare, Group, Kind, Manifest, Plan, PointClient,
    SignatureScheme, Site, StackName, Sweep, Switch, TlsVersion,
};

/// What a run of `connect` was to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectPlan {
    /// Everything random comes from it: the order of trials, the losses on a link.
    pub seed: u64,
    /// The stacks, in the order given; the first is what the others are compared with.
    pub stacks: Vec<StackName>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Rounds.
    pub rounds: u32,
    /// Trials at one time.
    pub jobs: u32,
    /// The share of a core's time that each client got; none where it was not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<CpuShare>,
    /// Where the sites are.
    pub target: Target,
    /// The sites file, as given, `built-in`, or `command line`.
    pub sites_file: String,
    /// SHA-256 of the sites file, in hexadecimal; of URLs, of their lines.
    pub sites_sha256: String,
    /// The sites, in the file's order; of a sweep, each at every point.
    pub sites: Vec<Site>,
    /// What is swept; none where the sites are as their file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// What every client is set to.
    pub client: ClientSettings,
    /// The trust roots.
    pub roots: RootsRecord,
    /// The time limit of one connection, in milliseconds.
    pub timeout_ms: u64,
    /// The pause between two connections to one site, in milliseconds; none for the usual one
    /// ([`Target::usual_pause`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ms: Option<u64>,
    /// Where connections to some hosts go instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<ConnectTo>,
    /// What every site is asked.
    #[serde(default, skip_serializing_if = "RequestRecord::is_usual")]
    pub request: RequestRecord,
    /// The certificate that clients show to servers that ask for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
}

impl ConnectPlan {
    /// Returns the number of sites. One that is swept is one site, at however many points.
    pub fn site_count(&self) -> u64 {
        let places: BTreeSet<String> = self.sites.iter().map(Site::place).collect();
        places.len() as u64
    }
}

impl Plan for ConnectPlan {
    const KIND: Kind = Kind::new("connect");
}

/// The manifest of a run of `connect`.
pub type ConnectManifest = Manifest<ConnectPlan>;

/// Where the sites are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Emulated on this machine.
    #[default]
    Lab,
    /// Servers that listen on this machine already.
    Loopback,
    /// The real hosts.
    Live,
}

impl Target {
    /// Where the sites of two runs are: emulated if those of either are.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match self {
            Self::Lab => self,
            Self::Loopback | Self::Live => other,
        }
    }

    /// The pause between two connections to one site, where nobody asks for another.
    pub fn usual_pause(self) -> Duration {
        match self {
            Self::Lab | Self::Loopback => Duration::ZERO,
            Self::Live => Duration::from_secs(1),
        }
    }
}

/// What every site is asked. The values of headers are not kept: they may be secrets.
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

impl RequestRecord {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// A client's certificate. Neither its key nor where that is stored is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientCertificate {
    /// SHA-256 of the file with the certificate and what chains it to a root, in hexadecimal.
    pub sha256: String,
    /// How many certificates are in it.
    pub certificates: u32,
}

/// What a client stack is set to: the same for every stack of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientSettings {
    /// Which of the ways to set up a connector.
    pub profile: Profile,
    /// Versions offered.
    pub versions: Vec<TlsVersion>,
    /// Suites offered, most wanted first.
    pub suites: Vec<CipherSuite>,
    /// Groups offered, most wanted first. A key share goes with the first, and with x25519 too
    /// where the first is a hybrid that contains it.
    pub groups: Vec<Group>,
    /// Signature schemes offered, most wanted first.
    pub signatures: Vec<SignatureScheme>,
    /// Application protocols offered, most wanted first.
    pub alpn: Vec<Alpn>,
}

impl ClientSettings {
    /// What clients offer at a point of a sweep.
    #[must_use]
    pub fn at(&self, own: PointClient) -> Self {
        const HYBRID: Group = Group::X25519MLKEM768;
        let mut settings = self.clone();
        if let Some(hybrid) = own.hybrid {
            settings.groups.retain(|group| *group != HYBRID);
            if hybrid == Switch::On {
                settings.groups.insert(0, HYBRID);
            }
        }
        settings
    }

    /// The groups that a key share goes with.
    pub fn shares(&self) -> Vec<Group> {
        match self.groups.first().copied() {
            Some(Group::X25519MLKEM768) if self.groups.contains(&Group::X25519) => {
                vec![Group::X25519MLKEM768, Group::X25519]
            }
            Some(first) => vec![first],
            None => Vec::new(),
        }
    }
}

/// Which of the ways to set up a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The same versions, suites, groups and signature schemes for every stack.
    Default,
    /// As `default`, and hyper as Servo sets it up: its headers, title case, Nagle's algorithm on.
    Servo,
    /// What each library offers by itself; stacks may then do different work, and pairs that do
    /// are left out of the comparison.
    Library,
}

impl Profile {
    /// The word of `--client-profile`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Servo => "servo",
            Self::Library => "library",
        }
    }
}

/// The trust roots of every client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsRecord {
    /// Where they come from.
    pub source: RootsSource,
    /// How many there are, the lab's own among them.
    pub count: u32,
    /// SHA-256 of the PEM that the set was made from, in hexadecimal.
    pub sha256: String,
}

/// Where trust roots come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RootsSource {
    /// Mozilla's set as checked in under `trust-roots/`.
    Mozilla,
    /// The operating system's.
    Native,
    /// A PEM file.
    File(String),
}
