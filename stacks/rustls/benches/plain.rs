//! The suite against a plain program that does the same with rustls alone: `cargo bench -p
//! netbench-stack-rustls`. The two take turns of 4 ms on one core; each turn's 10th percentile is taken, and
//! the pairs of turns in which nothing disturbed the machine are compared.
//!
//! The plain program times each side's steps with `Instant` and has no code of netbench in what it times,
//! so that the ratio is what the harness adds.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::{
    io::{Read, Write},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use netbench_lab::{SUITE_HOST, suite_pki};
use netbench_model::{
    Aead, HandshakeKind, KeyType, Measure, Scenario, SessionSettings, TlsVersion, Work,
};
use netbench_protocol::{
    Clocks, Material, Prepare, RequestBody, ResponseBody, Slice, SliceLimit, Sliced,
};
use netbench_runner::{Launch, Layout, Worker};
use netbench_stats::{QuietLevel, median, quantile_sorted};
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
    client::Resumption,
    crypto::CryptoProvider,
    server::NoServerSessionStorage,
    version::{TLS12, TLS13},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};

const TURN: Duration = Duration::from_millis(4);
const TURNS: usize = 400;
const LIMIT: Duration = Duration::from_secs(60);
const WRITE: usize = 1 << 20;

fn main() {
    let core = last_core();
    hold_to(core);
    println!(
        "plain rustls against netbench's harness (aws-lc-rs, RSA-2048, AES-256-GCM), core {core}"
    );
    for (version, kind) in [
        (TlsVersion::Tls12, HandshakeKind::Full),
        (TlsVersion::Tls13, HandshakeKind::Full),
        (TlsVersion::Tls12, HandshakeKind::Ticket),
        (TlsVersion::Tls13, HandshakeKind::Ticket),
    ] {
        let settings = SessionSettings::usual(version, KeyType::Rsa2048, Aead::Aes256Gcm);
        let scenario = Scenario::timed(Work::Handshake { kind, settings });
        let plain = Plain::new(version, kind);
        // The first is full; it leaves the tickets that the others resume from.
        plain.handshake();
        compare(&scenario, core, [Measure::Client, Measure::Server], || {
            let (client, server, resumed) = plain.handshake();
            assert_eq!(resumed, kind != HandshakeKind::Full);
            [client, server]
        });
    }
    let settings = SessionSettings::usual(TlsVersion::Tls13, KeyType::Rsa2048, Aead::Aes256Gcm);
    let scenario = Scenario::timed(Work::Bulk {
        settings,
        write_bytes: u32::try_from(WRITE).unwrap(),
        amount_bytes: 1_000_000_000,
        max_fragment_bytes: None,
    });
    let plain = Plain::new(TlsVersion::Tls13, HandshakeKind::Full);
    let mut data = plain.data();
    compare(&scenario, core, [Measure::Send, Measure::Receive], || {
        data.burst()
    });
}

/// Takes turns and prints both medians and their ratio, for each of two measures.
fn compare(
    scenario: &Scenario,
    core: u32,
    measures: [Measure; 2],
    mut plain: impl FnMut() -> [u64; 2],
) {
    let mut worker = harness(scenario, core);
    let mut turns: Vec<[[f64; 2]; 2]> = Vec::new();
    let mut references = Vec::new();
    for turn in 0..=TURNS {
        let begun = Instant::now();
        let mut timings = [Vec::new(), Vec::new()];
        while begun.elapsed() < TURN {
            for (kept, ns) in timings.iter_mut().zip(plain()) {
                kept.push(ns);
            }
        }
        let sliced = slice(&mut worker);
        // Nobody's first turn counts.
        if turn > 0 {
            let plain = timings.map(|timings| low(&timings));
            let harness = measures.map(|measure| low(&sliced.timings_ns[&measure]));
            turns.push([plain, harness]);
            let reference = sliced.reference.unwrap();
            references.push([reference.integer_ns, reference.aes_ns, reference.memory_ns]);
        }
    }
    // The plain program's turn is right beside the harness's.
    let level = QuietLevel::of(&references).unwrap();
    for (at, measure) in measures.iter().enumerate() {
        let pairs: Vec<(f64, f64)> = turns.iter().map(|t| (t[0][at], t[1][at])).collect();
        let quiet = references.iter().map(|turn| level.is_quiet(turn));
        let kept: Vec<(f64, f64)> = pairs
            .into_iter()
            .zip(quiet)
            .filter_map(|(pair, quiet)| quiet.then_some(pair))
            .collect();
        let of = |figure: fn(&(f64, f64)) -> f64| {
            median(&kept.iter().map(figure).collect::<Vec<_>>()).unwrap()
        };
        println!(
            "{scenario}_{measure}: plain {:.0} ns, netbench {:.0} ns, ratio {:.4} ({} of {TURNS} turns)",
            of(|pair| pair.0),
            of(|pair| pair.1),
            of(|pair| pair.1 / pair.0),
            kept.len()
        );
    }
}

