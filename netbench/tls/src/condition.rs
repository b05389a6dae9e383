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
        /// A connector that has visited the site once, resumes its session, and sends its request as early data (RFC 8446
        /// section 2.3).
        EarlyData = "early-data",
    }
);

impl Condition {
    /// Returns the number of connections of one sample.
    pub fn connections(self) -> u32 {
        match self {
            Self::Clean => 1,
            // The first connection gives the session of `Resumed` and `EarlyData`; `Cold` has a second connection in the
            // same process.
            Self::Resumed | Self::EarlyData | Self::Cold => 2,
        }
    }

    /// Returns whether the measured connection resumes the session of an earlier one.
    pub fn resumes(self) -> bool {
        match self {
            Self::Resumed | Self::EarlyData => true,
            Self::Clean | Self::Cold => false,
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
    /// The connection that gives a `resumed` or `early-data` trial its session.
    Prime,
    /// The connection that the trial is about.
    Measured,
    /// The second connection of a `cold` trial's process, made as in `clean`, with which the first is compared.
    Again,
    /// The first connection of another process, in which the stack's set-up was done step by step before.
    Stepped,
}
