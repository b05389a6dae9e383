use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CipherSuite, Group, ProcessCost, SignatureScheme, TlsVersion, named::words};

/// The figures of a successful connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The times of the phases.
    pub phases: Phases,
    /// The negotiated parameters as the client reports them.
    pub client: Negotiated,
    /// The negotiated parameters as the server reports them; only the lab's servers do.
    pub server: Option<ServerView>,
    /// The data transferred on the wire.
    pub transfer: Transfer,
    /// The status of the response.
    pub http_status: u16,
    /// Bytes of the response's body.
    pub body_bytes: u64,
    /// The cost of the connection for the process beyond the phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessCost>,
}

words!(
    /// The outcome of Encrypted ClientHello (RFC 9849) in a finished handshake. A rejection is a failure.
    EchStatus, {
        /// The server decrypted the ClientHello.
        Accepted = "accepted",
        /// The client sent GREASE. A server reports it for each hello whose extension it did not decrypt.
        Grease = "grease",
    }
);

words!(
    /// The outcome of a request that was sent as early data (RFC 8446 section 4.2.10).
    EarlyDataStatus, {
        /// The server took the request from the early data.
        Accepted = "accepted",
        /// The server discarded the early data, and the client sent the request again.
        Rejected = "rejected",
        /// The server answered with a HelloRetryRequest, and the client sent the request again after the handshake.
        Retried = "hello-retry-request",
    }
);

words!(
    /// The treatment of early data that were accepted on one connection, and sent again on another, byte for byte.
    ReplayStatus, {
        /// The server accepted them again: it would act twice on one request.
        Accepted = "accepted",
        /// The server did not accept them.
        Rejected = "rejected",
    }
);

/// The phases of a connection, each in nanoseconds of wall clock except for the CPU time.
///
/// With early data the request is sent before the handshake ends. The phases keep their limits and follow one another:
/// `tls_ns` contains the sending of the request, and the round trip in which an accepted one is answered; `first_byte_ns`
/// is then the short rest of the wait, or the round trip of a rejected request, which is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Phases {
    /// Parsing of the roots, and creation of the TLS configuration and the hyper connector. Not part of `total_ns`.
    /// `None` if an earlier connection made the connector (conditions `resumed` and `early-data`).
    pub connector_ns: Option<u64>,
    /// Name resolution.
    pub dns_ns: u64,
    /// TCP connect.
    pub tcp_ns: u64,
    /// Time from the end of TCP connect to the end of the handshake, including the construction of the ClientHello.
    pub tls_ns: u64,
    /// Time, within `tls_ns`, from the end of TCP connect until the first byte of the ClientHello is passed to the
    /// socket.
    pub client_hello_ns: u64,
    /// Time, within `tls_ns`, of the verification of the certificate chain and the name. `None` for a resumed handshake
    /// without a verification.
    pub verify_ns: Option<u64>,
    /// Time from the end of the handshake to the head of the response.
    pub first_byte_ns: u64,
    /// Time of the connection before, whose server rejected Encrypted ClientHello: from passing the request to hyper to the error.
    /// `None` if there was none. The other phases are those of the connection after it, except `total_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected_ns: Option<u64>,
    /// Time from passing the request to hyper to the last byte of the response's body; `rejected_ns` is part of it.
    pub total_ns: u64,
    /// CPU time of the client's thread within `total_ns`.
    pub cpu_ns: u64,
}

words!(
    /// A phase that reports compare.
    #[schemars(extend("x-key" = "item"))]
    Phase, {
        /// Creation of the connector, as CPU time: [`ProcessCost::connector_cpu_ns`].
        Connector = "connector",
        /// Creation of the connector, as wall clock: [`Phases::connector_ns`]. The time includes other work of the
        /// machine, so it is shown without a verdict.
        ConnectorWall = "connector_wall",
        /// [`Phases::dns_ns`].
        Dns = "dns",
        /// [`Phases::tcp_ns`].
        Tcp = "tcp",
        /// [`Phases::tls_ns`].
        Tls = "tls",
        /// [`Phases::verify_ns`].
        Verify = "verify",
        /// [`Phases::first_byte_ns`].
        FirstByte = "first_byte",
        /// [`Phases::total_ns`].
        Total = "total",
        /// [`Phases::cpu_ns`].
        Cpu = "cpu",
    }
);

