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
    /// What netbench says of it.
    #[serde(flatten)]
    pub answer: Foretelling,
}

/// Whether netbench foretells a breakage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Foretelling {
    /// By this case.
    Foretold(Foretold),
    /// Why not.
    NotForetold(String),
}

/// The case that foretells a breakage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Foretold {
    /// The command that tries it.
    pub command: Foretells,
    /// The case's name, the layout's, or for `ship` the stack's.
    pub case: String,
    /// The stack, and for `compat roots` where its roots are from too.
    pub client: String,
    /// What the client does in this case today.
    pub today: String,
}

words!(
    /// A command that foretells breakages.
    Foretells, {
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
