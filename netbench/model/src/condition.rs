use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In what state the client's stack is when a connection begins.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// A new connector for each connection, nothing cached.
    Clean,
    /// A connector that has visited the site once and resumes its session.
    Resumed,
    /// The first connection of a fresh process.
    Cold,
}

impl Condition {
    /// Every condition, in the order in which reports show them.
    pub const ALL: [Self; 3] = [Self::Clean, Self::Resumed, Self::Cold];

    /// The name used in JSON, options and case names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Resumed => "resumed",
            Self::Cold => "cold",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|c| c.name() == text)
            .ok_or_else(|| format!("unknown condition {text:?}; expected clean, resumed or cold"))
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
}