fn low(timings: &[u64]) -> f64 {
    let mut sorted: Vec<f64> = timings.iter().map(|ns| *ns as f64).collect();
    sorted.sort_by(f64::total_cmp);
    quantile_sorted(&sorted, 0.1).unwrap()
}

fn harness(scenario: &Scenario, core: u32) -> Worker {
    let launch = Launch {
        core: Some(core),
        layout: Layout::Fixed,
        ..Launch::default()
    };
    let program = Path::new(env!("CARGO_BIN_EXE_netbench-worker-rustls"));
    let mut worker = Worker::start(program, &launch).unwrap();
    let pki = suite_pki(KeyType::Rsa2048, 2);
    let request = RequestBody::Prepare(Box::new(Prepare {
        stack: "rustls-aws-lc".to_owned(),
        scenario: *scenario,
        material: Material {
            host: SUITE_HOST.to_owned(),
            chain_pem: pki.chain_pem,
            key_pem: pki.key_pem,
            roots_pem: pki.root_pem,
            ..Material::default()
        },
    }));
    let answer = worker.ask(request, LIMIT).unwrap();
    assert!(matches!(answer, ResponseBody::Prepared(_)), "{answer:?}");
    worker
}

fn slice(worker: &mut Worker) -> Sliced {
    let us = u64::try_from(TURN.as_micros()).unwrap();
    let request = RequestBody::Slice(Slice {
        limit: SliceLimit::Microseconds(us),
        clocks: Clocks::Wall,
    });
    match worker.ask(request, LIMIT).unwrap() {
        ResponseBody::Sliced(sliced) => *sliced,
        other => panic!("{other:?}"),
    }
}

/// Two configurations, as a program without netbench would make them.
struct Plain {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    name: ServerName<'static>,
}

