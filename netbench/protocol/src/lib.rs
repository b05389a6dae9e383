//! The messages between netbench and a worker: JSON lines on the worker's stdin and stdout.
//!
//! This crate contains only data and must never do I/O. `docs/WORKER-PROTOCOL.md` describes the order of the messages;
//! `netbench/schemas/worker-request.json` and `netbench/schemas/worker-response.json` are generated from these types.
//! Start reading at [`Request`].

mod ech;
mod load;
mod operation;
mod suite;
mod verify;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    net::SocketAddr,
};

use netbench_tls::{
    Alpn, CipherSuite, ClientSettings, Condition, EarlyDataPolicy, Failure, Fault, Group, Held,
    Measured, Role, ServerCount, SignatureScheme, TlsVersion, WorkerRecord,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ech::{Ech, EchKey, EchRejected};
pub use load::{Load, Loaded};
pub use operation::Operation;
pub use suite::{Clocks, Hold, Material, Prepare, Prepared, Slice, SliceLimit, Sliced};
pub use verify::{ChainToVerify, TrustMade, Verified, Verify};

/// The version of the protocol. netbench refuses a worker that answers `describe` with a different version.
pub const PROTOCOL_VERSION: u32 = 1;

/// The response header with the lab server's report on the connection: JSON of [`netbench_tls::ServerView`].
pub const SERVER_VIEW_HEADER: &str = "x-netbench-server";

/// The line that the lab's servers repeat until a response's body has the requested length: readable text, which a
/// compressing middlebox could shrink.
pub const PAGE_LINE: &[u8] =
    b"<p>An emulated site of netbench: text of the length that was asked for.</p>\n";

/// One line to a worker. A worker answers each with one [`Response`] line of the same `id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The identifier, which the sender chooses.
    pub id: u64,
    /// The request itself.
    #[serde(flatten)]
    pub body: RequestBody,
}

/// A request to a worker. A worker answers an unknown request with [`ResponseBody::Error`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum RequestBody {
    /// Describe the worker.
    Describe,
    /// Keep these settings for later `connect` requests.
    Configure(Box<Configure>),
    /// Make one connection and measure it.
    Connect(Box<Connect>),
    /// Listen and serve these sites until stdin closes.
    Serve(Box<Serve>),
    /// Report the number of connections of each site.
    Counts,
    /// Set up a scenario of the in-memory suite and run it once.
    Prepare(Box<Prepare>),
    /// Run the prepared scenario for one turn, with each operation or batch timed separately.
    Slice(Slice),
    /// Make many sessions of the prepared scenario and hold them.
    Hold(Hold),
    /// Verify each of these chains.
    Verify(Verify),
    /// Load a page as an embedder of the network stack does.
    Load(Load),
    /// Send the first flight of the last measured connection with early data again, on another connection.
    Replay(Replay),
}

/// Settings for later connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Configure {
    /// The stack of the worker.
    pub stack: String,
    /// The settings of the client.
    pub client: ClientSettings,
    /// The trust roots, as PEM. Parsed again for every connector, because the parsing is part of its cost.
    pub roots_pem: String,
    /// The client certificate for a server that requests one. Sent only to stacks that list `client-certificate` among
    /// their operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<ClientIdentity>,
    /// Whether the client offers early data (RFC 8446 section 2.3) if a ticket allows it. Sent only to stacks that list
    /// `early-data` among their operations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early_data: bool,
    /// The Encrypted ClientHello of the client. Sent only to stacks that list it among their operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ech: Option<Ech>,
}

impl Configure {
    /// Creates the settings of a client without a certificate, early data and Encrypted ClientHello.
    pub fn new(stack: &str, client: ClientSettings, roots_pem: &str) -> Self {
        Self {
            stack: stack.to_owned(),
            client,
            roots_pem: roots_pem.to_owned(),
            identity: None,
            early_data: false,
            ech: None,
        }
    }
}

/// A client's certificate and its key. The key must not appear in an error message or a log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientIdentity {
    /// The certificate and its chain to a root, the leaf first, as PEM.
    pub chain_pem: String,
    /// The leaf's key, as PEM; encrypted only with a password.
    pub key_pem: String,
    /// The password of the key or the PKCS#12 file. Sent only to stacks that list `client-file` among their operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// A PKCS#12 file in base64 with both; the PEM is empty. Sent only to stacks that list `client-file` among their
    /// operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkcs12_base64: Option<String>,
}

