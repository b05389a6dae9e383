use std::{borrow::Cow, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Environment, LinkRecord, Origin, ServerCount, Thresholds, WorkerRecord};

/// The description of a run of any kind: its `run.json`. Written before the first measurement, and again at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest<P> {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The kind of run.
    pub kind: Kind,
    /// The version of netbench.
    pub netbench: String,
    /// The name of the run, which is the name of its folder.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; `None` while the run is in progress or after a kill.
    pub finished: Option<String>,
    /// The plan of the run, by which `netbench run` continues it.
    pub plan: P,
    /// The processes that measured and served.
    pub workers: Vec<WorkerRecord>,
    /// The emulated or real path to the sites; `None` if the run has no sites.
    pub link: Option<LinkRecord>,
    /// The machine.
    pub environment: Environment,
    /// The sessions of the run: one, and another for every `netbench run`.
    pub sessions: Vec<Session>,
    /// Warnings for a reader who quotes a figure.
    pub warnings: Vec<String>,
    /// The origin of the run: vantage point, shard, the runs that were merged.
    #[serde(default)]
    pub origin: Origin,
    /// The limits by which the report answers its questions; absent if the user sets none.
    #[serde(default, skip_serializing_if = "Thresholds::are_usual")]
    pub thresholds: Thresholds,
}

impl<P> Manifest<P> {
    /// Returns whether a session has begun to measure. Before that, the plan lacks the facts that only workers know.
    pub fn has_begun(&self) -> bool {
        !self.sessions.is_empty()
    }
}

/// The plan of a run of one kind: the part of a [`Manifest`] that is specific to the kind.
pub trait Plan: Serialize + DeserializeOwned {
    /// The kind.
    const KIND: Kind;

    /// Returns the seed of every random choice of the run; `None` if there is none.
    fn random_seed(&self) -> Option<u64> {
        None
    }
}

/// The kind of a run: `connect`, `suite`, `scan`, `evaluation` …
///
/// A name and not an enum: the command defines the list of kinds, and no other code distinguishes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// Creates the kind with the given name.
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Returns the name of the kind.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_debug())
    }
}

/// One session of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; `None` after a kill.
    pub finished: Option<String>,
    /// The command line.
    pub command: Vec<String>,
    /// Whether the session was ended early, by Ctrl-C or a time limit.
    pub interrupted: bool,
    /// The connections to the lab's servers, as the servers counted them; empty if no server counts.
    #[serde(default)]
    pub served: Vec<ServerCount>,
}

/// One line of a run's raw data, which is appended as soon as it is measured.
pub trait Record: Serialize + DeserializeOwned {
    /// The name of the file in a run's folder.
    const FILE: &'static str = "samples.jsonl";

    /// Returns the [`crate::SCHEMA_VERSION`] of the writer.
    fn schema(&self) -> u32;

    /// Returns a description of figures that no measurement can produce, if the record contains any.
    fn fault(&self) -> Option<&'static str> {
        None
    }
}
