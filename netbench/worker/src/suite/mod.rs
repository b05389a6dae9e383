//! The in-memory suite: what a stack gives for it, and the loops that measure, written once.
//!
//! Start reading at [`InMemory`], which a stack implements, then `prepared.rs`, which runs a
//! scenario.

mod alone;
mod bulk;
mod error;
mod handshake;
mod hold;
mod meter;
mod pair;
mod prepared;
mod reference;
mod threads;
mod turn;

use std::any::Any;

use netbench_model::{
    Aead, FailureWord, Group, HandshakeKind, KeyType, Negotiated, Primitive, SessionSettings,
};
use netbench_protocol::Material;

use crate::SetupError;

pub(crate) use error::PrepareError;
pub(crate) use prepared::PreparedScenario;

/// What a TLS library gives for the in-memory suite: sessions over plain buffers, and what is
/// done without a session.
pub trait InMemory: Send + Sync {
    /// Makes one side's configuration.
    ///
    /// # Errors
    /// Settings that the library cannot express, or material that it cannot use.
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError>;

    /// Makes what verifies chains of the server `host`, with these trust roots.
    ///
    /// # Errors
    /// Roots or a name that cannot be used.
    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError>;

    /// Makes a client's configuration from trust roots, as an HTTP client does when it starts.
    ///
    /// # Errors
    /// Roots that cannot be used.
    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError>;

    /// Makes ready to sign and verify with the leaf's key of the material. Unsupported where a library has no interface for
    /// its cryptography beneath its sessions.
    ///
    /// # Errors
    /// What the library does not have, or material that it cannot use.
    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        let _ = (key, material);
        Err(no_interface())
    }

    /// Makes ready to exchange keys. Unsupported as for [`Self::signatures`].
    ///
    /// # Errors
    /// What the library does not have.
    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        let _ = group;
        Err(no_interface())
    }

    /// Makes ready to protect the records of one direction. Unsupported as for [`Self::signatures`].
    ///
    /// # Errors
    /// What the library does not have.
    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        let _ = aead;
        Err(no_interface())
    }
}

fn no_interface() -> SetupError {
    let why = "its worker does not call its cryptography beneath its sessions";
    SetupError::Unsupported(why.to_owned())
}

/// What is signed: as long as what a server of TLS 1.3 signs with SHA-256 (RFC 8446 section 4.4.3).
pub const SIGNED: [u8; Primitive::SIGNED_BYTES] = [0x20; Primitive::SIGNED_BYTES];

/// What a record protects.
pub const RECORD_DATA: [u8; Primitive::RECORD_BYTES] = [0x2e; Primitive::RECORD_BYTES];

/// A key with its certificate, and the last signature made with it.
pub trait Signatures {
    /// Signs [`SIGNED`], by the scheme that TLS 1.3 uses the key with.
    ///
    /// # Errors
    /// What the library says.
    fn sign(&mut self) -> Result<(), SessionError>;

    /// Verifies the last signature.
    ///
    /// # Errors
    /// It is wrong.
    fn verify(&self) -> Result<(), SessionError>;

    /// The last signature.
    fn signature(&mut self) -> &mut [u8];
}

/// Both sides of a key exchange of TLS 1.3.
pub trait KeyExchange {
    /// The client makes its key pair.
    ///
    /// # Errors
    /// What the library says.
    fn key_share(&mut self) -> Result<(), SessionError>;

    /// The server makes its share and the secret, from the client's share.
    ///
    /// # Errors
    /// What the library says.
    fn respond(&mut self) -> Result<(), SessionError>;

    /// The client computes the secret from the server's share. It may need another [`Self::key_share`] before it can do
    /// so again.
    ///
    /// # Errors
    /// What the library says.
    fn agree(&mut self) -> Result<(), SessionError>;

    /// The secrets of both sides, once they have them.
    fn secrets(&self) -> Option<[&[u8]; 2]>;
}

