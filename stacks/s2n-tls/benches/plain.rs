//! Compares the suite with a plain program that does the same work with only s2n-tls: `cargo bench -p
//! netbench-stack-s2n-tls`. netbench_worker_test::plain describes the comparison.
//!
//! The plain program drives the library as its own benchmarks do: two connections with a buffer for each
//! direction, which callbacks read and write. Its policies are the worker's, as the library has none with one
//! suite and group. Its timed parts contain no code of netbench, so that the ratio is the overhead of the
//! harness.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

#[expect(dead_code, reason = "it needs a part of it")]
#[path = "../src/ffi.rs"]
mod ffi;
#[expect(dead_code, reason = "its tests are not run here")]
#[path = "../src/policy.rs"]
mod policy;

use std::{
    cell::RefCell,
    env,
    ffi::{c_int, c_void},
    path::Path,
    process::Command,
    ptr,
    rc::Rc,
    sync::{Arc, Mutex},
    task::Poll,
    time::{Duration, Instant, SystemTime},
};

use errno::{Errno, set_errno};
use netbench_lab::SUITE_HOST;
use netbench_tls::{
    Aead, HandshakeKind, HeapState, HeldAfter, KeyType, Measure, Scenario, SessionSettings,
    TlsVersion, Work,
};
use netbench_worker_test::plain::{self, Harness, material, resident_bytes};
use s2n_tls::{
    callbacks::{SessionTicket, SessionTicketCallback},
    config::{Builder, Config},
    connection::{Builder as _, Connection},
    enums::Mode,
};

const WRITE: usize = 1 << 20;
const SESSIONS: u32 = 1_000;

/// The variable that makes this program print the memory of held sessions of a version, instead of its
/// comparisons.
const HOLD: &str = "NETBENCH_PLAIN_HOLD";

fn main() {
    if let Ok(version) = env::var(HOLD) {
        let plain = Plain::new(version.parse().unwrap(), HandshakeKind::Full);
        println!("{}", plain.held());
        return;
    }
    let worker = Path::new(env!("CARGO_BIN_EXE_netbench-worker-s2n-tls"));
    plain::compare(worker, "s2n-tls", timings, memory);
}

fn timings(harness: &Harness<'_>) {
    for (version, kind) in [
        (TlsVersion::Tls12, HandshakeKind::Full),
        (TlsVersion::Tls13, HandshakeKind::Full),
        (TlsVersion::Tls12, HandshakeKind::Ticket),
        (TlsVersion::Tls13, HandshakeKind::Ticket),
    ] {
        let scenario = Scenario::timed(Work::Handshake {
            kind,
            settings: settings(version),
        });
        let plain = Plain::new(version, kind);
        // The first handshake is full; it leaves the tickets by which the others resume.
        plain.connect();
        harness.take_turns(&scenario, [Measure::Client, Measure::Server], || {
            let pair = plain.connect();
            assert_eq!(pair.resumed(), kind != HandshakeKind::Full);
            pair.times.map(ns)
        });
    }
    let scenario = Scenario::timed(Work::Bulk {
        settings: settings(TlsVersion::Tls13),
        write_bytes: u32::try_from(WRITE).unwrap(),
        amount_bytes: 1_000_000_000,
        max_fragment_bytes: None,
        heap: HeapState::Settled,
    });
    let plain = Plain::new(TlsVersion::Tls13, HandshakeKind::Full);
    let (mut pair, write, mut read) = (plain.connect(), vec![7; WRITE], vec![0; 16 << 10]);
    harness.take_turns(&scenario, [Measure::Send, Measure::Receive], || {
        pair.burst(&write, &mut read).map(ns)
    });
}

fn memory(harness: &Harness<'_>) {
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        harness.compare_memory(version, SESSIONS, HeldAfter::Handshake, || {
            let this = env::current_exe().unwrap();
            let output = Command::new(this).env(HOLD, version.to_string()).output();
            let text = String::from_utf8(output.unwrap().stdout).unwrap();
            text.trim().parse().unwrap()
        });
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap()
}

fn settings(version: TlsVersion) -> SessionSettings {
    SessionSettings::usual(version, KeyType::Rsa2048, Aead::Aes256Gcm)
}

