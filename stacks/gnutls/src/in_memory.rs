//! Sessions over plain buffers, and operations without a session.

use std::{
    any::Any,
    ffi::CString,
    io::{self, IoSlice},
    mem,
    sync::Arc,
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
    chain::TrustList,
    config::{ClientCertificates, Config, Credentials, Resumption, TicketKey},
    ffi,
    negotiated::{is_resumed, negotiated},
    records::Records,
    session::{Session, Transport, User},
    settings::{Priority, Settings},
    signing::Signing,
    stack::GnuTls,
    tickets::{ServerSessions, Tickets},
};

impl InMemory for GnuTls {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        supported(setup)?;
        match setup.side {
            EndpointSide::Client => client(setup),
            EndpointSide::Server => server(setup),
        }
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        Ok(Box::new(ChainsOfHost {
            trust: TrustList::of_pem(roots_pem)?,
            host: name(host)?,
        }))
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let credentials = Credentials::new()?;
        match roots {
            TrustRoots::Pem(text) => credentials.trust_pem(text)?,
            TrustRoots::Der(all) => all.iter().try_for_each(|der| credentials.trust_der(der))?,
            TrustRoots::File(path) => credentials.trust_file(&name(path)?)?,
        }
        Ok(Box::new((
            credentials,
            Priority::of_library(TlsVersion::OFFERED)?,
        )))
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Ok(Box::new(Signing::new(key, material)?))
    }

    fn key_exchange(&self, _: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        Err(SetupError::Unsupported(
            "GnuTLS' interface has no key exchange".to_owned(),
        ))
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        Ok(Box::new(Records::new(aead)?))
    }
}

fn supported(setup: &EndpointSetup<'_>) -> Result<(), SetupError> {
    let settings = setup.settings;
    let is_tls13 = settings.version == TlsVersion::Tls13;
    let why = if setup.kind == HandshakeKind::SessionId && is_tls13 {
        "in TLS 1.3, GnuTLS' server keeps no sessions, it only gives tickets"
    } else if settings.client_auth == ClientAuth::On
        && settings.key == KeyType::Ed25519
        && !is_tls13
    {
        "GnuTLS has no client certificates with Ed25519 before TLS 1.3"
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
    let credentials = Credentials::new()?;
    credentials.trust_pem(&material.roots_pem)?;
    credentials.verify_peers();
    if setup.settings.client_auth == ClientAuth::On {
        let (chain, key) = (&material.client_chain_pem, &material.client_key_pem);
        credentials.identity(chain, key, None)?;
    }
    let flags = ffi::CLIENT | ffi::KEY_SHARE_TOP;
    let (flags, tickets) = match setup.kind {
        HandshakeKind::Full => (flags | ffi::NO_TICKETS, None),
        HandshakeKind::SessionId => (flags | ffi::NO_TICKETS, Some(Arc::default())),
        HandshakeKind::Ticket => (flags, Some(Arc::default())),
    };
    Ok(Box::new(Side {
        config: config(setup, flags, credentials, Resumption::None)?,
        host: Some(name(&material.host)?),
        tickets,
    }))
}

fn server(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let credentials = Credentials::new()?;
    credentials.identity(&material.chain_pem, &material.key_pem, None)?;
    if setup.settings.client_auth == ClientAuth::On {
        credentials.trust_pem(&material.roots_pem)?;
        credentials.verify_peers();
    }
    let flags = ffi::SERVER | ffi::NO_AUTO_SEND_TICKET;
    let (flags, resumption) = match setup.kind {
        HandshakeKind::Full => (flags | ffi::NO_TICKETS, Resumption::None),
        HandshakeKind::SessionId => {
            let kept: Arc<ServerSessions> = Arc::default();
            (flags | ffi::NO_TICKETS, Resumption::Kept(kept))
        }
        HandshakeKind::Ticket => {
            let key = TicketKey::new()?;
            let count = u8::try_from(TICKETS).unwrap_or(u8::MAX);
            (flags, Resumption::Tickets { key, count })
        }
    };
    Ok(Box::new(Side {
        config: config(setup, flags, credentials, resumption)?,
        host: None,
        tickets: None,
    }))
}

/// Makes the common configuration of both sides: the version, suite, group and schemes of the settings.
fn config(
    setup: &EndpointSetup<'_>,
    flags: u32,
    credentials: Credentials,
    resumption: Resumption,
) -> Result<Arc<Config>, SetupError> {
    let settings = setup.settings;
    let priority = Priority::exact(&Settings {
        versions: &[settings.version],
        suites: &[settings.suite()],
        groups: &settings.groups(),
        signatures: settings.signatures(),
    })?;
    let asks = setup.side == EndpointSide::Server && settings.client_auth == ClientAuth::On;
    Ok(Arc::new(Config {
        flags,
        credentials,
        priority,
        versions: vec![settings.version],
        alpn: Vec::new(),
        max_record_bytes: setup.max_fragment_bytes,
        resumption,
        client_certificates: if asks {
            ClientCertificates::Required
        } else {
            ClientCertificates::NotAsked
        },
    }))
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
        let taken = rest.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&rest[..taken]);
        self.read += taken;
        Ok(taken)
    }

    fn push(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let before = self.output.len();
        for slice in slices {
            self.output.extend_from_slice(slice);
        }
        Ok(self.output.len() - before)
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
                let send = |raw| {
                    // SAFETY: the session is alive, and the library copies the data into records.
                    unsafe { ffi::gnutls_record_send(raw, rest.as_ptr().cast(), rest.len()) }
                };
                match session.call(send)? {
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
        negotiated(self.0.raw())
    }

    fn resumed(&self) -> bool {
        is_resumed(self.0.raw())
    }
}

/// Reads all available data, and returns their length.
fn receive(session: &mut Session<Pipe>, plaintext: &mut [u8]) -> io::Result<usize> {
    let mut received = 0;
    let (start, bytes) = (plaintext.as_mut_ptr(), plaintext.len());
    // SAFETY: the session is alive.
    let pending = |raw| unsafe { ffi::gnutls_record_check_pending(raw) };
    while session.transport().has_input() || pending(session.raw()) > 0 {
        // SAFETY: the session is alive, and the plaintext has room for as many bytes.
        let read = |raw| unsafe { ffi::gnutls_record_recv(raw, start.cast(), bytes) };
        match session.call(read)? {
            Poll::Ready(0) | Poll::Pending => break,
            Poll::Ready(count) => received += count,
        }
    }
    Ok(received)
}

/// A verifier of one server's chains.
struct ChainsOfHost {
    trust: TrustList,
    host: CString,
}

impl Verifier for ChainsOfHost {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        let verified = self.trust.verify(chain, &self.host);
        verified.map_err(|(_, words)| SessionError::new(FailureWord::Verify, words))
    }
}
