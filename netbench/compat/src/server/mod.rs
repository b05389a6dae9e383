//! A TLS server that follows a case, right or wrong. It has one thread, and serves one connection after another.
//!
//! It has no secret to keep: keys are in the source, nonces and salts may repeat.

mod compression;
pub(crate) mod ech;
mod exchange;
mod hashing;
mod hello;
mod http;
mod protection12;
mod served;
mod tls12;
mod tls13;
mod wire;

use std::{
    io,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use aws_lc_rs::rand;
use jiff::Timestamp;
use netbench_model::{Alert, SignatureScheme, TlsVersion};
use netbench_scan::codec::{Reader, extension, list16, put_vec24};

pub use self::{compression::Unsuited, ech::EchViolation, http::BODY, served::Served};
use self::{
    ech::{Accepted, EchOutcome, EchServer},
    hello::{Hello, alert},
    http::{Request, Status},
    tls12::Session12,
    tls13::{Received, Session13},
    wire::{Broken, Wire, content},
};
use crate::{
    case::{AtHello, Case, ClientCertificate, End, Response, ServerSpec},
    certificates::{Chain, ChainError, ChainSpec, pem},
    client::ClientFile,
};

/// The interval at which the server checks whether it should end.
const LOOK: Duration = Duration::from_millis(2);

/// A server that can be started.
pub struct Server {
    spec: ServerSpec,
    /// The source of the certificate that its client shows.
    client_file: Option<ClientFile>,
    /// Its configurations of Encrypted ClientHello, if it knows the extension.
    ech: Option<EchServer>,
    chain: Chain,
    roots_pem: String,
    caching: Caching,
}

/// Whether a client may keep the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caching {
    /// The response does not state it.
    NotTold,
    /// The client may keep it, for longer than any run takes.
    Allowed,
}

/// An error of a case whose server cannot be made: its description is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct ServerError(#[from] ChainError);

impl Case {
    /// Returns the server of this case, with certificates as of `now`.
    ///
    /// # Errors
    /// Returns an error if a certificate is named and not described, or if a key cannot sign with the given hash.
    pub fn server(&self, now: Timestamp) -> Result<Server, ServerError> {
        let chain = ChainSpec {
            host: &self.spec.host,
            unit: Some(&self.record.name),
            certificates: &self.spec.certificates,
            sent: &self.spec.sent,
            trusted: &self.spec.trusted,
            staple: self.spec.server.staple,
            crls: &[],
        };
        let chain = chain.make(now)?;
        Ok(Server {
            spec: self.spec.server.clone(),
            client_file: self.spec.client.certificate,
            ech: self
                .spec
                .server
                .ech
                .as_ref()
                .map(|spec| EchServer::new(spec, &self.spec.client, &self.spec.host)),
            roots_pem: chain.roots.iter().map(|der| pem(der)).collect(),
            chain,
            caching: Caching::NotTold,
        })
    }
}

impl Server {
    /// Returns the trusted roots of its clients, as PEM.
    pub fn roots_pem(&self) -> &str {
        &self.roots_pem
    }

    /// Makes its responses permit a client to keep them.
    #[must_use]
    pub fn cacheable(self) -> Self {
        Self {
            caching: Caching::Allowed,
            ..self
        }
    }

    /// Listens on this machine's loopback, and serves each connection for as long as `limit`.
    ///
    /// # Errors
    /// Returns an error if no port or no thread is available.
    pub fn start(self, limit: Duration) -> io::Result<Running> {
        self.start_at(0, limit)
    }