impl ClientIdentity {
    /// Creates an identity from unencrypted PEM, which every worker with client certificates can read.
    pub fn of_pem(chain_pem: impl Into<String>, key_pem: impl Into<String>) -> Self {
        Self {
            chain_pem: chain_pem.into(),
            key_pem: key_pem.into(),
            password: None,
            pkcs12_base64: None,
        }
    }

    /// Returns whether the identity is encrypted or PKCS#12, which not every library can read.
    pub fn is_file(&self) -> bool {
        self.password.is_some() || self.pkcs12_base64.is_some()
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIdentity").finish_non_exhaustive()
    }
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connect {
    /// The host name or address that the certificate is checked against.
    pub host: String,
    /// The port in the URL.
    pub port: u16,
    /// The address to connect to.
    pub address: SocketAddr,
    /// The source of the time for `dns`.
    pub resolve: Resolve,
    /// The required state of the stack.
    pub condition: Condition,
    /// The purpose of the connection.
    pub role: Role,
    /// The time limit of the connection, in milliseconds.
    pub timeout_ms: u64,
    /// The request, if not `GET /`. Sent only to stacks that list `request` among their operations.
    #[serde(default, skip_serializing_if = "HttpRequest::is_usual")]
    pub request: HttpRequest,
}

/// A first flight that is sent again, byte for byte, as by an attacker on the network. The server finishes a handshake only
/// if it accepts the early data again, because the client sends no further message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The address to connect to.
    pub address: SocketAddr,
    /// The time limit, in milliseconds.
    pub timeout_ms: u64,
}

/// An HTTP request without a body.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// The path, including any query.
    pub path: String,
    /// Headers in addition to the client's own, which they replace if the names are equal: name and value.
    pub headers: Vec<(String, String)>,
}

impl Default for HttpRequest {
    fn default() -> Self {
        Self {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
        }
    }
}

impl HttpRequest {
    /// Returns whether every worker can send the request: `GET /` without additional headers.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Debug for HttpRequest {
    /// Formats the request without the values of headers, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("headers", &names)
            .finish()
    }
}

/// The worker's name resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resolve {
    /// The worker uses the given address.
    Given,
    /// The worker queries the system and times the query, but connects to the given address, so that every stack
    /// reaches the same server.
    System,
}

/// Sites to serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Serve {
    /// The stack of the worker.
    pub stack: String,
    /// The sites.
    pub sites: Vec<ServeSite>,
    /// One listener for all sites; `None` for a separate listener per site. A worker that cannot share a listener
    /// listens for each site separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedListener>,
}

/// A listener for many sites. A connection belongs to the site whose [`ServeSite::listen`] has the local address of the
/// connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedListener {
    /// The address of the listener; port 0 means any free port.
    pub listen: SocketAddr,
    /// The network interface of incoming connections, if any. If the listener cannot be bound to it, each site has a
    /// separate listener.
    pub interface: Option<String>,
}

/// A site to serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeSite {
    /// The site's name, for counts.
    pub site: String,
    /// The address of the listener; port 0 means any free port.
    pub listen: SocketAddr,
    /// The chain that the server sends, the leaf first, as PEM.
    pub chain_pem: String,
    /// The leaf's key, PKCS#8 as PEM.
    pub key_pem: String,
    /// Versions.
    pub versions: Vec<TlsVersion>,
    /// Suites accepted, in the server's order of preference; empty for [`CipherSuite::OFFERED`].
    pub suites: Vec<CipherSuite>,
    /// Groups accepted, in the server's order of preference; empty for the stack's default.
    pub groups: Vec<Group>,
    /// Application protocols, in the server's order of preference.
    pub alpn: Vec<Alpn>,
    /// Number of TLS 1.3 tickets after a full handshake; 0 turns resumption off in every version.
    pub tickets: u8,
    /// The treatment of early data; `None` for tickets that do not allow it. Sent only to stacks that list
    /// [`Operation::ServesEarlyData`] among their operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_data: Option<EarlyDataPolicy>,
    /// The root of the certificates that the server requires of its clients, as PEM; `None` for a server that requests none.
    /// Sent only to stacks that list [`Operation::RequiresClientCertificate`] among their operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_root_pem: Option<String>,
    /// The keys of Encrypted ClientHello, whose configurations the server sends to clients that it rejects; empty for a server
    /// without it. Sent only to stacks that list [`Operation::ServesEch`] among their operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ech_keys: Vec<EchKey>,
    /// A DER OCSP response to staple, in base64.
    pub ocsp_base64: Option<String>,
    /// Size of the response's body, in bytes.
    pub body_bytes: u64,
    /// The fault of the server. A fault of the certificate needs no change in the server's behaviour.
    pub fault: Option<Fault>,
    /// TCP congestion control of accepted connections; `None` for the system's default.
    pub congestion: Option<String>,
}

