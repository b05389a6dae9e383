use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

named!(
    /// In what state the client's stack is when a connection begins.
    Condition, "condition", {
        /// A new connector for each connection, nothing cached.
        Clean = "clean",
        /// A connector that has visited the site once and resumes its session.
        Resumed = "resumed",
        /// The first connection of a fresh process.
        Cold = "cold",
    }
);

impl Condition {
    /// How many connections one sample takes.
    pub fn connections(self) -> u32 {
        match self {
            Self::Clean => 1,
            // The one that gives the session; the second of the process.
            Self::Resumed | Self::Cold => 2,
        }
    }
}

/// What a connection is for: only `measured` ones enter a comparison, all are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The first connection of a worker, which pays for the library's set-up.
    Warmup,
    /// The connection that gives a `resumed` trial its session.
    Prime,
    /// The connection that the trial is about.
    Measured,
    /// The second connection of a `cold` trial's process, as in `clean`: what the first is compared with.
    Again,
    /// The first connection of another process, in which the stack's set-up was done step by step before.
    Stepped,
}
