use std::net::SocketAddr;

use netbench_tls::{CipherSuite, Group, TlsVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page to load as an embedder of the network stack does: with its cache, and with its data from earlier pages. All
/// of that data is discarded at the next `configure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// The host name or address in the URL, whose path is `/`.
    pub host: String,
    /// The port in the URL.
    pub port: u16,
    /// The address of the host. The address is the same for all pages after a `configure`.
    pub address: SocketAddr,
    /// The certificate of an earlier error, for which the user has decided to proceed: DER in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proceed_base64: Option<String>,
    /// The time limit of the load, in milliseconds.
    pub timeout_ms: u64,
}

/// The outcome of a load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Loaded {
    /// The page was loaded.
    Page {
        /// The status of the response.
        http_status: u16,
        /// Size of the body, in bytes.
        body_bytes: u64,
        /// Whether the response is from the cache, without a request to the server.
        from_cache: bool,
        /// The version.
        version: Option<TlsVersion>,
        /// The suite.
        suite: Option<CipherSuite>,
        /// The group.
        group: Option<Group>,
        /// The application protocol.
        alpn: Option<String>,
        /// The server's certificate, from the page's security details: DER in base64.
        certificate_base64: Option<String>,
    },
    /// The load ended with an error.
    Refused {
        /// The error, in the word of the network stack.
        error: String,
        /// The message of the error.
        detail: String,
        /// The certificate of the error, if any: DER in base64.
        certificate_base64: Option<String>,
    },
    /// The load did not end within the time limit.
    TimedOut,
}
