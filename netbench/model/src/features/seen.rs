use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TlsVersion, named::words};

words!(
    /// The scheme of a connection.
    Scheme, {
        /// A connection without TLS.
        Http = "http",
        /// A connection with TLS.
        Https = "https",
    }
);

/// The server's record of a case: the report of the page, and the connections and requests of the browser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebSeen {
    /// The report of the page, if it arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<PageReport>,
    /// The requests, in the order in which they arrived, without that of the report.
    pub requests: Vec<SeenRequest>,
    /// The connections to the hosts of the case.
    pub connections: Vec<SeenConnection>,
}

/// The report of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PageReport {
    /// The values that the page found, by name. A value that is no text is JSON.
    Told(BTreeMap<String, String>),
    /// The reason why the browser lacks the feature.
    Unsupported(String),
    /// The exception that ended the page's script.
    Failed(String),
}

/// A request that arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenRequest {
    /// The number of the request's connection.
    pub connection: u32,
    /// The requested host.
    pub host: String,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The headers on which expectations depend, by their names in small letters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// A connection that arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenConnection {
    /// The number of the connection, unique for the server.
    pub number: u32,
    /// The scheme.
    pub scheme: Scheme,
    /// The requested host: that of the ClientHello, or without TLS that of the first request.
    pub host: String,
    /// The protocols in the ClientHello.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<String>,
    /// The negotiated protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpn: Option<String>,
    /// The version of TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<TlsVersion>,
    /// Whether the handshake resumed a session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumed: bool,
    /// The error that ended the handshake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
