use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::words;

words!(
    /// The certificate that a network stack tells its embedder with a page or an error, held against the one that the
    /// server sent on the same connection.
    ToldCertificate, {
        /// It is the server's own.
        Sent = "the server's",
        /// It is another one.
        Another = "another",
        /// There is none, though the server sent one.
        Missing = "none",
        /// There is none, and the server sent none.
        NotSent = "none was sent",
    }
);

/// What a network stack tells whoever embeds it, beside whether the page loads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedderView {
    /// The certificate of the page, or of the error.
    pub certificate: ToldCertificate,
    /// The SHA-256 digest of that certificate, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_sha256: Option<String>,
    /// What became of the page when it was loaded once more, from a server that lets it be cached. None for a page
    /// that was not loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<NextLoad>,
    /// What became of the page after the user's decision to proceed. None where there is no certificate to decide
    /// about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proceeded: Option<NextLoad>,
    /// What became afterwards of the same server under its address, for which that certificate is not, and which was
    /// refused before the decision. None where that was not so, or the host is an address already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<NextLoad>,
}

/// What became of a further load in the same process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "load", rename_all = "kebab-case")]
pub enum NextLoad {
    /// The page loaded over a new connection, as the server saw too.
    Connected,
    /// The page loaded from the cache, and the server saw no new connection.
    Cached,
    /// It was refused.
    Refused {
        /// The network stack's own word.
        library: String,
        /// Its own sentence.
        detail: String,
    },
    /// It did not end within the time limit.
    Hang,
    /// Client and server do not tell the same.
    Unclear {
        /// What each tells.
        reason: String,
    },
}