    /// Does the same as [`Self::start`], at this port; 0 is any free port.
    ///
    /// # Errors
    /// Returns an error if the port or a thread is not available.
    pub fn start_at(self, port: u16, limit: Duration) -> io::Result<Running> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread =
            thread::Builder::new().spawn(move || self.serve_each(&listener, &of_thread, limit))?;
        Ok(Running {
            address,
            shared,
            thread: Some(thread),
        })
    }

    /// Serves one connection after another, until the server is asked to end.
    fn serve_each(&self, listener: &TcpListener, shared: &Shared, limit: Duration) {
        while !shared.over.load(Ordering::Relaxed) {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(LOOK);
                continue;
            };
            *locked(&shared.current) = stream.try_clone().ok();
            // The server was asked to end before there was a connection.
            if shared.over.load(Ordering::Relaxed) {
                return;
            }
            shared.accepted.fetch_add(1, Ordering::Relaxed);
            let seen = self.connection(stream, limit);
            // The client sees the end when the last handle of the connection is dropped.
            *locked(&shared.current) = None;
            locked(&shared.served).push(seen);
        }
    }

    fn connection(&self, stream: TcpStream, limit: Duration) -> Served {
        let mut served = Served::default();
        let ended = Wire::new(stream, limit, self.spec.write_bytes)
            .and_then(|mut wire| self.serve(&mut wire, &mut served));
        match ended {
            Err(Broken::Alert(description)) => served.alert = Some(Alert(description)),
            Err(Broken::Cannot(why)) => served.cannot = Some(why),
            _ => {}
        }
        served
    }

    fn serve(&self, wire: &mut Wire, served: &mut Served) -> Result<(), Broken> {
        let hello = Hello::read(wire)?;
        served.has_hello = true;
        let outer = match &self.ech {
            Some(ech) => ech.received(hello)?,
            None => hello,
        };
        served.is_offered_ech = ech::is_offered(&outer);
        served.outer_name = outer.offer.server_name();
        if let Some(done) = self.at_hello(wire, &outer) {
            return Err(done);
        }
        if let Some(description) = self.spec.warns {
            wire.send_plain(content::ALERT, &[1, description])?;
        }
        let accepted = self.decrypted(&outer, served);
        let accepted = accepted.map_err(|broken| wire.refuse(broken))?;
        let ech = EchOutcome::of(&outer, accepted.as_ref());
        let hello = accepted.as_ref().map_or(&outer, |accepted| &accepted.inner);
        served.is_shown_ticket = hello.extension(extension::PRE_SHARED_KEY).is_some();
        served.is_offered_early_data = hello.extension(extension::EARLY_DATA).is_some();
        if let Some(spec) = self.spec.compression {
            served.unsuited = compression::choose(spec.algorithm, hello).err();
        }
        let status = if self.spec.forbids_without_grease && !hello.has_grease() {
            Status::Forbidden
        } else {
            Status::Ok
        };
        match hello.version(&self.spec) {
            Err(broken) => Err(wire.refuse(broken)),
            Ok(TlsVersion::Tls13) => {
                let hello = Received {
                    outer,
                    accepted,
                    ech,
                };
                let (mut session, alpn) = Session13::handshake(wire, self, hello, served)?;
                session.update_keys(self.spec.key_updates)?;
                self.converse(&mut session, alpn.as_deref(), status, served)
            }
            Ok(version) => {
                let mut session = Session12::new(wire, version);
                let alpn = session.handshake(self, hello, served)?;
                self.converse(&mut session, alpn.as_deref(), status, served)
            }
        }
    }

    /// Decrypts a hello, if the server has a configuration that fits.
    fn decrypted(&self, outer: &Hello, served: &mut Served) -> Result<Option<Accepted>, Broken> {
        let Some(ech) = &self.ech else {
            return Ok(None);
        };
        if ech.is_unsuited(outer) {
            served.unsuited = Some(Unsuited::Ech);
            return Ok(None);
        }
        ech.open(outer).map_err(|violation| {
            served.ech_violation = Some(violation);
            violation.refused()
        })
    }

    /// Performs the server's reaction in place of a response, if there is one.
    fn at_hello(&self, wire: &mut Wire, hello: &Hello) -> Option<Broken> {
        let at = self.spec.at_hello?;
        let over = self.spec.at_hello_over_bytes;
        let with = self.spec.at_hello_with_extension;
        if over.is_some_and(|bytes| hello.offer.wire_bytes <= bytes)
            || with.is_some_and(|number| hello.extension(number).is_none())
        {
            return None;
        }
        match at {
            AtHello::Stall => wire.stall(),
            AtHello::Reset => wire.reset(),
            AtHello::Close => wire.end(),
            AtHello::Alert(description) => return Some(wire.refuse(Broken::Refused(description))),
        }
        Some(Broken::Done)
    }

    /// Reads a request and answers it.
    fn converse(
        &self,
        session: &mut impl Session,
        alpn: Option<&str>,
        status: Status,
        served: &mut Served,
    ) -> Result<(), Broken> {
        let is_h2 = alpn == Some("h2");
        let mut request = Request::default();
        while !request.take(&session.data()?, is_h2)? {}
        if self.spec.renegotiates {
            session.renegotiate(self, served)?;
        }
        let status = match (self.spec.response, is_h2) {
            (Response::Upgrade, false) if request.wants_upgrade() => Status::Switching,
            (Response::Upgrade, _) => Status::BadRequest,
            _ => status,
        };
        let response = request.response(is_h2, status, self.spec.response, self.caching);
        session.send(content::APPLICATION_DATA, &response)?;
        served.http_status = Some(status.code());
        served.is_switched = status == Status::Switching;
        if self.spec.end == End::CloseNotify {
            session.alert(0)?;
        }
        session.wire().end();
        session.wire().drain();
        Ok(())
    }
}

/// A connection after its handshake.
trait Session {
    /// Receives the next bytes of the application.
    fn data(&mut self) -> Result<Vec<u8>, Broken>;

    /// Sends bytes of this content type.
    fn send(&mut self, kind: u8, bytes: &[u8]) -> Result<(), Broken>;

