//! The messages between netbench and the server of the pages: JSON over HTTP.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The cases that the server is to serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebSetup {
    /// The cases.
    pub cases: Vec<WebCase>,
}

/// The answer to a [`WebSetup`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebServing {
    /// The root that the browser is to trust, as PEM.
    pub roots_pem: String,
}

/// The pages and files of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCase {
    /// The name of the case.
    pub name: String,
    /// The host of the case, from which its other hosts are derived.
    pub host: String,
    /// The pages and files.
    pub resources: Vec<WebResource>,
}

/// A page or file of a case. The hosts of the case all have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebResource {
    /// The path.
    pub path: String,
    /// The headers of the response beyond the usual ones.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The content.
    #[serde(flatten)]
    pub content: WebContent,
}

/// The content of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebContent {
    /// A page.
    Page {
        /// Elements of the page's head.
        head: String,
        /// The body of the async function that the page calls after it is loaded.
        script: String,
    },
    /// A file.
    File {
        /// The value of `Content-Type`.
        media_type: String,
        /// The body.
        body: String,
    },
}

impl WebCase {
    /// The labels before the host of a case, each the first label of another of its hosts.
    pub const LABELS: [&'static str; 8] = [
        "sub",
        "a",
        "b",
        "h1",
        "no-alpn",
        "expired",
        "wrong-name",
        "untrusted",
    ];

    /// The beginning of the host of a case that belongs to another site.
    pub const OTHER: &'static str = "other-";

    /// Returns the host of the case with this name.
    pub fn host_of(name: &str) -> String {
        let words: Vec<&str> = name.split(['/', '.']).collect();
        format!("{}.test", words.join("-"))
    }

    /// Returns every host of the case.
    pub fn hosts(&self) -> impl Iterator<Item = String> {
        let labels = Self::LABELS.iter();
        let below = labels.map(|label| format!("{label}.{}", self.host));
        let others = [self.host.clone(), format!("{}{}", Self::OTHER, self.host)];
        others.into_iter().chain(below)
    }
}
