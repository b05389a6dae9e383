//! What broke for others who changed the TLS stack of a client, and what netbench says of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::words;

/// What users of a client met, from a public thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Breakage {
    /// The project and the number of its thread.
    pub thread: String,
    /// Where the thread is.
    pub url: String,
    /// What they met.
    pub what: String,
    /// The outcome with the stacks of today.
    #[serde(flatten)]
    pub answer: Prediction,
}

/// Whether netbench predicts a breakage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// A reader of the run sees a loss with the right cause.
    Predicted(Tried),
    /// The case is tried, and nothing breaks with the stacks of today.
    DoesNotBreak(Tried),
    /// The reason why no case predicts it.
    NotPredicted(String),
    /// The reason why the thread was not read, so that its breakage is not known.
    NotRead(String),
}

impl Prediction {
    /// The case, where one is tried.
    pub fn tried(&self) -> Option<&Tried> {
        match self {
            Self::Predicted(tried) | Self::DoesNotBreak(tried) => Some(tried),
            Self::NotPredicted(_) | Self::NotRead(_) => None,
        }
    }
}

/// The case that is tried for a breakage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tried {
    /// The command that tries it.
    pub command: Predicts,
    /// The case's name, the layout's, or for `ship` the stack's.
    pub case: String,
    /// The stack, and for `compat roots` where its roots are from too.
    pub client: String,
    /// What the client does in this case today.
    pub today: String,
    /// The thread's library, where the client has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in_for: Option<String>,
}

words!(
    /// A command that predicts breakages.
    Predicts, {
        /// Of servers.
        Servers = "compat",
        /// Of certificate chains.
        Chains = "compat chains",
        /// Of trust stores.
        Roots = "compat roots",
        /// Of what shipping a stack costs.
        Ship = "ship",
    }
);