impl Plain {
    fn new(version: TlsVersion, kind: HandshakeKind) -> Self {
        let pki = suite_pki(KeyType::Rsa2048, 2);
        let mut provider: CryptoProvider = rustls::crypto::aws_lc_rs::default_provider();
        let wanted = match version {
            TlsVersion::Tls13 => rustls::CipherSuite::TLS13_AES_256_GCM_SHA384,
            _ => rustls::CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        };
        provider
            .cipher_suites
            .retain(|suite| suite.suite() == wanted);
        provider
            .kx_groups
            .retain(|group| group.name() == rustls::NamedGroup::X25519);
        let provider = Arc::new(provider);
        let versions = match version {
            TlsVersion::Tls13 => [&TLS13],
            _ => [&TLS12],
        };
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(pki.root_pem.as_bytes()).unwrap())
            .unwrap();
        let mut client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let chain = CertificateDer::pem_slice_iter(pki.chain_pem.as_bytes());
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                chain.map(Result::unwrap).collect(),
                PrivateKeyDer::from_pem_slice(pki.key_pem.as_bytes()).unwrap(),
            )
            .unwrap();
        server.session_storage = Arc::new(NoServerSessionStorage {});
        if kind == HandshakeKind::Full {
            client.resumption = Resumption::disabled();
        } else {
            server.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
        }
        Self {
            client: Arc::new(client),
            server: Arc::new(server),
            name: ServerName::try_from(SUITE_HOST).unwrap(),
        }
    }

    /// The two sides' times, and whether the session was resumed.
    fn handshake(&self) -> (u64, u64, bool) {
        let (client, server, times) = self.connect();
        let kind = [client.handshake_kind(), server.handshake_kind()];
        let resumed = kind == [Some(rustls::HandshakeKind::Resumed); 2];
        (times[0], times[1], resumed)
    }

    fn connect(&self) -> (Connection, Connection, [u64; 2]) {
        let mut times = [Duration::ZERO; 2];
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        let begun = Instant::now();
        let client = ClientConnection::new(self.client.clone(), self.name.clone()).unwrap();
        let mut client = Connection::Client(client);
        step(&mut client, &mut to_client, &mut to_server);
        times[0] += begun.elapsed();
        let begun = Instant::now();
        let mut server = Connection::Server(ServerConnection::new(self.server.clone()).unwrap());
        step(&mut server, &mut to_server, &mut to_client);
        times[1] += begun.elapsed();
        while !(to_client.is_empty() && to_server.is_empty()) {
            if !to_client.is_empty() {
                let begun = Instant::now();
                step(&mut client, &mut to_client, &mut to_server);
                times[0] += begun.elapsed();
            }
            if !to_server.is_empty() {
                let begun = Instant::now();
                step(&mut server, &mut to_server, &mut to_client);
                times[1] += begun.elapsed();
            }
        }
        let ns = times.map(|time| u64::try_from(time.as_nanos()).unwrap());
        (client, server, ns)
    }

    fn data(&self) -> Data {
        let (client, server, _) = self.connect();
        Data {
            client,
            server,
            write: vec![7; WRITE],
            records: Vec::new(),
            plaintext: vec![0; 16 << 10],
        }
    }
}

fn step(connection: &mut Connection, input: &mut Vec<u8>, output: &mut Vec<u8>) {
    let mut rest = input.as_slice();
    while !rest.is_empty() {
        connection.read_tls(&mut rest).unwrap();
        connection.process_new_packets().unwrap();
    }
    input.clear();
    while connection.wants_write() {
        connection.write_tls(output).unwrap();
    }
}

struct Data {
    client: Connection,
    server: Connection,
    write: Vec<u8>,
    records: Vec<u8>,
    plaintext: Vec<u8>,
}

impl Data {
    /// The times of sending and receiving one write.
    fn burst(&mut self) -> [u64; 2] {
        let begun = Instant::now();
        let mut rest = self.write.as_slice();
        while !rest.is_empty() {
            let taken = self.server.writer().write(rest).unwrap();
            rest = &rest[taken..];
            while self.server.wants_write() {
                self.server.write_tls(&mut self.records).unwrap();
            }
        }
        let sent = begun.elapsed();
        let begun = Instant::now();
        let (mut records, mut received) = (self.records.as_slice(), 0);
        while !records.is_empty() {
            self.client.read_tls(&mut records).unwrap();
            let state = self.client.process_new_packets().unwrap();
            let mut ready = state.plaintext_bytes_to_read();
            while ready > 0 {
                let read = self.client.reader().read(&mut self.plaintext).unwrap();
                received += read;
                ready -= read;
            }
        }
        let took = begun.elapsed();
        self.records.clear();
        assert_eq!(received, WRITE);
        [sent, took].map(|time| u64::try_from(time.as_nanos()).unwrap())
    }
}

fn last_core() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(cores - 1).unwrap()
}

fn hold_to(core: u32) {
    // SAFETY: cpu_set_t is plain integers, for which zero is a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the core is one of this machine's.
    unsafe { libc::CPU_SET(core as usize, &mut set) };
    // SAFETY: the set is as long as it says. Where it fails, the benchmark is only noisier.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
}
