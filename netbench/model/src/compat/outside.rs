use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{StackName, browser::Sandbox, named::words};

words!(
    /// The kind of a client that is tested from outside.
    OutsideKind, {
        /// A browser.
        Browser = "browser",
        /// The network stack of a browser engine, used as an embedder uses it.
        Engine = "engine",
        /// A program that fetches pages.
        Program = "program",
    }
);

/// A client that is tested from outside, in addition to the stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideClient {
    /// The name of the client in the run: `chromium`.
    #[schemars(extend("x-key" = "first"))]
    pub name: StackName,
    /// The kind of client.
    pub kind: OutsideKind,
    /// The properties of the client, or the reason why it cannot be tested here.
    #[serde(flatten)]
    pub found: OutsideFound,
}

/// The availability of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "found", rename_all = "lowercase")]
pub enum OutsideFound {
    /// The client is installed.
    Installed {
        /// The version that the client reports.
        version: String,
        /// The TLS library of the client.
        library: String,
        /// Whether a browser's sandbox is on; `None` for other programs.
        sandbox: Option<Sandbox>,
    },
    /// The client is not installed or not usable.
    Missing {
        /// The reason, and the packages to install.
        reason: String,
    },
}
