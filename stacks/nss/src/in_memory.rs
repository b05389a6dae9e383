//! Sessions over plain buffers, and operations without a session.

use std::{
    any::Any,
    ffi::CString,
    io, mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use netbench_model::{
    Aead, ClientAuth, FailureWord, Group, HandshakeKind, KeyType, Negotiated, TlsVersion,
};
use netbench_protocol::Material;
use netbench_worker::{
    Endpoint, EndpointSetup, EndpointSide, HandshakeState, InMemory, KeyExchange, RecordProtection,
    Session as MeasuredSession, SessionError, SetupError, Signatures, TICKETS, TrustRoots,
    Verifier,
};

use crate::{
    certificates::{Identity, Roots},
    chain,
    config::{Config, Kept},
    exchange::Exchange,
    ffi,
    io_layer::Transport,
    library::{library, refused},
    negotiated::{is_resumed, negotiated},
    records::Records,
    session::{Session, User},
    settings::Settings,
    signing::Signing,
    stack::Nss,
    tickets::Tickets,
    verify::KeyUsage,
};

impl InMemory for Nss {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        supported(setup)?;
        library().map_err(refused("NSS"))?;
        match setup.side {
            EndpointSide::Client => client(setup),
            EndpointSide::Server => server(setup),
        }
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let roots = Roots::of_pem(roots_pem)?;
        if !roots.are_all_known() {
            let why = "NSS does not verify what such a root has signed, as with Ed25519";
            return Err(SetupError::Unsupported(why.to_owned()));
        }
        Ok(Box::new(ChainsOfHost {
            roots,
            host: name(host)?,
        }))
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let roots = match roots {
            TrustRoots::Pem(text) => Roots::of_pem(text)?,
            TrustRoots::Der(all) => {
                Roots::of_der(all.iter().map(Vec::as_slice)).map_err(refused("roots"))?
            }
            TrustRoots::File(_) => {
                let why = "NSS reads no file of trust roots, only its own databases";
                return Err(SetupError::Unsupported(why.to_owned()));
            }
        };
        let config = Config::client(roots, &Kept::Tickets(0))?;
        Ok(Box::new(config))
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Ok(Box::new(Signing::new(key, material)?))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        Ok(Box::new(Exchange::new(group)?))
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        Ok(Box::new(Records::new(aead)?))
    }
}

fn supported(setup: &EndpointSetup<'_>) -> Result<(), SetupError> {
    let settings = setup.settings;
    let why = if setup.kind == HandshakeKind::SessionId && settings.version == TlsVersion::Tls13 {
        "in TLS 1.3, NSS' server keeps no sessions, it only gives tickets"
    } else if settings.key == KeyType::Ed25519 {
        "no Ed25519 in this NSS' TLS"
    } else {
        return Ok(());
    };
    Err(SetupError::Unsupported(why.to_owned()))
}

fn name(text: &str) -> Result<CString, SetupError> {
    CString::new(text).map_err(|e| SetupError::refused("name", e))
}

fn client(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let (kept, tickets) = match setup.kind {
        HandshakeKind::Full => (Kept::Nothing, None),
        HandshakeKind::SessionId => (Kept::Sessions(cache_of_its_own()?), None),
        // The library does not export the data that are needed to resume a session with a client's
        // certificate.
        HandshakeKind::Ticket if setup.settings.client_auth == ClientAuth::On => {
            (Kept::TicketsInLibrary(0, cache_of_its_own()?), None)
        }
        HandshakeKind::Ticket => (Kept::Tickets(0), Some(Arc::default())),
    };
    let mut config = Config::client(Roots::of_pem(&material.roots_pem)?, &kept)?;
    if setup.settings.client_auth == ClientAuth::On {
        let (chain, key) = (&material.client_chain_pem, &material.client_key_pem);
        config.set_identity(Identity::of_pem(chain, key)?)?;
    }
    Ok(Box::new(Side {
        config: set(setup, config)?,
        host: Some(name(&material.host)?),
        tickets,
    }))
}

fn server(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let identity = Identity::of_pem(&material.chain_pem, &material.key_pem)?;
    let kept = match setup.kind {
        HandshakeKind::Full => Kept::Nothing,
        HandshakeKind::SessionId => Kept::Sessions(cache_of_its_own()?),
        HandshakeKind::Ticket => Kept::Tickets(u8::try_from(TICKETS).unwrap_or(u8::MAX)),
    };
    let mut config = Config::server(identity, None, &kept)?;
    if setup.settings.client_auth == ClientAuth::On {
        config.require_certificates(Roots::of_pem(&material.roots_pem)?)?;
    }
    Ok(Box::new(Side {
        config: set(setup, config)?,
        host: None,
        tickets: None,
    }))
}

/// Returns a name that no other client's sessions have.
fn cache_of_its_own() -> Result<CString, SetupError> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    name(&format!(
        "netbench {}",
        MADE.fetch_add(1, Ordering::Relaxed)
    ))
}

