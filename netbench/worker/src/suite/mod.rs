//! The in-memory suite: the interface of a stack, and the measurement loops, which are common to all stacks.
//!
//! Start reading at [`InMemory`], which a stack implements, then `prepared.rs`, which runs a scenario.

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

use netbench_protocol::Material;
#[cfg(doc)]
use netbench_tls::Timing;
use netbench_tls::{
    Aead, FailureWord, Group, HandshakeKind, KeyType, Negotiated, Primitive, SessionSettings,
};

use crate::SetupError;

pub(crate) use error::PrepareError;
pub(crate) use prepared::PreparedScenario;

/// The interface of a TLS library for the in-memory suite: sessions over plain buffers, and operations without a
/// session.
pub trait InMemory: Send + Sync {
    /// Makes the configuration of a client.
    ///
    /// # Errors
    /// Settings that the library cannot express, or material that it cannot use.
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError>;

    /// Makes the configuration of a server.
    ///
    /// # Errors
    /// Returns the errors of [`Self::client`].
    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError>;

    /// Makes the configuration of the setup's side.
    ///
    /// # Errors
    /// Returns the errors of [`Self::client`].
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        match setup.side {
            EndpointSide::Client => self.client(setup),
            EndpointSide::Server => self.server(setup),
        }
    }

    /// Makes a verifier for chains of the server `host`, with these trust roots.
    ///
    /// # Errors
    /// Roots or a name that cannot be used.
    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError>;

    /// Makes a client's configuration from trust roots, as an HTTP client does when it starts.
    ///
    /// # Errors
    /// Roots that cannot be used.
    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError>;

    /// Prepares signing and verification with the leaf's key of the material. Unsupported if a library has no interface
    /// for the cryptography below its sessions.
    ///
    /// # Errors
    /// A scheme that the library lacks, or material that it cannot use.
    fn signatures(
        &self,
        _key: KeyType,
        _material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Err(no_interface())
    }

    /// Prepares a key exchange. Unsupported as for [`Self::signatures`].
    ///
    /// # Errors
    /// A group that the library lacks.
    fn key_exchange(&self, _group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        Err(no_interface())
    }

    /// Prepares the protection of records of one direction. Unsupported as for [`Self::signatures`].
    ///
    /// # Errors
    /// An algorithm that the library lacks.
    fn record_protection(&self, _aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        Err(no_interface())
    }
}

fn no_interface() -> SetupError {
    let why = "its worker does not call its cryptography beneath its sessions";
    SetupError::unsupported(why)
}

/// The data that is signed, of the same length as the content that a server of TLS 1.3 signs with SHA-256 (RFC 8446
/// section 4.4.3).
pub const SIGNED: [u8; Primitive::SIGNED_BYTES] = [0x20; Primitive::SIGNED_BYTES];

/// The data that a record protects.
pub const RECORD_DATA: [u8; Primitive::RECORD_BYTES] = [0x2e; Primitive::RECORD_BYTES];

/// A key with its certificate, and the last signature made with it.
pub trait Signatures {
    /// Signs [`SIGNED`], with the key's scheme in TLS 1.3.
    ///
    /// # Errors
    /// An error of the library.
    fn sign(&mut self) -> Result<(), SessionError>;

    /// Verifies the last signature.
    ///
    /// # Errors
    /// The signature is wrong.
    fn verify(&self) -> Result<(), SessionError>;

    /// Returns the last signature.
    fn signature(&mut self) -> &mut [u8];
}

/// Both sides of a key exchange of TLS 1.3.
///
/// # Errors
/// Its functions return errors of the library.
pub trait KeyExchange {
    /// Generates the client's key pair.
    fn key_share(&mut self) -> Result<(), SessionError>;

    /// Generates the server's share and computes the secret, from the client's share.
    fn respond(&mut self) -> Result<(), SessionError>;

    /// Computes the client's secret from the server's share. A repetition may need another [`Self::key_share`] first.
    fn agree(&mut self) -> Result<(), SessionError>;

    /// Returns the secrets of both sides, once they are computed.
    fn secrets(&self) -> Option<[&[u8]; 2]>;
}

/// The keys of one direction of a session of TLS 1.3, and its last record.
pub trait RecordProtection {
    /// Protects [`RECORD_DATA`] as a record of application data, including header, type and tag.
    ///
    /// # Errors
    /// An error of the library.
    fn seal(&mut self) -> Result<(), SessionError>;

    /// Copies the last record to the buffer of [`Self::open`].
    fn receive(&mut self);

    /// Opens the last received record in place.
    ///
    /// # Errors
    /// The record was changed.
    fn open(&mut self) -> Result<(), SessionError>;

    /// Returns the last record, without its header.
    fn record(&mut self) -> &mut [u8];

    /// Returns the last opened data.
    fn data(&self) -> &[u8];
}

