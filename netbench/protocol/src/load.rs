use std::net::SocketAddr;

use netbench_model::{CipherSuite, Group, TlsVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page to load, as whoever embeds the network stack does: with its cache, and with what it keeps of earlier pages.
/// All of that lasts from one `configure` to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// The host name or address in the URL, whose path is `/`.
    pub host: String,
    /// The port in the URL.
    pub port: u16,
    /// The address that the name leads to. It is the same for all pages after a `configure`.
    pub address: SocketAddr,
    /// The certificate of an earlier error, for which the user has decided to proceed: DER in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proceed_base64: Option<String>,
    /// The time limit for all of it, in milliseconds.
    pub timeout_ms: u64,
}

/// What became of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Loaded {
    /// It is there.
    Page {
        /// The status of the response.
        http_status: u16,
        /// Bytes of the body.
        body_bytes: u64,
        /// Whether the response is from the cache, without asking the server.
        from_cache: bool,
        /// The version.
        version: Option<TlsVersion>,
        /// The suite.
        suite: Option<CipherSuite>,
        /// The group.
        group: Option<Group>,
        /// The application protocol.
        alpn: Option<String>,
        /// The server's certificate, as the page's security details have it: DER in base64.
        certificate_base64: Option<String>,
    },
    /// There is an error instead.
    Refused {
        /// Which, in the network stack's own word.
        error: String,
        /// What it says.
        detail: String,
        /// The certificate that the error has, if any: DER in base64.
        certificate_base64: Option<String>,
    },
    /// Neither within the time limit.
    TimedOut,
}
