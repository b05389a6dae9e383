use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Environment, LinkRecord, Origin, Profile, RootsRecord, Site, StackName, SuiteSession,
    WorkerRecord,
};

/// What a `scan` run was: its `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanManifest {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// Always `scan`.
    pub kind: String,
    /// The version of netbench.
    pub netbench: String,
    /// The run's name: its folder's.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; none while it runs or after a kill.
    pub finished: Option<String>,
    /// What was to be done; `--resume` takes it up.
    pub scan: ScanPlanRecord,
    /// The processes that served, gave their hellos, and made handshakes.
    pub workers: Vec<WorkerRecord>,
    /// The emulated path, where the sites are the lab's.
    pub link: Option<LinkRecord>,
    /// The machine.
    pub environment: Environment,
    /// The parts in which it was run.
    pub sessions: Vec<SuiteSession>,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
    /// Vantage point, shard, and the runs it was joined of.
    #[serde(default)]
    pub origin: Origin,
}

/// What was to be scanned, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanPlanRecord {
    /// Where the sites are.
    pub place: ScanPlace,
    /// The sites file, as given, `built-in`, or `command line`.
    pub sites_file: String,
    /// The digest of the sites file's bytes; empty for sites of the command line, and in runs of before
    /// it was kept.
    #[serde(default)]
    pub sites_sha256: String,
    /// The sites, in the file's order. Only of the lab's do the profiles mean anything.
    pub sites: Vec<Site>,
    /// What was asked for beside versions, suites and groups.
    pub parts: Vec<String>,
    /// Sites scanned at one time.
    pub jobs: u32,
    /// Connections begun in a second at most; none for no limit.
    pub rate: Option<f64>,
    /// The time limit of one connection and of one answer, in milliseconds.
    pub timeout_ms: u64,
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
    /// Whether the report has the population table.
    pub summary: bool,
}

/// Where scanned sites are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScanPlace {
    /// Emulated on this machine.
    Lab,
    /// Servers that listen on this machine already.
    Loopback,
    /// The real hosts.
    Live,
}
