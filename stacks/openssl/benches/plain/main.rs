//! Compares the suite with a plain program that does the same work with only OpenSSL: `cargo bench -p
//! netbench-stack-openssl`. netbench_worker_test::plain describes the comparison.
//!
//! The plain program is written as by users of the openssl crate: two `SslStream`s joined by a buffer for
//! each direction, or, where they are only held, by sockets, as those use no memory of the process. Its timed
//! parts contain no code of netbench, so that the ratio is the overhead of the harness.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

mod alone;

use std::{
    cell::RefCell,
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    rc::Rc,
    time::{Duration, Instant},
};

use netbench_lab::SUITE_HOST;
use netbench_tls::{Aead, HandshakeKind, HeldAfter, KeyType, SessionSettings, TlsVersion};
use netbench_worker_test::plain::{self, material_of, resident_bytes};
use openssl::{
    pkey::PKey,
    ssl::{
        ErrorCode, ShutdownState, Ssl, SslContext, SslContextBuilder, SslMethod, SslOptions,
        SslSession, SslSessionCacheMode, SslStream, SslVerifyMode, SslVersion,
    },
    x509::X509,
};

use alone::{Signing, Verifier, store};

fn main() {
    let worker = Path::new(env!("CARGO_BIN_EXE_netbench-worker-openssl"));
    plain::run::<OpenSsl>(worker, "openssl");
}

/// OpenSSL.
struct OpenSsl;

impl plain::Library for OpenSsl {
    /// Each has a socket, and processes may have 1,024 files.
    const SESSIONS: u32 = 800;

    fn handshake(
        settings: &SessionSettings,
        kind: HandshakeKind,
    ) -> impl FnMut() -> ([u64; 2], bool) {
        let plain = Plain::new(settings, kind);
        move || {
            let pair = plain.connect();
            (pair.times.map(ns), pair.resumed())
        }
    }

    fn burst(settings: &SessionSettings, bytes: usize) -> impl FnMut() -> [u64; 2] {
        let mut pair = Plain::new(settings, HandshakeKind::Full).connect();
        let (write, mut read) = (vec![7; bytes], vec![0; 16 << 10]);
        move || pair.burst(&write, &mut read).map(ns)
    }

    fn verification(key: KeyType) -> impl FnMut() {
        let verifier = Verifier::new(key);
        move || verifier.verify()
    }

    fn signing(key: KeyType) -> impl plain::Signing {
        Signing::new(key)
    }

    fn held(version: TlsVersion, after: HeldAfter) -> f64 {
        Plain::holding(version, after).held(after)
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap()
}

/// Two contexts, made as in a program without netbench, and the client's sessions.
struct Plain {
    client: SslContext,
    server: SslContext,
    version: TlsVersion,
    kept: Rc<RefCell<Vec<SslSession>>>,
    wires: [Rc<RefCell<Wire>>; 2],
}

/// Bytes in transit in one direction.
#[derive(Default)]
struct Wire {
    bytes: Vec<u8>,
    read: usize,
}

/// One side's transport.
struct Pipe {
    input: Rc<RefCell<Wire>>,
    output: Rc<RefCell<Wire>>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wire = &mut *self.input.borrow_mut();
        let rest = &wire.bytes[wire.read..];
        let taken = rest.len().min(buffer.len());
        if taken == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        buffer[..taken].copy_from_slice(&rest[..taken]);
        wire.read += taken;
        if wire.read == wire.bytes.len() {
            wire.bytes.clear();
            wire.read = 0;
        }
        Ok(taken)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.borrow_mut().bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Two sides of a session, and each side's time for the handshake.
struct Pair<S: Read + Write> {
    client: SslStream<S>,
    server: SslStream<S>,
    times: [Duration; 2],
}

fn context(method: SslMethod, settings: &SessionSettings) -> SslContextBuilder {
    let mut context = SslContext::builder(method).unwrap();
    let (version, ciphersuites) = match settings.version {
        TlsVersion::Tls13 => (SslVersion::TLS1_3, "TLS_AES_256_GCM_SHA384"),
        _ => (SslVersion::TLS1_2, ""),
    };
    context.set_min_proto_version(Some(version)).unwrap();
    context.set_max_proto_version(Some(version)).unwrap();
    context.set_ciphersuites(ciphersuites).unwrap();
    // In TLS 1.3, the harness does not change the library's list of older suites, which costs a client 3 µs.
    if version == SslVersion::TLS1_2 {
        context
            .set_cipher_list("ECDHE-RSA-AES256-GCM-SHA384")
            .unwrap();
    }
    let schemes = match settings.key {
        KeyType::MlDsa44 => "mldsa44",
        KeyType::MlDsa65 => "mldsa65",
        KeyType::MlDsa87 => "mldsa87",
        _ => "rsa_pss_rsae_sha256:rsa_pkcs1_sha256",
    };
    context.set_sigalgs_list(schemes).unwrap();
    context.set_groups_list("X25519").unwrap();
    context.set_options(SslOptions::NO_COMPRESSION);
    context
}

impl Plain {
    fn new(settings: &SessionSettings, kind: HandshakeKind) -> Self {
        let resumes = kind != HandshakeKind::Full;
        Self::with(settings, resumes, resumes)
    }

