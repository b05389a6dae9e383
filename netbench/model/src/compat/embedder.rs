use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::words;

words!(
    /// The certificate that a network stack reports to its embedder with a page or an error, compared with the
    /// certificate that the server sent on the same connection.
    ToldCertificate, {
        /// The server's certificate.
        Sent = "the server's",
        /// Another certificate.
        Another = "another",
        /// No certificate, though the server sent one.
        Missing = "none",
        /// No certificate, and the server sent none.
        NotSent = "none was sent",
    }
);

/// The information that a network stack gives its embedder besides the success of the page load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedderView {
    /// The certificate of the page, or of the error.
    pub certificate: ToldCertificate,
    /// The SHA-256 digest of that certificate, if present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_sha256: Option<String>,
    /// The outcome of a second load of the page, from a server that allows it to be cached. `None` if the page was not
    /// loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<NextLoad>,
    /// The outcome of a load after the user's decision to proceed. `None` if no certificate needs a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proceeded: Option<NextLoad>,
    /// The outcome of a later load of the same server under its address, for which that certificate is not valid and
    /// which was refused before the decision. `None` if the address was not refused, or if the host is already an
    /// address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<NextLoad>,
}

/// The outcome of a further load in the same process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "load", rename_all = "kebab-case")]
pub enum NextLoad {
    /// The page loaded over a new connection, which the server saw too.
    Connected,
    /// The page loaded from the cache, and the server saw no new connection.
    Cached,
    /// The load was refused.
    Refused {
        /// The word of the network stack.
        library: String,
        /// The message of the network stack.
        detail: String,
    },
    /// The load did not end within the time limit.
    Hang,
    /// Client and server report different results.
    Unclear {
        /// The report of each.
        reason: String,
    },
}
