use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Scheme, Times};
use crate::named::words;

words!(
    /// The consequence of another outcome than the expected one.
    Guards, {
        /// A page does not work.
        Function = "function",
        /// A user or a server is less protected.
        Protection = "protection",
        /// A page works, and takes longer.
        Speed = "speed",
    }
);

/// A page, and its correct outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeatureCase {
    /// The name of the case: `fetch/post`. Its first part is the group.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// A description of the page.
    pub about: String,
    /// The section of the standard that requires the outcome.
    pub standard: String,
    /// The address of that section.
    pub url: String,
    /// The web platform tests of the same behaviour, by their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// The reason for the expectation.
    pub why: String,
    /// The consequence of another outcome.
    pub guards: Guards,
    /// The address that the browser opens.
    pub start: String,
    /// The address that the browser opens after it has loaded the first one, and was closed and started again with
    /// its profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
    /// The values that the page is to report. Other values in its report are not judged.
    pub told: BTreeMap<String, String>,
    /// The names of values in the report that the standard leaves open, and that the report of a run shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<String>,
    /// The requests that the server is to see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<ExpectedRequests>,
    /// The connections that the server is to see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ExpectedConnections>,
}

impl FeatureCase {
    /// Returns the group of the case.
    pub fn group(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

/// The expected number of requests with some properties. A property that is absent may have any value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRequests {
    /// The number of such requests.
    pub times: Times,
    /// The path.
    pub path: String,
    /// The host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The scheme of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<Scheme>,
    /// The method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Headers with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Headers that the request does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// The expected number of connections with TLS to a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedConnections {
    /// The host.
    pub host: String,
    /// The number of connections with a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Times>,
    /// The number of those that resumed a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Times>,
}
