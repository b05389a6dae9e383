use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CipherSuite, Group, KeyType, SignatureScheme, TlsVersion, named::named};

named!(
    /// A part of the suite.
    Part, "part of the suite", {
        /// Application data in one direction.
        Bulk = "bulk",
        /// Handshakes, one at a time.
        Handshake = "handshake",
        /// Verification of a certificate chain alone.
        Verify = "verify",
        /// The making of a client's configuration.
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
    /// How a session begins.
    HandshakeKind, "kind of handshake", {
        /// With certificates.
        Full = "full",
        /// Resumed from what the server keeps: a session ID (RFC 5246), or a ticket that only names
        /// the server's state (RFC 8446).
        SessionId = "session-id",
        /// Resumed from a ticket that holds the state (RFC 5077, RFC 8446).
        Ticket = "ticket",
    }
);

named!(
    /// The state in which sessions are held.
    HeldAfter, "state of held sessions", {
        /// The handshake is done. The server gives no ticket.
        Handshake = "handshake",
        /// The client has received the server's tickets as well.
        Tickets = "tickets",
        /// [`HeldAfter::DATA_BYTES`] have gone in each direction as well; in TLS 1.3 after the tickets.
        Data = "data",
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

    fn is_handshake(&self) -> bool {
        *self == Self::Handshake
    }

    fn handshake() -> Self {
        Self::Handshake
    }
}

impl KeyType {
    /// The part of a suite's name that says who signs.
    pub fn algorithm(self) -> &'static str {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => "RSA",
            Self::EcdsaP256 | Self::EcdsaP384 => "ECDSA",
            Self::Ed25519 => "EDDSA",
        }
    }

    /// The scheme by which a handshake of TLS 1.3 is signed with it, and the one that signs the certificates of its chain
    /// where that is another.
    pub fn schemes(self) -> &'static [SignatureScheme] {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => &[
                SignatureScheme::RSA_PSS_RSAE_SHA256,
                SignatureScheme::RSA_PKCS1_SHA256,
            ],
            Self::EcdsaP256 => &[SignatureScheme::ECDSA_SECP256R1_SHA256],
            Self::EcdsaP384 => &[SignatureScheme::ECDSA_SECP384R1_SHA384],
            Self::Ed25519 => &[SignatureScheme::ED25519],
        }
    }

    /// Whether it is the key that a name with only the algorithm means.
    pub fn is_usual(self) -> bool {
        matches!(self, Self::Rsa2048 | Self::EcdsaP256 | Self::Ed25519)
    }
}

named!(
    /// What protects records, and the hash of the key schedule.
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
    /// Whether the server asks for a client's certificate, and gets one.
    ClientAuth, "client authentication", {
        /// It does not.
        Off = "off",
        /// It does; the client's chain has two certificates of the server's key type.
        On = "on",
    }
);

named!(
    /// The form in which trust roots are given to a library.
    RootsForm, "form of trust roots", {
        /// One text in memory.
        Pem = "pem",
        /// Certificates in memory, one by one.
        Der = "der",
        /// The operating system's bundle, read from its file by the library itself.
        Native = "native",
    }
);

/// What both sides of a session are set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SessionSettings {
    /// The only version that both sides speak.
    pub version: TlsVersion,
    /// The only suite's record protection.
    pub aead: Aead,
    /// The key type of the chain.
    pub key: KeyType,
    /// The only group.
    pub group: Group,
    /// How many certificates the server sends, the leaf among them.
    pub chain_length: u8,
    /// Client authentication.
    pub client_auth: ClientAuth,
}

impl SessionSettings {
    /// The settings that a name means where it says nothing else.
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

    /// The one suite.
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

    /// The schemes that both sides are held to: the one for the handshake, and the one that signs
    /// the chain's certificates.
    pub fn signatures(&self) -> &'static [SignatureScheme] {
        self.key.schemes()
    }

    /// The groups that both sides are held to, the wanted one first. Before TLS 1.3 a certificate's
    /// curve is one of the groups too (RFC 8422 section 5.1), and OpenSSL's server insists on it.
    pub fn groups(&self) -> Vec<Group> {
        let curve = match self.key {
            KeyType::EcdsaP256 => Some(Group::SECP256R1),
            KeyType::EcdsaP384 => Some(Group::SECP384R1),
            _ => None,
        };
        let also = curve.filter(|c| self.version == TlsVersion::Tls12 && *c != self.group);
        [self.group].into_iter().chain(also).collect()
    }

    /// Whether the standards define it: the hybrid is for TLS 1.3 alone.
    pub fn is_defined(&self) -> bool {
        self.version == TlsVersion::Tls13 || self.group != Group::X25519MLKEM768
    }
}