/// The side of a session, and its settings.
#[derive(Debug, Clone, Copy)]
pub struct EndpointSetup<'a> {
    /// The side.
    pub side: EndpointSide,
    /// The settings of both sides: the only version, suite and group.
    pub settings: &'a SessionSettings,
    /// The start of sessions. With [`HandshakeKind::Full`], the server issues no ticket and neither side keeps a
    /// session; otherwise a server of TLS 1.3 issues [`TICKETS`], and a client resumes any session that it has
    /// received.
    pub kind: HandshakeKind,
    /// Maximum plaintext in a record, if limited to less than the standard's maximum.
    pub max_fragment_bytes: Option<u16>,
    /// Certificates, keys and trust roots.
    pub material: &'a Material,
}

impl EndpointSetup<'_> {
    /// Returns the maximum plaintext in a record with the five bytes of its header, which rustls counts too.
    pub fn max_fragment_with_header(&self) -> Option<usize> {
        Some(usize::from(self.max_fragment_bytes?) + 5)
    }
}

/// Number of tickets that a server of TLS 1.3 issues after a handshake, which is the default of both OpenSSL and
/// rustls.
pub const TICKETS: usize = 2;

/// Maximum number of sessions that a server keeps, and of tickets that a client keeps.
pub const KEPT_SESSIONS: usize = 256;

/// A side of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointSide {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// One side's configuration, with the sessions that it keeps. Shared between threads.
pub trait Endpoint: Send + Sync {
    /// Creates a new session.
    ///
    /// # Errors
    /// An error of the library.
    fn session(&self) -> Result<Box<dyn Session>, SessionError>;
}

/// A function that creates sessions with the configuration that it owns.
impl<F> Endpoint for F
where
    F: Fn() -> Result<Box<dyn Session>, SessionError> + Send + Sync,
{
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        self()
    }
}

/// One side of one session, over plain buffers.
///
/// The caller lends its buffers for a call: an adapter may swap them into its own transport instead of copying. Every
/// byte of `input` is read, and `input` is empty afterwards; output is appended to `output`.
///
/// # Errors
/// Its functions return errors of the library.
pub trait Session: Send {
    /// Continues the handshake as far as `input` allows.
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError>;

    /// Encrypts `plaintext` to records.
    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError>;

    /// Reads complete records, which may be tickets, and returns the number of bytes of plaintext. The plaintext is
    /// read into `plaintext`, which is overwritten if it is too short.
    fn receive(&mut self, input: &mut Vec<u8>, plaintext: &mut [u8])
    -> Result<usize, SessionError>;

    /// Releases the buffers that an idle session does not need, and returns the library's function for it; `None` for a
    /// library that has no such function: it releases them itself, or keeps them.
    fn release_buffers(&mut self) -> Result<Option<&'static str>, SessionError> {
        Ok(None)
    }

    /// Returns the session's interface for [`Timing::Bench`], if its library keeps records until the caller takes them.
    fn kept_records(&mut self) -> Option<&mut dyn KeptRecords> {
        None
    }

    /// Returns the negotiated parameters.
    fn negotiated(&self) -> Negotiated;

    /// Returns whether an earlier session was resumed.
    fn resumed(&self) -> bool;
}

/// A session whose records stay in the library until the caller takes them.
///
/// # Errors
/// Its functions return errors of the library.
pub trait KeptRecords {
    /// Encrypts `plaintext` to records that stay in the library.
    fn encrypt(&mut self, plaintext: &[u8]) -> Result<(), SessionError>;

    /// Appends the records to `output`.
    fn take(&mut self, output: &mut Vec<u8>) -> Result<(), SessionError>;

    /// Passes complete records to a library that holds them until they are read. The records of other libraries stay in
    /// `input`.
    fn put(&mut self, _input: &mut Vec<u8>) -> Result<(), SessionError> {
        Ok(())
    }

    /// Reads the records of [`Self::put`] and of `input` as [`Session::receive`] does, but leaves the plaintext in the
    /// library if the library permits it.
    fn receive_in_place(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError>;
}

/// The progress of a side's handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeState {
    /// The side waits for the other side.
    Going,
    /// The side may send data.
    Done,
}

/// Verifies the chains of servers.
pub trait Verifier: Send + Sync {
    /// Verifies a chain (the leaf first, DER) at the present time.
    ///
    /// # Errors
    /// A chain that is refused.
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError>;
}

/// A function that verifies the chains of a server.
impl<F> Verifier for F
where
    F: Fn(&[Vec<u8>]) -> Result<(), SessionError> + Send + Sync,
{
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        self(chain)
    }
}

/// Trust roots in one of the formats that libraries accept.
#[derive(Debug, Clone, Copy)]
pub enum TrustRoots<'a> {
    /// PEM in memory.
    Pem(&'a str),
    /// DER in memory.
    Der(&'a [Vec<u8>]),
    /// A PEM file, which the library itself reads.
    File(&'a str),
}

/// The error of a library in a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}")]
pub struct SessionError {
    /// The failed operation.
    pub what: FailureWord,
    /// The library's message.
    pub why: String,
}

/// Returns a function that converts an error of the library in the operation `what`.
pub fn failed<E: std::fmt::Display>(what: FailureWord) -> impl Fn(E) -> SessionError {
    move |error| SessionError::new(what, error)
}

impl SessionError {
    /// Creates an error from the library's error and the failed operation.
    pub fn new(what: FailureWord, why: impl std::fmt::Display) -> Self {
        Self {
            what,
            why: why.to_string(),
        }
    }
}
