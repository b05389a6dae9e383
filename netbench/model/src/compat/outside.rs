use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{StackName, browser::Sandbox, named::words};

words!(
    /// What a client is that is tried from outside.
    OutsideKind, {
        /// A browser.
        Browser = "browser",
        /// The network stack of a browser engine, as whoever embeds it uses it.
        Engine = "engine",
        /// A program that fetches pages.
        Program = "program",
    }
);

/// A client that is tried from outside, beside the stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideClient {
    /// What it is called in the run: `chromium`.
    pub name: StackName,
    /// What it is.
    pub kind: OutsideKind,
    /// What is known of it, or why it cannot be tried here.
    #[serde(flatten)]
    pub found: OutsideFound,
}

/// Whether a client is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "found", rename_all = "lowercase")]
pub enum OutsideFound {
    /// It is.
    Installed {
        /// Its own account of its version.
        version: String,
        /// Its TLS library.
        library: String,
        /// Whether a browser's sandbox is on; none for other programs.
        sandbox: Option<Sandbox>,
    },
    /// It is not, or it cannot be used.
    Missing {
        /// Why, and what to install.
        reason: String,
    },
}
