use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Measure, Primitive};
use crate::{
    Authentication, CipherSuite, Group, KeyType, SignatureScheme, TlsVersion, is_default,
    named::named,
};

named!(
    /// A part of the suite.
    #[schemars(extend("x-key" = "condition"))]
    Part, "part of the suite", {
        /// Application data in one direction.
        Bulk = "bulk",
        /// Handshakes, one at a time.
        Handshake = "handshake",
        /// Verification of a certificate chain.
        Verify = "verify",
        /// Creation of a client's configuration.
        Connector = "connector",
        /// The cryptography of handshakes and records, one operation at a time.
        Crypto = "crypto",
        /// Resident size and heap of many sessions at once.
        Memory = "memory",
        /// Handshakes and data on many threads that share a configuration.
        Threads = "threads",
        /// Instructions, counted by callgrind.
        Instructions = "instructions",
    }
);

named!(
    /// The start of a session.
    HandshakeKind, "kind of handshake", {
        /// A handshake with certificates.
        Full = "full",
        /// Resumption from state on the server: a session ID (RFC 5246), or a ticket that only identifies the server's
        /// state (RFC 8446).
        SessionId = "session-id",
        /// Resumption from a ticket that holds the state (RFC 5077, RFC 8446).
        Ticket = "ticket",
    }
);

named!(
    /// The state in which sessions are held.
    #[derive(Default)]
    HeldAfter, "state of held sessions", {
        /// The handshake is done. The server gives no ticket.
        #[default]
        Handshake = "handshake",
        /// The client has received the server's tickets as well.
        Tickets = "tickets",
        /// [`HeldAfter::DATA_BYTES`] have gone in each direction as well; in TLS 1.3 after the tickets.
        Data = "data",
        /// Nothing is under way after the data, and each side has released the buffers that its library can release.
        Idle = "idle",
    }
);

named!(
    /// The state of the allocator in which data are sent.
    #[derive(Default)]
    HeapState, "state of the heap", {
        /// The allocator keeps freed memory, and its heap has holes, as in a process that has worked for a while.
        #[default]
        Settled = "settled",
        /// The allocator is as a new process has it: glibc returns the top of its heap to the system after a free of more
        /// than 128 KiB, and takes it again, page by page, at the next allocation.
        Young = "young",
    }
);

named!(
    /// The work of a side that is timed.
    #[derive(Default)]
    Timing, "timing", {
        /// All of it: a session's creation, and each copy between the library and its caller.
        #[default]
        Whole = "whole",
        /// The part that the published programs rustls-bench and openssl-bench time. Sessions exist before their handshake
        /// is timed. The records of a write stay in the library while it is timed, without a limit. Records to be read are in
        /// the library before the reading is timed, if it holds records. Their data are read in place where the library
        /// permits it, and otherwise one after another into a buffer of the size of a write.
        Bench = "bench",
    }
);

impl HeldAfter {
    /// The bytes of data that each side sends: one full record.
    pub const DATA_BYTES: usize = 16 * 1024;

    /// Returns whether servers give tickets to clients that begin with a full handshake. Before TLS 1.3 a client that keeps no
    /// session asks for none.
    pub fn has_tickets(self, version: TlsVersion) -> bool {
        self != Self::Handshake && version == TlsVersion::Tls13
    }
}

impl KeyType {
    /// Returns the part of a suite's name that identifies the signature algorithm.
    pub fn algorithm(self) -> &'static str {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => "RSA",
            Self::EcdsaP256 | Self::EcdsaP384 => "ECDSA",
            Self::Ed25519 => "EDDSA",
            Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87 => "MLDSA",
        }
    }

    /// Returns whether a certificate with the key is usable with the suite.
    pub fn suits(self, suite: CipherSuite) -> bool {
        let algorithm = self.algorithm();
        match suite.facts().map(|facts| facts.authentication) {
            Some(Authentication::Any) => true,
            Some(Authentication::Rsa) => algorithm == "RSA",
            // EdDSA keys are usable with these suites too: RFC 8422 section 2.2.
            Some(Authentication::Ecdsa) => matches!(algorithm, "ECDSA" | "EDDSA"),
            _ => false,
        }
    }

    /// Returns the scheme with which a handshake of TLS 1.3 is signed with the key, followed by the scheme that signs
    /// the certificates of its chain if that is different.
    pub fn schemes(self) -> &'static [SignatureScheme] {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => &[
                SignatureScheme::RSA_PSS_RSAE_SHA256,
                SignatureScheme::RSA_PKCS1_SHA256,
            ],
            Self::EcdsaP256 => &[SignatureScheme::ECDSA_SECP256R1_SHA256],
            Self::EcdsaP384 => &[SignatureScheme::ECDSA_SECP384R1_SHA384],
            Self::Ed25519 => &[SignatureScheme::ED25519],
            Self::MlDsa44 => &[SignatureScheme::MLDSA44],
            Self::MlDsa65 => &[SignatureScheme::MLDSA65],
            Self::MlDsa87 => &[SignatureScheme::MLDSA87],
        }
    }

    /// Returns whether the key is the default of its algorithm in a name. ML-DSA has no default.
    pub fn is_usual(self) -> bool {
        matches!(self, Self::Rsa2048 | Self::EcdsaP256 | Self::Ed25519)
    }
}