/// Sets the common part of both sides' configuration: the version, suite, group and schemes of the settings.
fn set(setup: &EndpointSetup<'_>, config: Config) -> Result<Arc<Config>, SetupError> {
    let settings = setup.settings;
    Settings {
        versions: &[settings.version],
        suites: &[settings.suite()],
        groups: &settings.groups(),
        signatures: settings.signatures(),
    }
    .set(config.model())?;
    if let Some(bytes) = setup.max_fragment_bytes {
        // In TLS 1.3, the content type of a record counts too (RFC 8449 section 4).
        let type_byte = isize::from(settings.version == TlsVersion::Tls13);
        let limit = isize::try_from(bytes).unwrap_or(isize::MAX) + type_byte;
        config.option(ffi::SSL_RECORD_SIZE_LIMIT, limit)?;
    }
    Ok(Arc::new(config))
}

/// One side's configuration, with the sessions that a client keeps.
struct Side {
    config: Arc<Config>,
    host: Option<CString>,
    tickets: Option<Arc<Tickets>>,
}

impl Endpoint for Side {
    fn session(&self) -> Result<Box<dyn MeasuredSession>, SessionError> {
        let user = User {
            host: self.host.clone(),
            probe: None,
            tickets: self.tickets.clone(),
            key_usage: KeyUsage::Any,
        };
        let made = Session::new(&self.config, Pipe::default(), user);
        Ok(Box::new(Piped(made.map_err(|e| {
            SessionError::new(FailureWord::Session, e)
        })?)))
    }
}

/// A session whose transport is two buffers.
struct Piped(Session<Pipe>);

#[derive(Default)]
struct Pipe {
    input: Vec<u8>,
    read: usize,
    output: Vec<u8>,
}

impl Pipe {
    fn has_input(&self) -> bool {
        self.read < self.input.len()
    }
}

impl Transport for Pipe {
    fn pull(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.input[self.read..];
        if rest.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }
}

impl Piped {
    /// Runs an operation with `input` and `output` as the transport's buffers.
    fn with_buffers<T>(
        &mut self,
        what: FailureWord,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
        work: impl FnOnce(&mut Session<Pipe>) -> io::Result<T>,
    ) -> Result<T, SessionError> {
        let pipe = self.0.transport_mut();
        mem::swap(&mut pipe.input, input);
        mem::swap(&mut pipe.output, output);
        pipe.read = 0;
        let result = work(&mut self.0);
        let pipe = self.0.transport_mut();
        mem::swap(&mut pipe.input, input);
        mem::swap(&mut pipe.output, output);
        let left = input.len() - pipe.read;
        input.clear();
        match result {
            Ok(_) if left > 0 => Err(SessionError::new(what, format!("{left} bytes not read"))),
            result => result.map_err(|e| SessionError::new(what, e)),
        }
    }
}

impl MeasuredSession for Piped {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        let word = FailureWord::Handshake;
        self.with_buffers(word, input, output, |session| {
            match session.handshake() {
                Poll::Pending => Ok(HandshakeState::Going),
                Poll::Ready(done) => {
                    done?;
                    // Tickets may have arrived with the end of the handshake.
                    if session.transport().has_input() {
                        receive(session, &mut [0; 64])?;
                    }
                    Ok(HandshakeState::Done)
                }
            }
        })
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        let (none, word) = (&mut Vec::new(), FailureWord::Send);
        self.with_buffers(word, none, output, |session| {
            let mut rest = plaintext;
            while !rest.is_empty() {
                let count = i32::try_from(rest.len()).unwrap_or(i32::MAX);
                // SAFETY: the session is alive, and the buffer has as many bytes.
                let write = |fd| unsafe { ffi::PR_Write(fd, rest.as_ptr().cast(), count) };
                match session.call(write)? {
                    Poll::Ready(sent) => rest = &rest[sent..],
                    Poll::Pending => return Err(io::ErrorKind::WouldBlock.into()),
                }
            }
            Ok(())
        })
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        let (none, word) = (&mut Vec::new(), FailureWord::Receive);
        self.with_buffers(word, input, none, |session| receive(session, plaintext))
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(self.0.fd())
    }

    fn resumed(&self) -> bool {
        is_resumed(self.0.fd())
    }
}

/// Reads all available data, and returns their length.
fn receive(session: &mut Session<Pipe>, plaintext: &mut [u8]) -> io::Result<usize> {
    let mut received = 0;
    let start = plaintext.as_mut_ptr();
    let bytes = i32::try_from(plaintext.len()).unwrap_or(i32::MAX);
    // SAFETY: the session is alive.
    let pending = |fd| unsafe { ffi::SSL_DataPending(fd) };
    while session.transport().has_input() || pending(session.fd()) > 0 {
        // SAFETY: the session is alive, and the plaintext has room for as many bytes.
        let read = |fd| unsafe { ffi::PR_Read(fd, start.cast(), bytes) };
        match session.call(read)? {
            Poll::Ready(0) | Poll::Pending => break,
            Poll::Ready(count) => received += count,
        }
    }
    Ok(received)
}

/// A verifier of one server's chains.
struct ChainsOfHost {
    roots: Roots,
    host: CString,
}

impl Verifier for ChainsOfHost {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        // SAFETY: the call only reads.
        let now = unsafe { ffi::PR_Now() };
        let verified = chain::verify(
            chain.iter().map(Vec::as_slice),
            &self.roots,
            &self.host,
            now,
            KeyUsage::Any,
        );
        verified.map_err(|(_, words)| SessionError::new(FailureWord::Verify, words))
    }
}