impl Phase {
    /// Returns the phase's time in nanoseconds, if the connection had the phase.
    pub fn of(self, measured: &Measured) -> Option<u64> {
        let phases = &measured.phases;
        match self {
            Self::Connector => {
                let process = measured.process.as_ref()?;
                phases.connector_ns.map(|_| process.connector_cpu_ns)
            }
            Self::ConnectorWall => phases.connector_ns,
            Self::Dns => Some(phases.dns_ns),
            Self::Tcp => Some(phases.tcp_ns),
            Self::Tls => Some(phases.tls_ns),
            Self::Verify => phases.verify_ns,
            Self::FirstByte => Some(phases.first_byte_ns),
            Self::Total => Some(phases.total_ns),
            Self::Cpu => Some(phases.cpu_ns),
        }
    }
}

/// The negotiated parameters of a handshake. A worker reports code points by name or by number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Negotiated {
    /// The version; `None` if no handshake was finished.
    pub version: Option<TlsVersion>,
    /// The cipher suite; `None` if no handshake was finished.
    pub suite: Option<CipherSuite>,
    /// The key-exchange group, if the stack reports it.
    pub group: Option<Group>,
    /// The scheme of the server's handshake signature; `None` in a resumed handshake, or if the stack does not report
    /// it.
    pub signature: Option<SignatureScheme>,
    /// The application protocol, if one was negotiated.
    pub alpn: Option<String>,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
    /// The outcome of Encrypted ClientHello; `None` if it was not offered, or if the stack does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ech: Option<EchStatus>,
    /// The outcome of early data; `None` if none was sent, or if the stack does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_data: Option<EarlyDataStatus>,
    /// Size of the DER of each certificate that the server sent, in bytes, the leaf first; empty if unknown.
    pub chain_bytes: Vec<u32>,
}

impl Negotiated {
    /// Returns whether two handshakes were the same work: version, suite, group, signature, protocol, resumption and the
    /// outcomes of Encrypted ClientHello and early data. A value that one side does not report does not count as a difference.
    pub fn same_work(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        self.version == other.version
            && self.suite == other.suite
            && self.alpn == other.alpn
            && self.resumed == other.resumed
            && agree(self.group, other.group)
            && agree(self.signature, other.signature)
            && agree(self.ech, other.ech)
            && agree(self.early_data, other.early_data)
    }
}

/// The lab server's report on the connection, sent in the response's head.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerView {
    /// The negotiated parameters as the server reports them.
    pub negotiated: Negotiated,
    /// CPU time of the server's handshake, in nanoseconds; 0 if the server does not report it.
    pub compute_ns: u64,
}

/// The data transferred on the wire for one connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// Bytes that the client wrote until the handshake was done, early data included.
    pub handshake_bytes_out: u64,
    /// Bytes that the client read until the handshake was done. With accepted early data, a part of the response may be
    /// among them.
    pub handshake_bytes_in: u64,
    /// Bytes that the client wrote in total.
    pub bytes_out: u64,
    /// Bytes that the client read in total.
    pub bytes_in: u64,
    /// Number of times that the client, after a write, had to wait for the server: flights, without TCP's own
    /// handshake.
    pub round_trips: u32,
    /// The kernel's figures at the end of the connection.
    pub tcp: Option<TcpInfo>,
}

/// Fields of the kernel's `TCP_INFO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpInfo {
    /// Smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// The minimum observed round-trip time, in microseconds.
    pub min_rtt_us: u32,
    /// Number of segments that this side retransmitted. Retransmissions of the server are not included.
    pub retransmits: u32,
}