named!(
    /// The record protection and the hash of the key schedule.
    Aead, "record protection", {
        /// AES-128-GCM.
        Aes128Gcm = "AES128-GCM_SHA256",
        /// AES-256-GCM.
        Aes256Gcm = "AES256-GCM_SHA384",
        /// ChaCha20-Poly1305 (RFC 8439).
        ChaCha20Poly1305 = "CHACHA20-POLY1305_SHA256",
    }
);

named!(
    /// Client authentication: the server requests a client's certificate, and receives one.
    ClientAuth, "client authentication", {
        /// The server does not request a certificate.
        Off = "off",
        /// The server requests a certificate; the client's chain has two certificates of the server's key type.
        On = "on",
    }
);

named!(
    /// The format in which trust roots are passed to a library.
    RootsForm, "form of trust roots", {
        /// One text in memory.
        Pem = "pem",
        /// Certificates in memory, one by one.
        Der = "der",
        /// The operating system's bundle, which the library itself reads from its file.
        Native = "native",
    }
);

/// The settings of both sides of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SessionSettings {
    /// The only version of both sides.
    pub version: TlsVersion,
    /// The only suite's record protection.
    pub aead: Aead,
    /// The key type of the chain.
    pub key: KeyType,
    /// The only group.
    pub group: Group,
    /// Number of certificates that the server sends, including the leaf.
    pub chain_length: u8,
    /// Client authentication.
    pub client_auth: ClientAuth,
}

impl SessionSettings {
    /// Returns the default settings of a name.
    pub fn usual(version: TlsVersion, key: KeyType, aead: Aead) -> Self {
        Self {
            version,
            aead,
            key,
            group: Group::X25519,
            chain_length: 2,
            client_auth: ClientAuth::Off,
        }
    }

    /// Returns the only suite.
    pub fn suite(&self) -> CipherSuite {
        use Aead::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
        let rsa = self.key.algorithm() == "RSA";
        match (self.version, self.aead) {
            (TlsVersion::Tls13, Aes128Gcm) => CipherSuite::TLS_AES_128_GCM_SHA256,
            (TlsVersion::Tls13, Aes256Gcm) => CipherSuite::TLS_AES_256_GCM_SHA384,
            (TlsVersion::Tls13, ChaCha20Poly1305) => CipherSuite::TLS_CHACHA20_POLY1305_SHA256,
            (_, Aes128Gcm) if rsa => CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            (_, Aes256Gcm) if rsa => CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            (_, ChaCha20Poly1305) if rsa => {
                CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
            }
            (_, Aes128Gcm) => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            (_, Aes256Gcm) => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            (_, ChaCha20Poly1305) => CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        }
    }

    /// Returns the only schemes of both sides: the scheme of the handshake, and the scheme that signs the chain's
    /// certificates.
    pub fn signatures(&self) -> &'static [SignatureScheme] {
        self.key.schemes()
    }

    /// Returns the only groups of both sides, the preferred group first. Before TLS 1.3, a certificate's curve must be
    /// one of the groups too (RFC 8422 section 5.1), which OpenSSL's server enforces.
    pub fn groups(&self) -> Vec<Group> {
        let curve = match self.key {
            KeyType::EcdsaP256 => Some(Group::SECP256R1),
            KeyType::EcdsaP384 => Some(Group::SECP384R1),
            _ => None,
        };
        let also = curve.filter(|c| self.version == TlsVersion::Tls12 && *c != self.group);
        [self.group].into_iter().chain(also).collect()
    }

    /// Returns whether the standards define the settings: the hybrid and keys of ML-DSA are for TLS 1.3 only.
    pub fn is_defined(&self) -> bool {
        self.version == TlsVersion::Tls13
            || (self.group != Group::X25519MLKEM768 && self.key.oldest_version() <= self.version)
    }
}