/// One line from a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// The `id` of the request.
    pub id: u64,
    /// The answer.
    #[serde(flatten)]
    pub body: ResponseBody,
}

/// The answer of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ResponseBody {
    /// The answer to `describe`.
    Description(Description),
    /// The answer to `configure`.
    Configured,
    /// The answer to a `connect` that succeeded.
    Connected(Box<Measured>),
    /// The answer to a `connect`, `prepare` or `load` that failed.
    Failed(Failure),
    /// The answer to a `connect` with Encrypted ClientHello that a server rejected whose certificate is that of the public name.
    EchRejected(Box<EchRejected>),
    /// The answer to a `connect`, `prepare`, `verify` or `load` that the stack does not support.
    Unsupported {
        /// The reason.
        reason: String,
    },
    /// The answer to `serve`: the listening sites, and the others with the reasons.
    Serving(Serving),
    /// The answer to a `replay`, after the end of the connection.
    Replayed {
        /// Bytes that the server sent.
        bytes_in: u64,
    },
    /// The answer to `counts`.
    Counted {
        /// One entry for every site.
        sites: Vec<ServerCount>,
    },
    /// The answer to a `prepare` that succeeded.
    Prepared(Box<Prepared>),
    /// The answer to `slice`.
    Sliced(Box<Sliced>),
    /// The answer to `hold`.
    Held(Box<Held>),
    /// The answer to `verify`.
    Verified {
        /// One verdict for every chain, in the order of the chains.
        chains: Vec<Verified>,
        /// The default trust of the stack, if it was used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trust: Option<TrustMade>,
    },
    /// The answer to `load`.
    Loaded(Loaded),
    /// The answer to a request that could not be parsed or executed.
    Error {
        /// The reason.
        message: String,
    },
}

/// A worker's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Description {
    /// [`PROTOCOL_VERSION`] of the worker.
    pub protocol: u32,
    /// The stacks of the worker.
    pub stacks: Vec<StackDescription>,
}

/// One stack of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackDescription {
    /// The record of the stack.
    pub record: WorkerRecord,
    /// The operations that the stack supports.
    pub operations: BTreeSet<Operation>,
    /// The sources of the clients' default roots, by the names of the crates or functions; for `verify`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust_sources: Vec<String>,
    /// Groups that the stack can offer.
    pub groups: Vec<Group>,
    /// Suites that the stack can offer and accept.
    pub suites: Vec<CipherSuite>,
    /// Signature schemes that the stack can offer. By default, the schemes that clients offer by default.
    #[serde(default = "offered_signatures")]
    pub signatures: Vec<SignatureScheme>,
}

impl StackDescription {
    /// Returns whether the stack supports `operation`.
    pub fn does(&self, operation: Operation) -> bool {
        self.operations.contains(&operation)
    }
}

fn offered_signatures() -> Vec<SignatureScheme> {
    SignatureScheme::OFFERED.to_vec()
}

/// The addresses of the listening sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Serving {
    /// The address of each site that could be set up.
    pub listening: BTreeMap<String, SocketAddr>,
    /// The other sites, with the errors.
    pub failed: BTreeMap<String, String>,
    /// The other sites that this server does not support, with the reasons.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unsupported: BTreeMap<String, String>,
}
