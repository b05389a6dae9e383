//! Sessions over plain buffers.

use std::{
    any::Any,
    ffi::{c_int, c_void},
    path::Path,
    ptr,
    task::Poll,
};

use errno::{Errno, set_errno};
use netbench_tls::{ClientAuth, FailureWord, HandshakeKind, Negotiated, TlsVersion};
use netbench_worker::{
    Endpoint, EndpointSetup, EndpointSide, HandshakeState, InMemory, Session, SessionError,
    SetupError, TICKETS, TrustRoots, Verifier,
};
use s2n_tls::{
    callbacks::VerifyHostNameCallback,
    config::{Builder, Config},
    connection::{Builder as _, Connection},
    enums::{ClientAuthType, Mode},
    error::Error,
};

use crate::{
    client::{trust, without_delays},
    ffi::{self, SecurityPolicy},
    negotiated::negotiated,
    policy::Settings,
    stack::S2n,
    tickets::{Tickets, seal},
};

impl InMemory for S2n {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        supported(setup)?;
        match setup.side {
            EndpointSide::Client => client(setup),
            EndpointSide::Server => server(setup),
        }
    }

    fn verifier(&self, _: &str, _: &str) -> Result<Box<dyn Verifier>, SetupError> {
        unsupported("s2n-tls verifies chains in handshakes alone")
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let mut config = without_delays(Builder::new())?;
        match roots {
            TrustRoots::Pem(text) => trust(&mut config, text)?,
            TrustRoots::Der(_) => return unsupported("s2n-tls takes trust roots in PEM alone"),
            TrustRoots::File(path) => config
                .trust_location(Some(Path::new(path)), None)
                .map(drop)
                .map_err(|e| SetupError::refused("roots", e))?,
        }
        Ok(Box::new(build(config)?))
    }
}

fn supported(setup: &EndpointSetup<'_>) -> Result<(), SetupError> {
    match (setup.kind, setup.settings.client_auth) {
        (HandshakeKind::SessionId, _) => {
            unsupported("the crate s2n-tls has no sessions that a server keeps, only tickets")
        }
        (HandshakeKind::Ticket, ClientAuth::On) => {
            unsupported("s2n-tls resumes no session with client authentication")
        }
        // Otherwise, a key that the library does not support would be refused as an invalid certificate.
        _ => policy(setup).map(drop),
    }
}

fn unsupported<T>(why: &str) -> Result<T, SetupError> {
    Err(SetupError::Unsupported(why.to_owned()))
}

fn build(config: Builder) -> Result<Config, SetupError> {
    config
        .build()
        .map_err(|e| SetupError::refused("configuration", e))
}

fn client(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let mut config = both_sides(setup)?;
    trust(&mut config, &material.roots_pem)?;
    if setup.settings.client_auth == ClientAuth::On {
        let (chain, key) = (&material.client_chain_pem, &material.client_key_pem);
        identity(&mut config, chain, key)?;
    }
    let tickets = Tickets::default();
    if setup.kind == HandshakeKind::Ticket {
        config
            .set_session_ticket_callback(tickets.clone())
            .map_err(|e| SetupError::refused("tickets", e))?;
    }
    Ok(Box::new(Client {
        config: held(setup, config)?,
        host: material.host.clone(),
        tickets,
    }))
}

fn server(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let mut config = both_sides(setup)?;
    identity(&mut config, &material.chain_pem, &material.key_pem)?;
    if setup.settings.client_auth == ClientAuth::On {
        trust(&mut config, &material.roots_pem)?;
        config
            .set_verify_host_callback(AnyName)
            .and_then(Builder::set_certificate_authorities_from_trust_store)
            .map_err(|e| SetupError::refused("client authentication", e))?;
    }
    let resumes = setup.kind == HandshakeKind::Ticket;
    if resumes {
        seal(&mut config)?;
    }
    let config = held(setup, config)?;
    let is_tls13 = setup.settings.version == TlsVersion::Tls13;
    if resumes && is_tls13 {
        ffi::set_tickets(&config, u8::try_from(TICKETS).unwrap_or(u8::MAX))?;
    }
    Ok(Box::new(Server {
        config,
        after: if resumes && is_tls13 {
            AfterHandshake::Tickets
        } else {
            AfterHandshake::Nothing
        },
    }))
}