/// The repeated work of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "part", rename_all = "kebab-case")]
pub enum Work {
    /// A handshake.
    Handshake {
        /// The kind of handshake.
        kind: HandshakeKind,
        /// The settings of both sides.
        settings: SessionSettings,
    },
    /// Data from the server to the client.
    Bulk {
        /// The settings of both sides.
        settings: SessionSettings,
        /// Number of bytes passed to the library in one write.
        write_bytes: u32,
        /// Number of bytes sent over one session before the next is made.
        amount_bytes: u64,
        /// Maximum plaintext in a record, if limited to less than 16 KiB (`max_fragment`).
        max_fragment_bytes: Option<u16>,
        /// The state of the allocator.
        #[serde(default, skip_serializing_if = "is_default")]
        heap: HeapState,
    },
    /// Verification of a server's chain, from DER to the verdict, including name and dates.
    Verify {
        /// The key type of the chain.
        key: KeyType,
        /// Number of certificates in the chain, without the root.
        chain_length: u8,
        /// Number of trust roots, including the chain's own.
        roots: u32,
    },
    /// Creation of a client's configuration.
    Connector {
        /// The format of the roots.
        form: RootsForm,
        /// Number of roots; `None` for the operating system's own set.
        roots: Option<u32>,
    },
    /// An operation of the cryptography of a session, executed as in the library.
    Crypto {
        /// The operation.
        primitive: Primitive,
    },
    /// Sessions whose handshakes run in lock step, and which are then held.
    Memory {
        /// The settings of both sides.
        settings: SessionSettings,
        /// Number of sessions: half of them clients, half servers.
        sessions: u32,
        /// The state in which they are held.
        #[serde(default, skip_serializing_if = "is_default")]
        after: HeldAfter,
    },
    /// The same work on many threads that share the configurations.
    Threads {
        /// Number of threads.
        threads: u16,
        /// The work of each thread.
        work: ParallelWork,
        /// The settings of both sides.
        settings: SessionSettings,
    },
    /// Verification of a server's chain on many threads that share the verifier.
    ParallelVerify {
        /// Number of threads.
        threads: u16,
        /// The key type of the chain.
        key: KeyType,
        /// Number of certificates in the chain, without the root.
        chain_length: u8,
        /// Number of trust roots, including the chain's own.
        roots: u32,
    },
}

/// The concurrent work of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelWork {
    /// Handshakes of this kind.
    Handshake(HandshakeKind),
    /// Data in writes of 16 KiB.
    Bulk,
}

/// One task that every stack does; one or more of its measures are cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// The work.
    pub work: Work,
    /// Whether the suite counts instructions instead of measuring time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// The work that is timed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timing: Timing,
}

impl Scenario {
    /// Returns whether the scenario's figures are times, and not sizes alone.
    pub fn is_timed(&self) -> bool {
        !matches!(self.work, Work::Memory { .. })
    }

    /// Creates the scenario that is timed.
    pub fn timed(work: Work) -> Self {
        Self {
            work,
            counted: false,
            timing: Timing::Whole,
        }
    }

    /// Creates the scenario that counts instructions.
    pub fn counted(work: Work) -> Self {
        Self {
            work,
            counted: true,
            timing: Timing::Whole,
        }
    }

    /// Returns the scenario with another timing, if it has handshakes or data whose parts can be timed.
    #[must_use]
    pub fn with_timing(self, timing: Timing) -> Self {
        match self.work {
            Work::Handshake { .. } | Work::Bulk { .. } => Self { timing, ..self },
            _ => self,
        }
    }

    /// Returns the part of the suite to which the scenario belongs.
    pub fn part(&self) -> Part {
        if self.counted {
            return Part::Instructions;
        }
        match self.work {
            Work::Handshake { .. } => Part::Handshake,
            Work::Bulk { .. } => Part::Bulk,
            Work::Verify { .. } => Part::Verify,
            Work::Connector { .. } => Part::Connector,
            Work::Crypto { .. } => Part::Crypto,
            Work::Memory { .. } => Part::Memory,
            Work::Threads { .. } | Work::ParallelVerify { .. } => Part::Threads,
        }
    }

    /// Returns the maximum useful number of rounds. Figures other than times hardly vary between processes.
    pub fn rounds_of_use(&self, wanted: u32) -> u32 {
        match self.part() {
            Part::Memory | Part::Instructions => wanted.min(3),
            _ => wanted,
        }
    }

    /// Returns the number of threads, if the scenario is of many threads.
    pub fn threads(&self) -> Option<u16> {
        match self.work {
            Work::Threads { threads, .. } | Work::ParallelVerify { threads, .. } => Some(threads),
            _ => None,
        }
    }

    /// Returns the measures of single operations on many threads, whose times are distributions without a verdict.
    pub fn latencies(&self) -> &'static [Measure] {
        match self.work {
            Work::Threads {
                work: ParallelWork::Handshake(_),
                ..
            } => &[Measure::Client, Measure::Server],
            Work::Threads {
                work: ParallelWork::Bulk,
                ..
            } => &[Measure::Send, Measure::Receive],
            Work::ParallelVerify { .. } => &[Measure::Whole],
            _ => &[],
        }
    }

    /// Returns the settings of the scenario's sessions, if it has sessions.
    pub fn settings(&self) -> Option<&SessionSettings> {
        match &self.work {
            Work::Handshake { settings, .. }
            | Work::Bulk { settings, .. }
            | Work::Memory { settings, .. }
            | Work::Threads { settings, .. } => Some(settings),
            Work::Verify { .. }
            | Work::ParallelVerify { .. }
            | Work::Connector { .. }
            | Work::Crypto { .. } => None,
        }
    }
}
