//! Breakages that other projects met when they changed the TLS stack of a client, and netbench's prediction of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::words;

/// A breakage that users of a client met, from a public thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Breakage {
    /// The project and the number of its thread.
    pub thread: String,
    /// The address of the thread.
    pub url: String,
    /// The breakage that the users met.
    #[schemars(extend("x-key" = "item"))]
    pub what: String,
    /// The outcome with the stacks of today.
    #[serde(flatten)]
    pub answer: Prediction,
}

/// The prediction of a breakage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// A reader of the run sees a loss with the right cause.
    Predicted(Tried),
    /// The case is tested, and no stack of today breaks.
    DoesNotBreak(Tried),
    /// The reason why no case predicts the breakage.
    NotPredicted(String),
    /// The reason why the thread was not read, so that its breakage is not known.
    NotRead(String),
}

impl Prediction {
    /// Returns the case that is tested, or `None` if the breakage has no case.
    pub fn tried(&self) -> Option<&Tried> {
        match self {
            Self::Predicted(tried) | Self::DoesNotBreak(tried) => Some(tried),
            Self::NotPredicted(_) | Self::NotRead(_) => None,
        }
    }
}

/// The case that is tested for a breakage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tried {
    /// The command that tests the case.
    pub command: Predicts,
    /// The name of the case, of the layout, or for `ship` of the stack.
    pub case: String,
    /// The stack; for `compat roots`, also the source of its roots.
    pub client: String,
    /// The outcome of the client in this case today.
    pub today: String,
    /// The library of the thread, if the client has a different library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in_for: Option<String>,
}

words!(
    /// A command that predicts breakages.
    Predicts, {
        /// Servers.
        Servers = "compat",
        /// Certificate chains.
        Chains = "compat chains",
        /// Trust stores.
        Roots = "compat roots",
        /// The cost of shipping a stack.
        Ship = "ship",
    }
);
