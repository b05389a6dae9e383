use std::{borrow::Cow, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Environment, LinkRecord, Origin, WorkerRecord};

/// What a run was: its `run.json`, whatever its kind. Written before anything is measured, and again at
/// the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest<P> {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// What the run is of.
    pub kind: Kind,
    /// The version of netbench.
    pub netbench: String,
    /// The run's name: its folder's.
    pub name: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339, UTC; none while it runs or after a kill.
    pub finished: Option<String>,
    /// What was to be done; `--resume` continues it.
    pub plan: P,
    /// The processes that measured and served.
    pub workers: Vec<WorkerRecord>,
    /// The emulated path to the sites, or the real one; none where there are no sites.
    pub link: Option<LinkRecord>,
    /// The machine.
    pub environment: Environment,
    /// The sessions in which it was run: one, and one more for every `--resume`.
    pub sessions: Vec<Session>,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
    /// Where the run comes from: vantage point, shard, the runs it was merged from.
    #[serde(default)]
    pub origin: Origin,
}

/// What a run of one kind was to do: the part of a [`Manifest`] that is the kind's own.
pub trait Plan: Serialize + DeserializeOwned {
    /// The kind.
    const KIND: Kind;
}

/// What a run is of: `connect`, `suite`, `scan`, `evaluation` …
///
/// A name and not an enum: the list of kinds is the command's, and nothing else tells kinds apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// The kind of this name.
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Its name.
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
    /// End, RFC 3339, UTC; none after a kill.
    pub finished: Option<String>,
    /// The command line.
    pub command: Vec<String>,
    /// Whether it was ended early, by Ctrl-C or a time limit.
    pub interrupted: bool,
    /// What reached the lab's servers, by their own count; empty where no server counts.
    #[serde(default)]
    pub served: Vec<ServerCount>,
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

/// One line of a run's raw data, which are appended as they come.
pub trait Record: Serialize + DeserializeOwned {
    /// The file of a run's folder that has them.
    const FILE: &'static str;

    /// [`crate::SCHEMA_VERSION`] of its writer.
    fn schema(&self) -> u32;

    /// Figures that no measurement can have given.
    fn fault(&self) -> Option<&'static str> {
        None
    }
}
