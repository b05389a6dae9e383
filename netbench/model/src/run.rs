use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Alpn, CipherSuite, Condition, Group, Origin, SignatureScheme, Site, StackName, SuiteSession,
    TlsVersion,
};

/// What a run was: `run.json`. Written before the first trial and again at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The version of netbench.
    pub netbench: String,
    /// The run's name: its folder's.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; none while it runs or after a kill.
    pub finished: Option<String>,
    /// What was to be done; `--resume` takes it up.
    pub plan: PlanRecord,
    /// The processes that measured and served.
    pub workers: Vec<WorkerRecord>,
    /// The path between client and sites.
    pub link: LinkRecord,
    /// The machine.
    pub environment: Environment,
    /// The parts in which it was run: one, and one more for every `--resume`.
    pub sessions: Vec<Session>,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
    /// Where the run comes from: vantage point, shard, the runs it was joined of.
    #[serde(default)]
    pub origin: Origin,
}

/// What was to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanRecord {
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
    /// Where the sites are.
    pub target: Target,
    /// The sites file, as given, or `built-in`.
    pub sites_file: String,
    /// SHA-256 of the sites file, in hexadecimal.
    pub sites_sha256: String,
    /// The sites, in the file's order.
    pub sites: Vec<Site>,
    /// What every client is set to.
    pub client: ClientSettings,
    /// The trust roots.
    pub roots: RootsRecord,
    /// The time limit of one connection, in milliseconds.
    pub timeout_ms: u64,
}

/// Where the sites are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Emulated on this machine.
    Lab,
    /// The real hosts.
    Live,
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

/// A worker's own account of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerRecord {
    /// The executable's name.
    pub executable: String,
    /// The stack.
    pub stack: String,
    /// The TLS library and its version, as the library itself reports it.
    pub library: String,
    /// Its cryptography, where that is another library.
    pub provider: Option<String>,
    /// The HTTP connector and its version.
    pub connector: String,
    /// The build: profile, target, compiler.
    pub build: BTreeMap<String, String>,
}

/// The path between client and sites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkRecord {
    /// Which kind was used.
    pub kind: LinkKind,
    /// Why this one.
    pub why: String,
    /// One check for every distinct round-trip time, before the first trial.
    pub checks: Vec<LinkCheck>,
    /// How late the forwarder released packets: nanoseconds at quantiles named `p50`, `p90`, `p99`,
    /// `max`; only a link in user space knows.
    pub lateness_ns: BTreeMap<String, u64>,
    /// Packets forwarded, and packets dropped by loss and by full queues.
    pub packets: BTreeMap<String, u64>,
    /// SHA-256 over the packets with SYN or data that the seed dropped, in the order (site, trial,
    /// connection, direction, packet): two runs that lost the same packets have the same. Bare
    /// acknowledgements are not in it, because how many there are is a matter of timing. Only a
    /// link in user space knows.
    pub losses_sha256: Option<String>,
    /// Kernel settings made in the namespaces.
    pub settings: BTreeMap<String, String>,
}

/// How a link is emulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// In user space, over veth and AF_PACKET or TUN.
    User,
    /// The kernel's netem.
    Netem,
    /// None: loopback.
    None,
    /// The real network.
    Live,
}

/// What an idle TCP connect took, against what was configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCheck {
    /// The round-trip time configured, in nanoseconds.
    pub rtt_ns: u64,
    /// The median TCP connect, in nanoseconds.
    pub connect_ns: u64,
}

/// The machine, as far as it can matter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Named facts: `cpu_model`, `cpu_flags`, `cores`, `memory_bytes`, `governor`, `kernel`,
    /// `aslr`, `os`, and more.
    pub facts: BTreeMap<String, String>,
    /// Environment variables that change what a TLS library or an allocator does.
    pub variables: BTreeMap<String, String>,
}

impl Environment {
    /// What a reader must be told where parts of a run were made in this environment and others in
    /// `later`.
    pub fn changes(&self, later: &Self) -> Vec<String> {
        ["cpu_model", "cores", "kernel", "hostname"]
            .iter()
            .filter(|fact| self.facts.get(**fact) != later.facts.get(**fact))
            .map(|fact| {
                let of = |facts: &BTreeMap<String, String>| {
                    facts.get(*fact).cloned().unwrap_or_default()
                };
                format!(
                    "parts of the run were made on different machines: {fact} was {} and then {}",
                    of(&self.facts),
                    of(&later.facts)
                )
            })
            .collect()
    }
}

/// One part of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; none after a kill.
    pub finished: Option<String>,
    /// The command line.
    pub command: Vec<String>,
    /// Whether it was ended early, by Ctrl-C or a time limit.
    pub interrupted: bool,
    /// The lab's own count of what reached it.
    pub served: Vec<ServerCount>,
}

impl From<SuiteSession> for Session {
    /// Before the lab has counted anything.
    fn from(session: SuiteSession) -> Self {
        Self {
            started: session.started,
            finished: session.finished,
            command: session.command,
            interrupted: session.interrupted,
            served: Vec::new(),
        }
    }
}

/// A lab server's own count for one site, over a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerCount {
    /// The site's name.
    pub site: String,
    /// TCP connections accepted.
    pub accepted: u64,
    /// Handshakes finished.
    pub handshakes: u64,
    /// Of those, resumed.
    pub resumed: u64,
    /// Requests answered.
    pub responses: u64,
}