    /// Two contexts for sessions that are held in this state: the client keeps none, and each begins with a full handshake.
    fn holding(version: TlsVersion, after: HeldAfter) -> Self {
        let settings = SessionSettings::usual(version, KeyType::Rsa2048, Aead::Aes256Gcm);
        Self::with(&settings, false, after.has_tickets(version))
    }

    fn with(settings: &SessionSettings, resumes: bool, gives_tickets: bool) -> Self {
        let material = material_of(settings);
        let mut client = context(SslMethod::tls_client(), settings);
        client.set_verify(SslVerifyMode::PEER);
        client.set_cert_store(store(&material).build());
        client.set_session_cache_mode(SslSessionCacheMode::OFF);
        let kept = Rc::new(RefCell::new(Vec::new()));
        if resumes {
            client.set_session_cache_mode(
                SslSessionCacheMode::CLIENT | SslSessionCacheMode::NO_INTERNAL,
            );
            client.set_new_session_callback({
                let kept = Keep(Rc::clone(&kept));
                move |_, session| kept.keep(session)
            });
        }
        let mut server = context(SslMethod::tls_server(), settings);
        let mut chain = X509::stack_from_pem(material.chain_pem.as_bytes())
            .unwrap()
            .into_iter();
        server.set_certificate(&chain.next().unwrap()).unwrap();
        chain.for_each(|above| server.add_extra_chain_cert(above).unwrap());
        let key = PKey::private_key_from_pem(material.key_pem.as_bytes()).unwrap();
        server.set_private_key(&key).unwrap();
        server.set_session_id_context(b"plain").unwrap();
        server.set_session_cache_mode(SslSessionCacheMode::OFF);
        server
            .set_num_tickets(if gives_tickets { 2 } else { 0 })
            .unwrap();
        if !gives_tickets {
            server.set_options(SslOptions::NO_TICKET);
        }
        Self {
            client: client.build(),
            server: server.build(),
            version: settings.version,
            kept,
            wires: Default::default(),
        }
    }

    fn client(&self) -> Ssl {
        let mut client = Ssl::new(&self.client).unwrap();
        client.set_hostname(SUITE_HOST).unwrap();
        client.param_mut().set_host(SUITE_HOST).unwrap();
        let mut kept = self.kept.borrow_mut();
        let session = match self.version {
            // A ticket of TLS 1.3 is for one use.
            TlsVersion::Tls13 => kept.pop(),
            _ => kept.last().cloned(),
        };
        drop(kept);
        if let Some(session) = session {
            // SAFETY: the session comes from a connection of this context.
            unsafe { client.set_session(&session).unwrap() };
        }
        client.set_connect_state();
        client
    }

    fn server(&self) -> Ssl {
        let mut server = Ssl::new(&self.server).unwrap();
        server.set_accept_state();
        server
    }

    fn connect(&self) -> Pair<Pipe> {
        for wire in &self.wires {
            let mut wire = wire.borrow_mut();
            wire.bytes.clear();
            wire.read = 0;
        }
        let [to_server, to_client] = &self.wires;
        let pipe = |input: &Rc<_>, output: &Rc<_>| Pipe {
            input: Rc::clone(input),
            output: Rc::clone(output),
        };
        let mut times = [Duration::ZERO; 2];
        let begun = Instant::now();
        let mut client = SslStream::new(self.client(), pipe(to_client, to_server)).unwrap();
        let mut done = [step(&mut client), false];
        times[0] += begun.elapsed();
        let begun = Instant::now();
        let mut server = SslStream::new(self.server(), pipe(to_server, to_client)).unwrap();
        done[1] = step(&mut server);
        times[1] += begun.elapsed();
        while done != [true; 2] {
            let begun = Instant::now();
            done[0] = step(&mut client);
            times[0] += begun.elapsed();
            if !done[1] {
                let begun = Instant::now();
                done[1] = step(&mut server);
                times[1] += begun.elapsed();
            }
        }
        if !to_client.borrow().bytes.is_empty() {
            let begun = Instant::now();
            tickets(&mut client);
            times[0] += begun.elapsed();
        }
        Pair {
            client,
            server,
            times,
        }
    }

