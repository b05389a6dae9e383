use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{StackName, browser::Sandbox, named::words};

words!(
    #[derive(Default)]
    /// The kind of a client that is tested from outside.
    OutsideKind, {
        /// A browser.
        #[default]
        Browser = "browser",
        /// The network stack of a browser engine, used as an embedder uses it.
        Engine = "engine",
        /// A program that fetches pages.
        Program = "program",
    }
);

/// A client that is tested from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideClient {
    /// The name of the client in the run: `chromium`.
    #[schemars(extend("x-key" = "first"))]
    pub name: StackName,
    /// The kind of client. Early runs of `browser features` do not record it.
    #[serde(default)]
    pub kind: OutsideKind,
    /// The properties of the client, or the reason why it cannot be tested here.
    #[serde(flatten)]
    pub found: OutsideFound,
}

impl OutsideClient {
    /// Returns the version and the library in a sentence, if the client is installed.
    pub fn described(&self) -> Option<String> {
        match &self.found {
            OutsideFound::Installed {
                version, library, ..
            } => Some(format!("{} is {version} with {library}.", self.name)),
            OutsideFound::Missing { .. } => None,
        }
    }

    /// Returns the warning about a client that was not tested, or that ran without a sandbox.
    pub fn warning(&self) -> Option<String> {
        match &self.found {
            OutsideFound::Missing { reason } => {
                Some(format!("{} was not tried: {reason}", self.name))
            }
            OutsideFound::Installed {
                sandbox: Some(Sandbox::Off),
                ..
            } => Some(format!("{} ran without a sandbox", self.name)),
            OutsideFound::Installed { .. } => None,
        }
    }
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
        /// The settings of a browser other than those needed to control it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        settings: Vec<String>,
    },
    /// The client is not installed or not usable.
    Missing {
        /// The reason, and the packages to install.
        reason: String,
    },
}