    /// Requests a new handshake from the client, and performs it.
    fn renegotiate(&mut self, server: &Server, served: &mut Served) -> Result<(), Broken>;

    fn wire(&mut self) -> &mut Wire;

    /// Sends an alert; 0 is close_notify.
    fn alert(&mut self, description: u8) -> Result<(), Broken> {
        let level = if description == 0 { 1 } else { 2 };
        self.send(content::ALERT, &[level, description])
    }

    /// Sends the alert of a server that refuses, and waits until the client has read it.
    fn refuse(&mut self, broken: Broken) -> Broken {
        let Broken::Refused(description) = broken else {
            return broken;
        };
        let _ = self.alert(description);
        self.wire().end();
        self.wire().drain();
        Broken::Done
    }
}

/// A running server, which ends when this value is ended or dropped.
pub struct Running {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The state that a running server shares with its thread.
#[derive(Default)]
struct Shared {
    over: AtomicBool,
    served: Mutex<Vec<Served>>,
    accepted: AtomicUsize,
    /// The connection in progress.
    current: Mutex<Option<TcpStream>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Returns its listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how many connections it has accepted so far.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// Ends the server, and returns its view of the last connection.
    pub fn end(self) -> Served {
        self.end_each().pop().unwrap_or_default()
    }

    /// Ends the server, and returns its view of all connections together. Browsers make several.
    pub fn end_all(self) -> Served {
        Served::all(self.end_each())
    }

    /// Ends the server, and returns its view of each connection, in the order in which they were accepted.
    pub fn end_each(mut self) -> Vec<Served> {
        self.stop();
        std::mem::take(&mut *locked(&self.shared.served))
    }

    fn stop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // A client that is done may leave a connection open. Data that it has sent is still read.
        if let Some(stream) = &*locked(&self.shared.current) {
            let _ = stream.shutdown(Shutdown::Read);
        }
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, its views remain as they were.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the server's random, which ends with the sign of a downgrade if that is requested (RFC 8446 section
/// 4.1.3).
fn random(is_downgrade: bool) -> Result<[u8; 32], Broken> {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).map_err(|_| Broken::Cannot("no random bytes".to_owned()))?;
    if is_downgrade {
        bytes[24..].copy_from_slice(b"DOWNGRD\x01");
    }
    Ok(bytes)
}

/// Returns a CertificateStatus message (RFC 6066 section 8).
fn status(response: &[u8]) -> Vec<u8> {
    let mut body = vec![1];
    put_vec24(&mut body, response);
    body
}

/// The client's proof of identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    /// A certificate, without proof of its key.
    Certificate,
    /// The certificate that it was given, with proof of its key.
    Proven,
}

impl Shown {
    /// Processes the list of a Certificate message (in TLS 1.3, the part after its context).
    fn certificate(server: &Server, list: &[u8]) -> Result<Self, Broken> {
        let mut list = Reader::new(list);
        let mut entries = Reader::new(list.vec24().ok_or(Broken::Unreadable)?);
        let Some(leaf) = entries.vec24() else {
            return Ok(Self::Nothing);
        };
        match server.client_file {
            Some(file) if file.certificate() == leaf => Ok(Self::Certificate),
            _ => Err(Broken::Refused(alert::BAD_CERTIFICATE)),
        }
    }

    /// Processes a CertificateVerify message, which must sign `message`.
    fn verify(self, server: &Server, body: &[u8], message: &[u8]) -> Result<Self, Broken> {
        let mut reader = Reader::new(body);
        let scheme = reader.u16().map(SignatureScheme);
        let (Some(scheme), Some(signature)) = (scheme, reader.vec16()) else {
            return Err(Broken::Unreadable);
        };
        match (self, server.client_file) {
            (Self::Certificate, Some(file)) if file.has_signed(scheme, message, signature) => {
                Ok(Self::Proven)
            }
            _ => Err(Broken::Refused(alert::DECRYPT_ERROR)),
        }
    }

    /// Refuses with `none` if a certificate is required and there is none.
    fn suffices(self, server: &Server, none: u8) -> Result<(), Broken> {
        match (self, server.spec.client_certificate) {
            (Self::Certificate, _) => Err(Broken::Refused(alert::DECRYPT_ERROR)),
            (Self::Nothing, ClientCertificate::Required) => Err(Broken::Refused(none)),
            // A client that has a certificate shows it (RFC 8446 section 4.4.2): without it, the case is
            // inconclusive.
            (Self::Nothing, ClientCertificate::Asked) if server.client_file.is_some() => Err(
                Broken::Cannot("the client showed no certificate".to_owned()),
            ),
            _ => Ok(()),
        }
    }
}

/// Returns the list of signature schemes that a client's certificate may have.
fn client_schemes() -> Vec<u8> {
    list16(SignatureScheme::OFFERED.iter().map(|scheme| scheme.0))
}
