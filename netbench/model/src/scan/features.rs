use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NamedCode, Order};

/// The presence of a behaviour of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// Observed.
    Yes,
    /// Not present.
    No,
    /// Not probed, or no answer.
    #[default]
    Unknown,
}

impl From<bool> for Observed {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

impl Observed {
    /// Records one more observation: once is enough for the presence of a behaviour.
    pub fn observe(&mut self, is: bool) {
        if is || *self == Self::Unknown {
            *self = is.into();
        }
    }
}

/// The features of a server other than versions, suites, groups and certificates.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Features {
    /// Staples an OCSP response (RFC 6066).
    pub ocsp_stapling: Observed,
    /// Application protocols that the server agrees to, in the order found.
    pub alpn: Vec<String>,
    /// Gives session tickets in TLS 1.2 (RFC 5077).
    pub tickets_tls12: Observed,
    /// Gives session IDs in TLS 1.2.
    pub session_ids: Observed,
    /// Resumes a session of TLS 1.2.
    pub resumption_tls12: Observed,
    /// Number of tickets that the server sends after a handshake of TLS 1.3.
    pub tickets_tls13: Option<u32>,
    /// Resumes a session of TLS 1.3.
    pub resumption_tls13: Observed,
    /// Amount of early data (0-RTT) that the server's tickets allow, in bytes; 0 if not allowed.
    pub early_data_bytes: Option<u32>,
    /// Extended master secret (RFC 7627).
    pub extended_master_secret: Observed,
    /// Encrypt-then-MAC with CBC suites (RFC 7366).
    pub encrypt_then_mac: Observed,
    /// Secure renegotiation (RFC 5746).
    pub secure_renegotiation: Observed,
    /// Lets the client renegotiate.
    pub client_renegotiation: Observed,
    /// Compression of TLS (RFC 3749), which leaks plaintext.
    pub compression: Observed,
    /// Heartbeat (RFC 6520).
    pub heartbeat: Observed,
    /// Refuses an unnecessary fallback (RFC 7507).
    pub fallback_scsv: Observed,
    /// Selects ChaCha20 only for clients that prefer it.
    pub chacha20_by_client: Observed,
    /// Requests a certificate from the client.
    pub client_certificate: Observed,
    /// Ends the handshake of a client without a certificate.
    #[serde(default)]
    pub client_certificate_required: Observed,
    /// TLS 1.3 groups whose key share the server accepts if it is the only share in an offer of all of the server's
    /// groups. For its other groups, the server requests another share. `None` if not probed.
    #[serde(default)]
    pub shares_taken: Option<Vec<NamedCode>>,
    /// The side whose order decides between two key shares that the server accepts: `client` for the client's first share,
    /// `server` for the server's preferred group. `None` if not probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_order: Option<Order>,
    /// Algorithms with which the server compresses its certificates in TLS 1.3 (RFC 8879), in the order in which it selected
    /// them; empty if it sends them uncompressed. `None` if not probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_compression: Option<Vec<CompressionScan>>,
    /// Configurations of Encrypted ClientHello that the server sends to a client whose hello it cannot decrypt (RFC 9849
    /// section 7.1); empty if it sends none. `None` if not probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ech_configs: Option<Vec<EchConfigScan>>,
    /// HTTPS records of the site (RFC 9460), the most preferred first; empty if it has none. `None` if no DNS server was asked
    /// for them, or if it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub https_records: Option<Vec<HttpsRecordScan>>,
    /// The status of the response to `HEAD /`.
    pub http_status: Option<u16>,
    /// The response's `Strict-Transport-Security` (RFC 6797).
    pub strict_transport_security: Option<String>,
    /// The response's `Alt-Svc` (RFC 7838).
    pub alt_svc: Option<String>,
}

/// The compression of a server's certificates with one algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompressionScan {
    /// The name of the algorithm: `zlib`, `brotli`, `zstd`, or its number.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The registered number of the algorithm.
    pub code: u16,
    /// Size of the compressed Certificate message, in bytes.
    pub compressed_bytes: u32,
    /// Size of the Certificate message as the server stated it, in bytes.
    pub bytes: u32,
    /// The reason why the message could not be decompressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// An HTTPS record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HttpsRecordScan {
    /// The name of the target, or `.` for the record's own.
    #[schemars(extend("x-key" = "item"))]
    pub target: String,
    /// The priority; 0 is an alias of another name.
    pub priority: u16,
    /// The protocols of ALPN in addition to HTTP/1.1.
    pub alpn: Vec<String>,
    /// Whether the list of configurations of Encrypted ClientHello can be read; `None` without a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_ech_readable: Option<bool>,
    /// The configurations of Encrypted ClientHello.
    pub ech_configs: Vec<EchConfigScan>,
    /// Whether the server sends the same list to a client whose hello it cannot decrypt; unknown without a list, or if the
    /// server was not asked.
    pub ech_is_the_servers: Observed,
}

/// A configuration of Encrypted ClientHello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EchConfigScan {
    /// The name of the client-facing server, or, if nothing else is known of the configuration, its version, such as
    /// `version 0xfe0a`.
    #[schemars(extend("x-key" = "item"))]
    pub public_name: String,
    /// The version: 65037 for that of RFC 9849.
    pub version: u16,
    /// The KEM (RFC 9180 section 7.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kem: Option<NamedCode>,
}