/// Makes the common part of both sides' configuration.
fn both_sides(setup: &EndpointSetup<'_>) -> Result<Builder, SetupError> {
    let mut config = without_delays(Builder::new())?;
    let auth = match setup.settings.client_auth {
        ClientAuth::Off => ClientAuthType::None,
        ClientAuth::On => ClientAuthType::Required,
    };
    config
        .set_client_auth_type(auth)
        .map_err(|e| SetupError::refused("client authentication", e))?;
    if let Some(bytes) = setup.max_fragment_bytes {
        limit_records(&mut config, bytes)?;
    }
    Ok(config)
}

#[cfg(not(feature = "before-0-3-47"))]
fn limit_records(config: &mut Builder, bytes: u16) -> Result<(), SetupError> {
    config
        .set_max_fragment_length(bytes)
        .map(drop)
        .map_err(|e| SetupError::refused("maximum fragment", e))
}

#[cfg(feature = "before-0-3-47")]
fn limit_records(_: &mut Builder, _: u16) -> Result<(), SetupError> {
    Err(SetupError::Unsupported(
        "this version of s2n-tls cannot be told how long records may be".to_owned(),
    ))
}

/// Returns the configuration, restricted to the version, suite, group and schemes of the settings.
fn held(setup: &EndpointSetup<'_>, config: Builder) -> Result<Config, SetupError> {
    let config = build(config)?;
    ffi::set_policy(&config, policy(setup)?)?;
    Ok(config)
}

fn policy(setup: &EndpointSetup<'_>) -> Result<&'static SecurityPolicy, SetupError> {
    let settings = setup.settings;
    let policy = Settings {
        versions: vec![settings.version],
        suites: vec![settings.suite()],
        groups: settings.groups(),
        signatures: settings.signatures().to_vec(),
    };
    policy.policy()
}

fn identity(config: &mut Builder, chain_pem: &str, key_pem: &str) -> Result<(), SetupError> {
    config
        .load_pem(chain_pem.as_bytes(), key_pem.as_bytes())
        .map(drop)
        .map_err(|e| SetupError::refused("chain and key", e))
}

/// A callback that accepts every name: as in other servers, the names in clients' certificates are not
/// checked.
struct AnyName;

impl VerifyHostNameCallback for AnyName {
    fn verify_host_name(&self, _: &str) -> bool {
        true
    }
}

struct Client {
    config: Config,
    host: String,
    tickets: Tickets,
}

impl Endpoint for Client {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        let new = || {
            let mut connection = self.config.build_connection(Mode::Client)?;
            connection.set_server_name(&self.host)?;
            self.tickets.resume(&mut connection)?;
            Piped::new(connection, AfterHandshake::Nothing)
        };
        Ok(Box::new(
            new().map_err(|e| SessionError::new(FailureWord::Session, e))?,
        ))
    }
}

struct Server {
    config: Config,
    after: AfterHandshake,
}

impl Endpoint for Server {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        let connection = self.config.build_connection(Mode::Server);
        let made = connection.and_then(|connection| Piped::new(connection, self.after));
        Ok(Box::new(
            made.map_err(|e| SessionError::new(FailureWord::Session, e))?,
        ))
    }
}

/// The messages that a side sends after its handshake: by default, the library delays tickets until there are
/// data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterHandshake {
    Nothing,
    Tickets,
}

/// A connection whose transport is two buffers.
struct Piped {
    connection: Connection,
    after: AfterHandshake,
}

/// The buffers of one call.
struct Pipe<'a> {
    input: &'a [u8],
    output: &'a mut Vec<u8>,
}