/// What is done over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "part", rename_all = "kebab-case")]
pub enum Work {
    /// A handshake.
    Handshake {
        /// How it begins.
        kind: HandshakeKind,
        /// Both sides' settings.
        settings: SessionSettings,
    },
    /// Data from the server to the client.
    Bulk {
        /// Both sides' settings.
        settings: SessionSettings,
        /// Bytes given to the library at once.
        write_bytes: u32,
        /// Bytes sent over one session before the next is made.
        amount_bytes: u64,
        /// The most plaintext in a record, where it is held to less than 16 KiB (`max_fragment`).
        max_fragment_bytes: Option<u16>,
    },
    /// Verification of a server's chain, from DER to the verdict, name and dates included.
    Verify {
        /// The key type of the chain.
        key: KeyType,
        /// Certificates in the chain, without the root.
        chain_length: u8,
        /// Trust roots, the chain's own among them.
        roots: u32,
    },
    /// The making of a client's configuration.
    Connector {
        /// The form of the roots.
        form: RootsForm,
        /// How many; none for the operating system's own set.
        roots: Option<u32>,
    },
    /// An operation of the cryptography beneath a session, done as the library does it there.
    Crypto {
        /// The operation.
        primitive: Primitive,
    },
    /// Sessions taken through the handshake in lock step and then held.
    Memory {
        /// Both sides' settings.
        settings: SessionSettings,
        /// Sessions: half of them clients, half servers.
        sessions: u32,
        /// The state in which they are held.
        #[serde(
            default = "HeldAfter::handshake",
            skip_serializing_if = "HeldAfter::is_handshake"
        )]
        after: HeldAfter,
    },
    /// The same work on many threads that share the configurations.
    Threads {
        /// Threads.
        threads: u16,
        /// What each does.
        work: ParallelWork,
        /// Both sides' settings.
        settings: SessionSettings,
    },
}

/// What a session of TLS 1.3 asks of a library's cryptography.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "operation", rename_all = "kebab-case")]
pub enum Primitive {
    /// The server signs: 130 bytes, as in a CertificateVerify with SHA-256 (RFC 8446 section 4.4.3), hashed first.
    Sign {
        /// With a key of this type, by the scheme that TLS 1.3 uses it with.
        key: KeyType,
    },
    /// The client verifies that signature.
    Verify {
        /// With a key of this type.
        key: KeyType,
    },
    /// The client makes a key pair, for its key share.
    KeyShare {
        /// Of this group.
        group: Group,
    },
    /// The server makes its key share and the secret, from the client's share.
    Respond {
        /// Of this group.
        group: Group,
    },
    /// The client computes the secret from the server's share.
    Agree {
        /// Of this group.
        group: Group,
    },
    /// The sender protects a full record: 16 KiB of data.
    Seal {
        /// By this algorithm.
        aead: Aead,
    },
    /// The receiver opens such a record.
    Open {
        /// By this algorithm.
        aead: Aead,
    },
}

impl Primitive {
    /// The bytes that are signed, and verified.
    pub const SIGNED_BYTES: usize = 130;

    /// The data in a record that is protected: as much as a record may have (RFC 8446 section 5.1).
    pub const RECORD_BYTES: usize = 16 * 1024;

    /// Every one.
    pub fn all() -> impl Iterator<Item = Self> {
        let keys = KeyType::ALL.iter();
        let keys = keys.flat_map(|key| [Self::Sign { key: *key }, Self::Verify { key: *key }]);
        let groups = Group::OFFERED.iter().copied().flat_map(|group| {
            [
                Self::KeyShare { group },
                Self::Respond { group },
                Self::Agree { group },
            ]
        });
        let aeads = Aead::ALL.iter();
        let records =
            aeads.flat_map(|aead| [Self::Seal { aead: *aead }, Self::Open { aead: *aead }]);
        keys.chain(groups).chain(records)
    }
}

/// What threads do at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelWork {
    /// Handshakes of this kind.
    Handshake(HandshakeKind),
    /// Data in writes of 16 KiB.
    Bulk,
}

/// One thing that every stack does; one or more measures of it are cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// What is done.
    pub work: Work,
    /// Whether instructions are counted instead of time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
}

impl Scenario {
    /// The scenario that is timed.
    pub fn timed(work: Work) -> Self {
        Self {
            work,
            counted: false,
        }
    }

    /// The same work, with its instructions counted.
    pub fn counted(work: Work) -> Self {
        Self {
            work,
            counted: true,
        }
    }

    /// The part of the suite that it belongs to.
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
            Work::Threads { .. } => Part::Threads,
        }
    }

    /// The most rounds that are of use: what is not timed hardly varies from process to process.
    pub fn rounds_of_use(&self, wanted: u32) -> u32 {
        match self.part() {
            Part::Memory | Part::Instructions => wanted.min(3),
            _ => wanted,
        }
    }

    /// The settings of its sessions, where it has sessions.
    pub fn settings(&self) -> Option<&SessionSettings> {
        match &self.work {
            Work::Handshake { settings, .. }
            | Work::Bulk { settings, .. }
            | Work::Memory { settings, .. }
            | Work::Threads { settings, .. } => Some(settings),
            Work::Verify { .. } | Work::Connector { .. } | Work::Crypto { .. } => None,
        }
    }
}
