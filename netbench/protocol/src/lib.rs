//! The messages between netbench and a worker: JSON lines on the worker's stdin and stdout.
//!
//! Pure data: this crate must never do I/O. `docs/WORKER-PROTOCOL.md` says in which order messages
//! go; `netbench/schemas/worker-request.json` and `netbench/schemas/worker-response.json` are made from these types.
//! Start reading at [`Request`].

mod load;
mod suite;
mod verify;

use std::{collections::BTreeMap, fmt, net::SocketAddr};

use netbench_model::{
    Alpn, CipherSuite, ClientSettings, Condition, Failure, Fault, Group, Held, Measured, Role,
    ServerCount, SignatureScheme, TlsVersion, WorkerRecord,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use load::{Load, Loaded};
pub use suite::{Clocks, Hold, Material, Prepare, Prepared, Slice, SliceLimit, Sliced};
pub use verify::{ChainToVerify, TrustMade, Verified, Verify};

/// The version of the protocol. A worker that answers `describe` with another one is refused.
pub const PROTOCOL_VERSION: u32 = 1;

/// The response header in which the lab's servers say what they saw: JSON of
/// [`netbench_model::ServerView`].
pub const SERVER_VIEW_HEADER: &str = "x-netbench-server";

/// Among a stack's operations: its library does not report when it verifies, so that `verify_ns` may be null.
pub const VERIFICATION_UNTIMED: &str = "verification-untimed";

/// Among a stack's operations: sessions are also held after tickets and after data ([`netbench_model::HeldAfter`]).
pub const HELD_AFTER: &str = "held-after";

/// What the lab's servers repeat until a response's body has the bytes that it is to have: text that a compressing
/// middlebox could shrink and that says what it is.
pub const PAGE_LINE: &[u8] =
    b"<p>An emulated site of netbench: text of the length that was asked for.</p>\n";

/// One line to a worker. A worker answers each with one [`Response`] line of the same `id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Chosen by the sender.
    pub id: u64,
    /// What is asked for.
    #[serde(flatten)]
    pub body: RequestBody,
}

/// What a worker can be asked for. A worker answers one that it does not know with
/// [`ResponseBody::Error`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum RequestBody {
    /// Say what you are.
    Describe,
    /// Keep these settings for the `connect` requests that follow.
    Configure(Box<Configure>),
    /// Make one connection and measure it.
    Connect(Box<Connect>),
    /// Listen and serve these sites until stdin closes.
    Serve(Box<Serve>),
    /// Say how many connections each site has seen.
    Counts,
    /// Set a scenario of the in-memory suite up and run it once.
    Prepare(Box<Prepare>),
    /// Run the prepared scenario for a while, each operation timed on its own.
    Slice(Slice),
    /// Make many sessions of the prepared scenario and hold them.
    Hold(Hold),
    /// Say of each of these chains whether it is good.
    Verify(Verify),
    /// Load a page as whoever embeds the network stack does.
    Load(Load),
}

/// Settings for the connections that follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Configure {
    /// Which of the worker's stacks.
    pub stack: String,
    /// What the client offers.
    pub client: ClientSettings,
    /// The trust roots, as PEM. Parsed anew for every connector: that is part of its cost.
    pub roots_pem: String,
    /// What the client shows to a server that asks for a certificate. Given only to stacks with
    /// `client-certificate` among their operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<ClientIdentity>,
    /// Whether the client offers early data (RFC 8446 section 2.3) where a ticket allows it. Asked only of stacks with
    /// `early-data` among their operations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early_data: bool,
}

/// A client's certificate and its key. The key is in no message of an error and in no log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientIdentity {
    /// The certificate and what chains it to a root, the leaf first, as PEM.
    pub chain_pem: String,
    /// The leaf's key, as PEM; encrypted only where there is a password.
    pub key_pem: String,
    /// What the key or the PKCS#12 file is encrypted with. Given only to stacks with `client-file` among their
    /// operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// A PKCS#12 file in base64 that has both; the PEM is empty. Given only to stacks with `client-file` among their
    /// operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pkcs12_base64: Option<String>,
}

impl ClientIdentity {
    /// Of PEM that is not encrypted, which every worker that shows certificates can read.
    pub fn of_pem(chain_pem: impl Into<String>, key_pem: impl Into<String>) -> Self {
        Self {
            chain_pem: chain_pem.into(),
            key_pem: key_pem.into(),
            password: None,
            pkcs12_base64: None,
        }
    }

    /// Whether it is encrypted or PKCS#12: not every library reads these.
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
    /// Where the time for `dns` comes from.
    pub resolve: Resolve,
    /// The state the stack is to be in.
    pub condition: Condition,
    /// What the connection is for.
    pub role: Role,
    /// The time limit for all of it, in milliseconds.
    pub timeout_ms: u64,
    /// What is asked for on it, where that is not `GET /`. Given only to stacks with `request` among their
    /// operations.
    #[serde(default, skip_serializing_if = "HttpRequest::is_usual")]
    pub request: HttpRequest,
}

/// An HTTP request without a body.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// The path, with the query if there is one.
    pub path: String,
    /// Headers beside the client's own, which they replace if they have the same name: name and value.
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
    /// Whether every worker can send it: `GET /` without further headers.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Debug for HttpRequest {
    /// Without the values of headers, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("headers", &names)
            .finish()
    }
}