/// Two configurations, made as in a program without netbench, and the client's sessions.
struct Plain {
    client: Config,
    server: Config,
    kind: HandshakeKind,
    version: TlsVersion,
    kept: Kept,
    wires: [Rc<RefCell<Wire>>; 2],
}

/// Bytes in transit in one direction.
#[derive(Default)]
struct Wire {
    bytes: Vec<u8>,
    read: usize,
}

/// Two sides of a session with the wires between them, and each side's time for the handshake.
struct Pair {
    client: Connection,
    server: Connection,
    wires: [Rc<RefCell<Wire>>; 2],
    times: [Duration; 2],
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Vec<u8>>>>);

impl SessionTicketCallback for Kept {
    fn on_session_ticket(&self, _: &mut Connection, ticket: &SessionTicket) {
        let mut state = vec![0; ticket.len().unwrap()];
        ticket.data(&mut state).unwrap();
        let mut kept = self.0.lock().unwrap();
        if kept.len() == 8 {
            kept.remove(0);
        }
        kept.push(state);
    }
}

impl Plain {
    fn new(version: TlsVersion, kind: HandshakeKind) -> Self {
        let (material, kept) = (material(), Kept::default());
        let mut client = Builder::new();
        client.with_system_certs(false).unwrap();
        client.trust_pem(material.roots_pem.as_bytes()).unwrap();
        let mut server = Builder::new();
        server.with_system_certs(false).unwrap();
        let (chain, key) = (&material.chain_pem, &material.key_pem);
        server.load_pem(chain.as_bytes(), key.as_bytes()).unwrap();
        let resumes = kind != HandshakeKind::Full;
        if resumes {
            client.set_session_ticket_callback(kept.clone()).unwrap();
            let now = SystemTime::now();
            server
                .add_session_ticket_key(b"plain", &[7; 32], now)
                .unwrap();
        }
        let (client, server) = (client.build().unwrap(), server.build().unwrap());
        if resumes && version == TlsVersion::Tls13 {
            ffi::set_tickets(&server, 2).unwrap();
        }
        let policy = policy::policy((&settings(version)).into()).unwrap();
        for config in [&client, &server] {
            ffi::set_policy(config, policy).unwrap();
        }
        Self {
            client,
            server,
            kind,
            version,
            kept,
            wires: Default::default(),
        }
    }

    fn client(&self) -> Connection {
        let mut client = self.client.build_connection(Mode::Client).unwrap();
        client.set_server_name(SUITE_HOST).unwrap();
        let mut kept = self.kept.0.lock().unwrap();
        // A ticket of TLS 1.3 is for one use.
        let state = match self.version {
            TlsVersion::Tls13 => kept.pop(),
            _ => kept.last().cloned(),
        };
        drop(kept);
        if let Some(state) = state {
            client.set_session_ticket(&state).unwrap();
        }
        client
    }

    fn server(&self) -> Connection {
        self.server.build_connection(Mode::Server).unwrap()
    }

    fn connect(&self) -> Pair {
        for wire in &self.wires {
            let mut wire = wire.borrow_mut();
            wire.bytes.clear();
            wire.read = 0;
        }
        let [to_server, to_client] = &self.wires;
        let mut times = [Duration::ZERO; 2];
        let begun = Instant::now();
        let mut client = self.client();
        join(&mut client, to_client, to_server);
        let mut done = [step(&mut client), false];
        times[0] += begun.elapsed();
        let begun = Instant::now();
        let mut server = self.server();
        join(&mut server, to_server, to_client);
        done[1] = step(&mut server);
        times[1] += begun.elapsed();
        while done != [true; 2] {
            let begun = Instant::now();
            done[0] = step(&mut client);
            times[0] += begun.elapsed();
            if !done[1] {
                let begun = Instant::now();
                done[1] = step(&mut server);
                if done[1] && self.gives_tickets() {
                    ffi::send_tickets(&mut server).unwrap();
                }
                times[1] += begun.elapsed();
            }
        }
        if self.gives_tickets() {
            let begun = Instant::now();
            assert!(client.poll_recv(&mut [0; 64]).is_pending());
            times[0] += begun.elapsed();
        }
        Pair {
            client,
            server,
            wires: self.wires.clone(),
            times,
        }
    }

    fn gives_tickets(&self) -> bool {
        self.kind != HandshakeKind::Full && self.version == TlsVersion::Tls13
    }