    /// The bytes that each of many sessions adds to this process: one pair comes and goes, then all take their
    /// handshakes in lock step.
    fn held(&self, after: HeldAfter) -> f64 {
        drop(self.connect());
        let (data, mut read) = ([7; HeldAfter::DATA_BYTES], vec![1; HeldAfter::DATA_BYTES]);
        let before = resident_bytes();
        let mut pairs: Vec<Pair<UnixStream>> = (0..<OpenSsl as plain::Library>::SESSIONS / 2)
            .map(|_| {
                let (client, server) = UnixStream::pair().unwrap();
                for socket in [&client, &server] {
                    socket.set_nonblocking(true).unwrap();
                }
                Pair {
                    client: SslStream::new(self.client(), client).unwrap(),
                    server: SslStream::new(self.server(), server).unwrap(),
                    times: [Duration::ZERO; 2],
                }
            })
            .collect();
        loop {
            let clients = pairs
                .iter_mut()
                .filter_map(|pair| step(&mut pair.client).then_some(()));
            let clients = clients.count();
            let servers = pairs
                .iter_mut()
                .filter_map(|pair| step(&mut pair.server).then_some(()));
            if clients + servers.count() == 2 * pairs.len() {
                break;
            }
        }
        for pair in &mut pairs {
            tickets(&mut pair.client);
            if after == HeldAfter::Data {
                deliver(&mut pair.client, &mut pair.server, &data, &mut read);
                deliver(&mut pair.server, &mut pair.client, &data, &mut read);
            }
        }
        let grown = resident_bytes().saturating_sub(before);
        grown as f64 / f64::from(<OpenSsl as plain::Library>::SESSIONS)
    }
}

impl<S: Read + Write> Pair<S> {
    fn resumed(&self) -> bool {
        self.client.ssl().session_reused() && self.server.ssl().session_reused()
    }

    /// Returns the times of sending and receiving one write.
    fn burst(&mut self, write: &[u8], read: &mut [u8]) -> [Duration; 2] {
        let begun = Instant::now();
        let mut rest = write;
        while !rest.is_empty() {
            let taken = self.server.ssl_write(rest).unwrap();
            rest = &rest[taken..];
        }
        let sending = begun.elapsed();
        let begun = Instant::now();
        let mut received = 0;
        while received < write.len() {
            received += self.client.ssl_read(read).unwrap();
        }
        [sending, begun.elapsed()]
    }
}

impl<S: Read + Write> Drop for Pair<S> {
    /// Marks both sides as shut down: OpenSSL forgets the session of a connection that is freed without
    /// close_notify.
    fn drop(&mut self) {
        for side in [&mut self.client, &mut self.server] {
            side.set_shutdown(ShutdownState::SENT | ShutdownState::RECEIVED);
        }
    }
}

/// Continues a handshake; returns whether it is done.
fn step<S: Read + Write>(side: &mut SslStream<S>) -> bool {
    match side.do_handshake() {
        Ok(()) => true,
        Err(error) if error.code() == ErrorCode::WANT_READ => false,
        Err(error) => panic!("{error}"),
    }
}

/// Makes the client read the data after its handshake.
fn tickets<S: Read + Write>(client: &mut SslStream<S>) {
    let read = client.ssl_read(&mut [0; 64]);
    assert_eq!(read.unwrap_err().code(), ErrorCode::WANT_READ);
}

/// Sends data from one side to the other.
fn deliver<S: Read + Write>(
    from: &mut SslStream<S>,
    to: &mut SslStream<S>,
    data: &[u8],
    read: &mut [u8],
) {
    assert_eq!(from.ssl_write(data).unwrap(), data.len());
    let mut received = 0;
    while received < data.len() {
        received += to.ssl_read(&mut read[received..]).unwrap();
    }
    assert_eq!(read, data);
}

/// New sessions are given to the client on the thread that drives it.
struct Keep(Rc<RefCell<Vec<SslSession>>>);

// SAFETY: this program has one thread.
unsafe impl Send for Keep {}
// SAFETY: this program has one thread.
unsafe impl Sync for Keep {}

impl Keep {
    fn keep(&self, session: SslSession) {
        let mut kept = self.0.borrow_mut();
        if kept.len() == 8 {
            kept.remove(0);
        }
        kept.push(session);
    }
}
