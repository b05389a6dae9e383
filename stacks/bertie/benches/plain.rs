//! Compares the suite with a plain program that does the same work with only Bertie: `cargo bench -p
//! netbench-stack-bertie`. netbench_worker_test::plain describes the comparison.
//!
//! The plain program drives the library as its own benchmark does: both states in one thread, each record
//! passed to the other side. The sent and received data are copied into and out of Bertie's type for bytes,
//! as in Bertie's own stream.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

#[path = "../src/key.rs"]
mod key;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bertie::{
    Client, Server,
    server::ServerDB,
    tls13crypto::{AeadAlgorithm, Algorithms, HashAlgorithm, KemScheme, SignatureScheme},
    tls13utils::{AppData, Bytes},
};
use netbench_lab::SUITE_HOST;
use netbench_tls::{
    Aead, Group, HandshakeKind, HeapState, KeyType, Measure, Scenario, SessionSettings, TlsVersion,
    Work, burst_bytes,
};
use netbench_worker_test::plain::{self, Harness, material_of};
use rand::thread_rng;

/// The data of one record.
const WRITE: usize = 16 << 10;

fn main() {
    let worker = Path::new(env!("CARGO_BIN_EXE_netbench-worker-bertie"));
    plain::compare(worker, "bertie", timings, |_| {});
}

fn timings(harness: &Harness<'_>) {
    for (group, kem) in [
        (Group::X25519, KemScheme::X25519),
        (Group::SECP256R1, KemScheme::Secp256r1),
    ] {
        let settings = settings(group);
        let scenario = Scenario::timed(Work::Handshake {
            kind: HandshakeKind::Full,
            settings,
        });
        let plain = Plain::new(kem, &settings);
        harness.take_turns(&scenario, [Measure::Client, Measure::Server], || {
            plain.connect().2.map(ns)
        });
    }
    let scenario = Scenario::timed(Work::Bulk {
        settings: settings(Group::X25519),
        write_bytes: u32::try_from(WRITE).unwrap(),
        amount_bytes: 1_000_000_000,
        max_fragment_bytes: None,
        heap: HeapState::Settled,
    });
    let (client, server, _) = Plain::new(KemScheme::X25519, &settings(Group::X25519)).connect();
    let (mut client, mut server) = (Some(client), Some(server));
    let write = vec![7; WRITE];
    let writes = burst_bytes(WRITE as u32) as usize / WRITE;
    let (mut wire, mut read) = (Vec::new(), vec![0; WRITE]);
    harness.take_turns(&scenario, [Measure::Send, Measure::Receive], || {
        let begun = Instant::now();
        for _ in 0..writes {
            let data = AppData::new(Bytes::from(&write[..]));
            let (sent, next) = take(&mut server).write(data).unwrap();
            wire.extend_from_slice(&sent.declassify());
            server = Some(next);
        }
        let sending = begun.elapsed();
        let begun = Instant::now();
        let mut received = 0;
        let mut rest = &wire[..];
        while let [_, _, _, high, low, ..] = *rest {
            let (record, after) = rest.split_at(5 + usize::from(u16::from_be_bytes([high, low])));
            rest = after;
            let (data, next) = take(&mut client).read(&Bytes::from(record)).unwrap();
            let data = data.unwrap().into_raw().declassify();
            read[..data.len()].copy_from_slice(&data);
            received += data.len();
            client = Some(next);
        }
        wire.clear();
        assert_eq!(received, writes * WRITE);
        [sending, begun.elapsed()].map(ns)
    });
}

/// The inputs of both sides.
struct Plain {
    algorithms: Algorithms,
    host: Bytes,
    identity: ServerDB,
}

impl Plain {
    fn new(kem: KemScheme, settings: &SessionSettings) -> Self {
        let material = material_of(settings);
        let signature = SignatureScheme::EcdsaSecp256r1Sha256;
        let (hash, aead) = (HashAlgorithm::SHA256, AeadAlgorithm::Chacha20Poly1305);
        let host = Bytes::from(SUITE_HOST.as_bytes());
        let leaf = Bytes::from(key::certificate(&material.chain_pem).unwrap());
        let key = key::signature_key(&material.key_pem, signature).unwrap();
        Self {
            algorithms: Algorithms::new(hash, aead, signature, kem, false, false),
            identity: ServerDB::new(host.clone(), leaf, key, None),
            host,
        }
    }

    /// Makes a session, and returns each side's time for its handshake.
    fn connect(&self) -> (Client, Server, [Duration; 2]) {
        let mut rng = thread_rng();
        let begun = Instant::now();
        let (hello, client) =
            Client::connect(self.algorithms, &self.host, None, None, &mut rng).unwrap();
        let mut client_time = begun.elapsed();
        let begun = Instant::now();
        let identity = self.identity.clone();
        let (server_hello, finished, server) =
            Server::accept(self.algorithms, identity, &hello, &mut rng).unwrap();
        let mut server_time = begun.elapsed();
        let begun = Instant::now();
        let (_, client) = client.read_handshake(&server_hello).unwrap();
        let (client_finished, client) = client.read_handshake(&finished).unwrap();
        client_time += begun.elapsed();
        let begun = Instant::now();
        let server = server.read_handshake(&client_finished.unwrap()).unwrap();
        server_time += begun.elapsed();
        (client, server, [client_time, server_time])
    }
}

fn take<T>(state: &mut Option<T>) -> T {
    state.take().unwrap()
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap()
}

fn settings(group: Group) -> SessionSettings {
    let usual = SessionSettings::usual(
        TlsVersion::Tls13,
        KeyType::EcdsaP256,
        Aead::ChaCha20Poly1305,
    );
    SessionSettings {
        group,
        chain_length: 1,
        ..usual
    }
}
