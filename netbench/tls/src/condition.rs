use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::named;

named!(
    /// The state of the client's stack when a connection begins.
    #[schemars(extend("x-key" = "condition"))]
    Condition, "condition", {
        /// A new connector for each connection, with an empty cache.
        Clean = "clean",
        /// A connector that has visited the site once and resumes its session.
        Resumed = "resumed",
        /// The first connection of a fresh process.
        Cold = "cold",
    }
);

impl Condition {
    /// Returns the number of connections of one sample.
    pub fn connections(self) -> u32 {
        match self {
            Self::Clean => 1,
            // The first connection gives the session of `Resumed`; `Cold` has a second connection in the same process.
            Self::Resumed | Self::Cold => 2,
        }
    }
}

/// The purpose of a connection. Only `measured` connections enter a comparison; all connections are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-key" = "item"))]
pub enum Role {
    /// The first connection of a worker, which pays for the library's set-up.
    Warmup,
    /// The connection that gives a `resumed` trial its session.
    Prime,
    /// The connection that the trial is about.
    Measured,
    /// The second connection of a `cold` trial's process, made as in `clean`, with which the first is compared.
    Again,
    /// The first connection of another process, in which the stack's set-up was done step by step before.
    Stepped,
}