/// How a worker resolves the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resolve {
    /// Inside the worker: the address is given.
    Given,
    /// Ask the system and time it, but connect to the address given, so that every stack reaches the same one.
    System,
}

/// Sites to serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Serve {
    /// Which of the worker's stacks.
    pub stack: String,
    /// The sites.
    pub sites: Vec<ServeSite>,
    /// One listener for all of them; none where each is to have its own. A worker that cannot share one listens
    /// for each site on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedListener>,
}

/// A listener for many sites: a connection is for the site whose [`ServeSite::listen`] has the address that the
/// connection came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedListener {
    /// Where to listen; port 0 means any free one.
    pub listen: SocketAddr,
    /// The network interface that connections must come in by, where there is one. If the listener cannot be
    /// bound to it, each site has its own.
    pub interface: Option<String>,
}

/// A site to serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeSite {
    /// The site's name, for counts.
    pub site: String,
    /// Where to listen; port 0 means any free one.
    pub listen: SocketAddr,
    /// The chain that is sent, the leaf first, as PEM.
    pub chain_pem: String,
    /// The leaf's key, PKCS#8 as PEM.
    pub key_pem: String,
    /// Versions.
    pub versions: Vec<TlsVersion>,
    /// Suites accepted, in the server's order; empty means [`CipherSuite::OFFERED`].
    pub suites: Vec<CipherSuite>,
    /// Groups accepted, in the server's order; empty means the stack's own default.
    pub groups: Vec<Group>,
    /// Application protocols, in the server's order.
    pub alpn: Vec<Alpn>,
    /// TLS 1.3 tickets after a full handshake; 0 turns resumption off in every version.
    pub tickets: u8,
    /// A DER OCSP response to staple, in base64.
    pub ocsp_base64: Option<String>,
    /// Bytes of the response's body.
    pub body_bytes: u64,
    /// What to do wrong. The faults that are in the certificate need nothing of the server.
    pub fault: Option<Fault>,
    /// TCP congestion control of accepted connections, where one is asked for.
    pub congestion: Option<String>,
}

/// One line from a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// The request's.
    pub id: u64,
    /// The answer.
    #[serde(flatten)]
    pub body: ResponseBody,
}

/// What a worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ResponseBody {
    /// To `describe`.
    Description(Description),
    /// To `configure`.
    Configured,
    /// To `connect`: it ended well.
    Connected(Box<Measured>),
    /// To `connect`, `prepare` and `load`: it failed.
    Failed(Failure),
    /// To `connect`, `prepare`, `verify` and `load`: this stack cannot do it.
    Unsupported {
        /// Why.
        reason: String,
    },
    /// To `serve`: every site is listening.
    Serving(Serving),
    /// To `counts`.
    Counted {
        /// One for every site.
        sites: Vec<ServerCount>,
    },
    /// To `prepare`: it works.
    Prepared(Box<Prepared>),
    /// To `slice`.
    Sliced(Box<Sliced>),
    /// To `hold`.
    Held(Held),
    /// To `verify`.
    Verified {
        /// One for every chain, in their order.
        chains: Vec<Verified>,
        /// Where the roots were the stack's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trust: Option<TrustMade>,
    },
    /// To `load`.
    Loaded(Loaded),
    /// The request could not be understood or done.
    Error {
        /// Why.
        message: String,
    },
}

/// A worker's account of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Description {
    /// [`PROTOCOL_VERSION`] of the worker.
    pub protocol: u32,
    /// The stacks it holds.
    pub stacks: Vec<StackDescription>,
}

/// One stack of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackDescription {
    /// What it is.
    pub record: WorkerRecord,
    /// Which operations it does: `connect`, `serve`, `suite`; `set-up` where a connection with the role
    /// `stepped` takes the steps of the set-up first; `request` where it sends the requests that it is given, and
    /// `client-certificate` where it shows the certificate that it is given, and `client-file` where it also takes
    /// encrypted keys and PKCS#12, to read them as its library does; `early-data`; `verify`; `load`; `objects` where its server has
    /// the pages of [`netbench_model::browser::ObjectsPage`] too; [`VERIFICATION_UNTIMED`]; [`HELD_AFTER`].
    pub operations: Vec<String>,
    /// Where its clients find roots that nobody gives them, by the names of the crates or functions; for `verify`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust_sources: Vec<String>,
    /// Groups it can offer.
    pub groups: Vec<Group>,
    /// Suites it can offer and accept.
    pub suites: Vec<CipherSuite>,
    /// Signature schemes it can offer. Those that clients offer by default where a worker does not say.
    #[serde(default = "offered_signatures")]
    pub signatures: Vec<SignatureScheme>,
}

fn offered_signatures() -> Vec<SignatureScheme> {
    SignatureScheme::OFFERED.to_vec()
}

/// Where the sites are listening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Serving {
    /// The address of each site that could be set up.
    pub listening: BTreeMap<String, SocketAddr>,
    /// Why others could not.
    pub failed: BTreeMap<String, String>,
    /// What of others this server cannot do.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unsupported: BTreeMap<String, String>,
}