/// Passes the available data to the library; without any, the library waits.
unsafe extern "C" fn receive(pipe: *mut c_void, buffer: *mut u8, bytes: u32) -> c_int {
    // SAFETY: the context is the pipe of the current call.
    let pipe = unsafe { &mut *pipe.cast::<Pipe<'_>>() };
    let taken = pipe.input.len().min(bytes as usize);
    if taken == 0 {
        set_errno(Errno(libc::EWOULDBLOCK));
        return -1;
    }
    let (now, later) = pipe.input.split_at(taken);
    // SAFETY: the library's buffer has `bytes` bytes.
    unsafe { ptr::copy_nonoverlapping(now.as_ptr(), buffer, taken) };
    pipe.input = later;
    c_int::try_from(taken).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn send(pipe: *mut c_void, data: *const u8, bytes: u32) -> c_int {
    // SAFETY: the context is the pipe of the current call.
    let pipe = unsafe { &mut *pipe.cast::<Pipe<'_>>() };
    // SAFETY: the library's data has `bytes` bytes.
    let data = unsafe { std::slice::from_raw_parts(data, bytes as usize) };
    pipe.output.extend_from_slice(data);
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

impl Piped {
    fn new(mut connection: Connection, after: AfterHandshake) -> Result<Self, Error> {
        connection
            .set_receive_callback(Some(receive))?
            .set_send_callback(Some(send))?;
        Ok(Self { connection, after })
    }

    /// Runs an operation with `input` and `output` as the transport's buffers.
    fn with_buffers<T>(
        &mut self,
        what: FailureWord,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
        work: impl FnOnce(&mut Connection, &dyn Fn() -> bool) -> Result<T, Error>,
    ) -> Result<T, SessionError> {
        let mut pipe = Pipe { input, output };
        let pipe = &raw mut pipe;
        // SAFETY: the pipe outlives the work, and no other code uses it meanwhile.
        let more = || !unsafe { &*pipe }.input.is_empty();
        // SAFETY: the library uses the pipe only in `work`; the contexts are reset afterwards.
        let result = unsafe {
            self.connection
                .set_receive_context(pipe.cast())
                .and_then(|connection| connection.set_send_context(pipe.cast()))
                .map(drop)
                .and_then(|()| work(&mut self.connection, &more))
        };
        // SAFETY: as above.
        let taken_away = unsafe {
            self.connection
                .set_receive_context(ptr::null_mut())
                .and_then(|connection| connection.set_send_context(ptr::null_mut()))
                .map(drop)
        };
        let left = more();
        input.clear();
        let value = result.and_then(|value| taken_away.map(|()| value));
        match value {
            Ok(_) if left => Err(SessionError::new(what, "not all was read")),
            value => value.map_err(|e| SessionError::new(what, e)),
        }
    }
}

impl Session for Piped {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        let after = self.after;
        self.with_buffers(
            FailureWord::Handshake,
            input,
            output,
            |connection, _| match connection.poll_negotiate() {
                Poll::Ready(Ok(connection)) => {
                    if after == AfterHandshake::Tickets {
                        ffi::send_tickets(connection)?;
                    }
                    Ok(HandshakeState::Done)
                }
                Poll::Ready(Err(error)) => Err(error),
                Poll::Pending => Ok(HandshakeState::Going),
            },
        )
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        let (none, send) = (&mut Vec::new(), FailureWord::Send);
        self.with_buffers(send, none, output, |connection, _| {
            let mut rest = plaintext;
            while !rest.is_empty()
                && let Poll::Ready(sent) = connection.poll_send(rest)
            {
                rest = &rest[sent?..];
            }
            Ok(())
        })
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        let (none, receive) = (&mut Vec::new(), FailureWord::Receive);
        self.with_buffers(receive, input, none, |connection, more| {
            let mut received = 0;
            while more() || connection.peek_len() > 0 {
                match connection.poll_recv(plaintext) {
                    Poll::Ready(Ok(0)) | Poll::Pending => break,
                    Poll::Ready(Ok(read)) => received += read,
                    Poll::Ready(Err(error)) => return Err(error),
                }
            }
            Ok(received)
        })
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(&self.connection)
    }

    fn resumed(&self) -> bool {
        self.connection.resumed()
    }
}
