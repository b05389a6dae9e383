use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CipherSuite, Condition, Failure, Group, LinkPackets, LossLog, ProcessCost, Record, Role,
    SignatureScheme, StackName, TlsVersion, named::words,
};

/// The raw figures of one connection: one line of `samples.jsonl`, kept for ever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// Which session of the run took it: 0, and one more at every `--resume`.
    pub session: u32,
    /// The ordinal of the trial in the plan; the same seed gives the same ordinals.
    pub trial: u64,
    /// The site's name, as [`crate::Site::name`] gives it.
    pub site: String,
    /// The stack that made the connection.
    pub stack: StackName,
    /// The state the stack was in.
    pub condition: Condition,
    /// The round, from 0.
    pub round: u32,
    /// The process that made the connection, counted over the run. Samples of one block share its
    /// memory layout and are resampled together.
    pub block: u32,
    /// What the connection was for.
    pub role: Role,
    /// Milliseconds since the Unix epoch at the start.
    pub started_unix_ms: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// What a link in user space that loses packets did with those of this trial; none where it loses none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossLog>,
    /// What a link in user space saw of the trial's packets. Samples of netbench before 2026-11-24 lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<LinkPackets>,
}

/// Which trial of a plan a sample is of: condition, round, site's name, stack.
pub type SampleKey<'a> = (Condition, u32, &'a str, &'a StackName);

impl Sample {
    /// Which trial of the plan it is of.
    pub fn key(&self) -> SampleKey<'_> {
        (self.condition, self.round, &self.site, &self.stack)
    }
}

impl Record for Sample {
    const FILE: &'static str = "samples.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }

    fn fault(&self) -> Option<&'static str> {
        let measured = self.outcome.ok()?;
        (measured.phases.total_ns == 0).then_some("total_ns is 0 in a connection that ended well")
    }
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// A finished handshake and a response read to its end.
    Ok(Box<Measured>),
    /// An error, with its class. Whatever was measured before it is kept.
    Failed(Failure),
    /// What the case asks for cannot be done by this stack, site or machine.
    Unsupported {
        /// Why.
        reason: String,
    },
    /// netbench's own lab failed, which says nothing of stack or site: it counts against nobody, and `--resume`
    /// makes the trial again.
    Void {
        /// What happened.
        reason: String,
    },
}

impl Outcome {
    /// The figures, where the trial ended well.
    pub fn ok(&self) -> Option<&Measured> {
        match self {
            Self::Ok(sample) => Some(sample),
            Self::Failed(_) | Self::Unsupported { .. } | Self::Void { .. } => None,
        }
    }

    /// Whether the trial was made. One that was not says nothing.
    pub fn counts(&self) -> bool {
        !matches!(self, Self::Void { .. })
    }
}

/// What a connection that ended well was measured at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Where the time went.
    pub phases: Phases,
    /// What the client says was agreed.
    pub client: Negotiated,
    /// What the server says was agreed; only the lab's servers say.
    pub server: Option<ServerView>,
    /// What crossed the wire.
    pub transfer: Transfer,
    /// The status of the response.
    pub http_status: u16,
    /// Bytes of the response's body.
    pub body_bytes: u64,
    /// What it cost the process beyond the phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessCost>,
}

/// The phases of a connection, each in nanoseconds of wall clock but for the CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Phases {
    /// Roots parsed, TLS configuration and hyper connector made. Not part of `total_ns`.
    /// None where the connector was made by an earlier connection (condition `resumed`).
    pub connector_ns: Option<u64>,
    /// Name resolution.
    pub dns_ns: u64,
    /// TCP connect.
    pub tcp_ns: u64,
    /// From TCP connected to the handshake done, the making of the ClientHello included.
    pub tls_ns: u64,
    /// In `tls_ns`: from TCP connected to the first byte of the ClientHello handed to the socket.
    pub client_hello_ns: u64,
    /// In `tls_ns`: verification of the certificate chain and the name. None where a resumed
    /// handshake has none.
    pub verify_ns: Option<u64>,
    /// From the handshake done to the head of the response.
    pub first_byte_ns: u64,
    /// From the request handed to hyper to the last byte of the response's body.
    pub total_ns: u64,
    /// CPU time of the client's thread within `total_ns`.
    pub cpu_ns: u64,
}

words!(
    /// A phase that reports compare.
    Phase, {
        /// The connector made, as CPU time: [`ProcessCost::connector_cpu_ns`].
        Connector = "connector",
        /// The connector made, by wall clock: [`Phases::connector_ns`]. It has what the machine did meanwhile, so that it is
        /// shown and not judged.
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
    /// The phase's time in nanoseconds, where the connection had it.
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

/// What a handshake agreed on. A worker gives code points by name or by number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Negotiated {
    /// The version; none where no handshake was finished.
    pub version: Option<TlsVersion>,
    /// The cipher suite; none where no handshake was finished.
    pub suite: Option<CipherSuite>,
    /// The key-exchange group, where the stack tells it.
    pub group: Option<Group>,
    /// The scheme of the server's handshake signature; none in a resumed handshake, and where the stack does
    /// not tell it.
    pub signature: Option<SignatureScheme>,
    /// The application protocol, where one was agreed.
    pub alpn: Option<String>,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
    /// Bytes of DER of each certificate that the server sent, the leaf first; empty where unknown.
    pub chain_bytes: Vec<u32>,
}

impl Negotiated {
    /// Whether two handshakes were the same work: version, suite, group, signature, protocol and
    /// resumption. A value that one side cannot tell does not count as a difference.
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
    }
}

/// What the lab's server says of the connection, sent in the response's head.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerView {
    /// What the server says was agreed.
    pub negotiated: Negotiated,
    /// Time that the server spent computing in its handshake, in nanoseconds; 0 where it does not tell.
    pub compute_ns: u64,
}

/// What crossed the wire for one connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// Bytes the client wrote until the handshake was done.
    pub handshake_bytes_out: u64,
    /// Bytes the client read until the handshake was done.
    pub handshake_bytes_in: u64,
    /// Bytes the client wrote in all.
    pub bytes_out: u64,
    /// Bytes the client read in all.
    pub bytes_in: u64,
    /// How often the client, having written, had to wait for the server: flights, TCP's own
    /// handshake not counted.
    pub round_trips: u32,
    /// The kernel's figures at the end of the connection.
    pub tcp: Option<TcpInfo>,
}

/// Of the kernel's `TCP_INFO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpInfo {
    /// Smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// The smallest round-trip time seen, in microseconds.
    pub min_rtt_us: u32,
    /// Segments that this side sent again. The server's are not in it.
    pub retransmits: u32,
}