/// The keys of one direction of a session of TLS 1.3, and its last record.
pub trait RecordProtection {
    /// Protects [`RECORD_DATA`] as a record of application data: header, type and tag with it.
    ///
    /// # Errors
    /// What the library says.
    fn seal(&mut self) -> Result<(), SessionError>;

    /// Copies the last record to where [`Self::open`] works.
    fn receive(&mut self);

    /// Opens what was received last, in its place.
    ///
    /// # Errors
    /// It was changed on its way.
    fn open(&mut self) -> Result<(), SessionError>;

    /// The last record, without its header.
    fn record(&mut self) -> &mut [u8];

    /// The data that was opened last.
    fn data(&self) -> &[u8];
}

/// Which side of a session, and how it is set.
#[derive(Debug, Clone, Copy)]
pub struct EndpointSetup<'a> {
    /// The side.
    pub side: EndpointSide,
    /// What both sides are set to: the only version, suite and group.
    pub settings: &'a SessionSettings,
    /// How sessions begin. With [`HandshakeKind::Full`] the server gives no ticket and neither side
    /// keeps a session; otherwise a server of TLS 1.3 gives [`TICKETS`], and a client resumes
    /// whatever it has got.
    pub kind: HandshakeKind,
    /// The most plaintext in a record, where it is held to less than the standard's.
    pub max_fragment_bytes: Option<u16>,
    /// Certificates, keys and trust roots.
    pub material: &'a Material,
}

/// Tickets that a server of TLS 1.3 gives after a handshake: what both OpenSSL and rustls do unless
/// told otherwise.
pub const TICKETS: usize = 2;

/// Sessions that a server keeps, and tickets that a client does, at most.
pub const KEPT_SESSIONS: usize = 256;

/// A side of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointSide {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// One side's configuration, with the sessions that it remembers. Shared between threads.
pub trait Endpoint: Send + Sync {
    /// A new session.
    ///
    /// # Errors
    /// What the library says.
    fn session(&self) -> Result<Box<dyn Session>, SessionError>;
}

/// One side of one session, over plain buffers.
///
/// Buffers are given away for the call and come back: an adapter may swap them into its own
/// transport instead of copying. Every byte of `input` is read, and `input` is empty afterwards;
/// what is to be sent is appended to `output`.
pub trait Session: Send {
    /// Goes on with the handshake as far as `input` allows.
    ///
    /// # Errors
    /// What the library says.
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError>;

    /// Puts `plaintext` into records.
    ///
    /// # Errors
    /// What the library says.
    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError>;

    /// Takes whole records, which may be tickets, and says how many bytes of plaintext were in them;
    /// they are read into `plaintext`, over and over where it is too short for all.
    ///
    /// # Errors
    /// What the library says.
    fn receive(&mut self, input: &mut Vec<u8>, plaintext: &mut [u8])
    -> Result<usize, SessionError>;

    /// What was agreed.
    fn negotiated(&self) -> Negotiated;

    /// Whether an earlier session was resumed.
    fn resumed(&self) -> bool;
}

/// How far a side's handshake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeState {
    /// It waits for the other side.
    Going,
    /// It may send data.
    Done,
}

/// Verifies the chains of servers.
pub trait Verifier: Send {
    /// Verifies a chain (the leaf first, DER) at the present time.
    ///
    /// # Errors
    /// A chain that is refused.
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError>;
}

/// Trust roots in one of the forms that libraries take.
#[derive(Debug, Clone, Copy)]
pub enum TrustRoots<'a> {
    /// PEM in memory.
    Pem(&'a str),
    /// DER in memory.
    Der(&'a [Vec<u8>]),
    /// A file of PEM, which the library reads by itself.
    File(&'a str),
}

/// What a library said when something failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}")]
pub struct SessionError {
    /// What was attempted.
    pub what: FailureWord,
    /// The library's words.
    pub why: String,
}

impl SessionError {
    /// The library's error with what was attempted.
    pub fn new(what: FailureWord, why: impl std::fmt::Display) -> Self {
        Self {
            what,
            why: why.to_string(),
        }
    }
}