    /// Returns the bytes that each of many sessions adds to this process: one pair is made and freed, then
    /// all make their handshakes in lock step.
    fn held(&self) -> f64 {
        drop(self.connect());
        let before = resident_bytes();
        let mut pairs: Vec<Pair> = (0..SESSIONS / 2)
            .map(|_| {
                let (mut client, mut server) = (self.client(), self.server());
                let wires: [Rc<RefCell<Wire>>; 2] = Default::default();
                let [to_server, to_client] = &wires;
                join(&mut client, to_client, to_server);
                join(&mut server, to_server, to_client);
                Pair {
                    client,
                    server,
                    wires,
                    times: [Duration::ZERO; 2],
                }
            })
            .collect();
        let mut going = true;
        while going {
            let mut done = 0;
            for pair in &mut pairs {
                done += usize::from(step(&mut pair.client));
                *pair.wires[1].borrow_mut() = Wire::default();
            }
            for pair in &mut pairs {
                done += usize::from(step(&mut pair.server));
                *pair.wires[0].borrow_mut() = Wire::default();
            }
            going = done < 2 * pairs.len();
        }
        let grown = resident_bytes().saturating_sub(before);
        grown as f64 / f64::from(SESSIONS)
    }
}

/// Makes a connection read from one wire and write to another, which must outlive it.
fn join(connection: &mut Connection, input: &Rc<RefCell<Wire>>, output: &Rc<RefCell<Wire>>) {
    let context = |wire: &Rc<RefCell<Wire>>| Rc::as_ptr(wire).cast_mut().cast::<c_void>();
    connection.set_receive_callback(Some(receive)).unwrap();
    connection.set_send_callback(Some(send)).unwrap();
    // SAFETY: a pair keeps its wires.
    unsafe {
        connection.set_receive_context(context(input)).unwrap();
        connection.set_send_context(context(output)).unwrap();
    }
}

unsafe extern "C" fn receive(wire: *mut c_void, buffer: *mut u8, bytes: u32) -> c_int {
    // SAFETY: the context is a wire of the connection.
    let mut wire = unsafe { &*wire.cast::<RefCell<Wire>>() }.borrow_mut();
    let rest = &wire.bytes[wire.read..];
    let taken = rest.len().min(bytes as usize);
    if taken == 0 {
        set_errno(Errno(libc::EWOULDBLOCK));
        return -1;
    }
    // SAFETY: the library's buffer has `bytes` bytes.
    unsafe { ptr::copy_nonoverlapping(rest.as_ptr(), buffer, taken) };
    wire.read += taken;
    if wire.read == wire.bytes.len() {
        wire.bytes.clear();
        wire.read = 0;
    }
    taken as c_int
}

unsafe extern "C" fn send(wire: *mut c_void, data: *const u8, bytes: u32) -> c_int {
    // SAFETY: the context is a wire of the connection.
    let wire = unsafe { &*wire.cast::<RefCell<Wire>>() };
    // SAFETY: the library's data has `bytes` bytes.
    let data = unsafe { std::slice::from_raw_parts(data, bytes as usize) };
    wire.borrow_mut().bytes.extend_from_slice(data);
    bytes as c_int
}

/// Continues a handshake; returns whether it is done.
fn step(side: &mut Connection) -> bool {
    match side.poll_negotiate() {
        Poll::Ready(Ok(_)) => true,
        Poll::Ready(Err(error)) => panic!("{error}"),
        Poll::Pending => false,
    }
}

impl Pair {
    fn resumed(&self) -> bool {
        self.client.resumed() && self.server.resumed()
    }

    /// Returns the times of sending and receiving one write.
    fn burst(&mut self, write: &[u8], read: &mut [u8]) -> [Duration; 2] {
        let begun = Instant::now();
        let mut rest = write;
        while !rest.is_empty()
            && let Poll::Ready(sent) = self.server.poll_send(rest)
        {
            rest = &rest[sent.unwrap()..];
        }
        let sending = begun.elapsed();
        let begun = Instant::now();
        let mut received = 0;
        while received < write.len()
            && let Poll::Ready(more) = self.client.poll_recv(read)
        {
            received += more.unwrap();
        }
        assert_eq!(received, write.len());
        [sending, begun.elapsed()]
    }
}
