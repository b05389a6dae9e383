//! Compares the suite with a plain program that does the same work with only rustls: `cargo bench -p
//! netbench-stack-rustls`. netbench_worker_test::plain describes the comparison.
//!
//! The plain program times each side's steps with `Instant`. Its timed parts contain no code of netbench, so
//! that the ratio is the overhead of the harness.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::{
    cell::RefCell,
    io::{Read, Write},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use netbench_lab::SUITE_HOST;
use netbench_protocol::Material;
use netbench_tls::{
    Aead, HandshakeKind, HeldAfter, KeyType, Primitive, SessionSettings, TlsVersion,
};
use netbench_worker_test::plain::{self, material_of, material_of_key, resident_bytes};
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
    client::{Resumption, WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs},
    server::NoServerSessionStorage,
    sign::SigningKey,
    version::{TLS12, TLS13},
};
use rustls_pki_types::{
    CertificateDer, PrivateKeyDer, ServerName, SignatureVerificationAlgorithm, UnixTime,
    pem::PemObject,
};
use webpki::EndEntityCert;

/// The signed bytes, as many as in a handshake with SHA-256.
const SIGNED: [u8; Primitive::SIGNED_BYTES] = [0x20; Primitive::SIGNED_BYTES];

fn main() {
    let worker = Path::new(env!("CARGO_BIN_EXE_netbench-worker-rustls"));
    plain::run::<Rustls>(worker, "rustls-aws-lc");
}

/// rustls with aws-lc.
struct Rustls;

impl plain::Library for Rustls {
    const SESSIONS: u32 = 1_000;

    fn handshake(
        settings: &SessionSettings,
        kind: HandshakeKind,
    ) -> impl FnMut() -> ([u64; 2], bool) {
        let plain = Plain::new(settings, kind);
        move || plain.handshake()
    }

    fn burst(settings: &SessionSettings, bytes: usize) -> impl FnMut() -> [u64; 2] {
        let mut data = Plain::new(settings, HandshakeKind::Full).data(bytes);
        move || data.burst()
    }

    fn verification(key: KeyType) -> impl FnMut() {
        verification(key)
    }

    fn signing(key: KeyType) -> impl plain::Signing {
        Signing::new(key)
    }

    fn held(version: TlsVersion, after: HeldAfter) -> f64 {
        Plain::holding(version, after).held(after)
    }
}

/// Returns a function that verifies a chain, from DER to the verdict.
fn verification(key: KeyType) -> impl Fn() {
    let material = material_of_key(key);
    let provider = Arc::new(aws_lc_rs::default_provider());
    let roots = Arc::new(roots(&material));
    let webpki = WebPkiServerVerifier::builder_with_provider(roots, provider);
    let webpki = webpki.build().unwrap();
    let chain = CertificateDer::pem_slice_iter(material.chain_pem.as_bytes())
        .map(|der| der.unwrap().to_vec())
        .collect::<Vec<_>>();
    let name = ServerName::try_from(SUITE_HOST).unwrap();
    move || {
        let leaf = CertificateDer::from(chain[0].as_slice());
        let above: Vec<_> = chain[1..]
            .iter()
            .map(|der| CertificateDer::from(der.as_slice()))
            .collect();
        webpki
            .verify_server_cert(&leaf, &above, &name, &[], UnixTime::now())
            .unwrap();
    }
}

/// A key with its certificate, and the last signature.
struct Signing {
    key: Arc<dyn SigningKey>,
    scheme: rustls::SignatureScheme,
    certificate: CertificateDer<'static>,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
    signature: Vec<u8>,
}

impl Signing {
    fn new(key: KeyType) -> Self {
        let material = material_of_key(key);
        let provider = aws_lc_rs::default_provider();
        let der = PrivateKeyDer::from_pem_slice(material.key_pem.as_bytes()).unwrap();
        let wanted = key.schemes()[0].0;
        let mut known = provider.signature_verification_algorithms.mapping.iter();
        let (scheme, algorithms) = known.find(|(s, _)| u16::from(*s) == wanted).unwrap();
        Self {
            key: provider.key_provider.load_private_key(der).unwrap(),
            scheme: *scheme,
            certificate: CertificateDer::from_pem_slice(material.chain_pem.as_bytes()).unwrap(),
            algorithm: algorithms[0],
            signature: Vec::new(),
        }
    }
}

impl plain::Signing for Signing {
    fn sign(&mut self) {
        let signer = self.key.choose_scheme(&[self.scheme]).unwrap();
        self.signature = signer.sign(&SIGNED).unwrap();
    }

    fn verify(&self) {
        let certificate = EndEntityCert::try_from(&self.certificate).unwrap();
        certificate
            .verify_signature(self.algorithm, &SIGNED, &self.signature)
            .unwrap();
    }
}

fn roots(material: &Material) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(material.roots_pem.as_bytes());
    roots.add(root.unwrap()).unwrap();
    roots
}

/// Two configurations, made as in a program without netbench.
struct Plain {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    name: ServerName<'static>,
    wires: RefCell<[Vec<u8>; 2]>,
}

impl Plain {
    fn new(settings: &SessionSettings, kind: HandshakeKind) -> Self {
        let material = material_of(settings);
        let mut provider: CryptoProvider = aws_lc_rs::default_provider();
        let wanted = match settings.version {
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
        let versions = match settings.version {
            TlsVersion::Tls13 => [&TLS13],
            _ => [&TLS12],
        };
        let mut client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)
            .unwrap()
            .with_root_certificates(roots(&material))
            .with_no_client_auth();
        let chain = CertificateDer::pem_slice_iter(material.chain_pem.as_bytes());
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                chain.map(Result::unwrap).collect(),
                PrivateKeyDer::from_pem_slice(material.key_pem.as_bytes()).unwrap(),
            )
            .unwrap();
        server.session_storage = Arc::new(NoServerSessionStorage {});
        if kind == HandshakeKind::Full {
            client.resumption = Resumption::disabled();
            // Without a session store, rustls sends no tickets, but makes them.
            server.send_tls13_tickets = 0;
        } else {
            server.ticketer = aws_lc_rs::Ticketer::new().unwrap();
        }
        Self {
            client: Arc::new(client),
            server: Arc::new(server),
            name: ServerName::try_from(SUITE_HOST).unwrap(),
            wires: RefCell::default(),
        }
    }

    /// Two configurations for sessions that are held in this state: the client keeps none, and each begins with a full handshake.
    fn holding(version: TlsVersion, after: HeldAfter) -> Self {
        let settings = SessionSettings::usual(version, KeyType::Rsa2048, Aead::Aes256Gcm);
        let mut plain = Self::new(&settings, HandshakeKind::Full);
        if after.has_tickets(version) {
            let server = Arc::get_mut(&mut plain.server).unwrap();
            server.ticketer = aws_lc_rs::Ticketer::new().unwrap();
            server.send_tls13_tickets = 2;
        }
        plain
    }

    /// Returns the two sides' times, and whether the session was resumed.
    fn handshake(&self) -> ([u64; 2], bool) {
        let (client, server, times) = self.connect();
        let kind = [client.handshake_kind(), server.handshake_kind()];
        let resumed = kind == [Some(rustls::HandshakeKind::Resumed); 2];
        (times, resumed)
    }

    fn connect(&self) -> (Connection, Connection, [u64; 2]) {
        let mut times = [Duration::ZERO; 2];
        let mut wires = self.wires.borrow_mut();
        let [to_server, to_client] = &mut *wires;
        let begun = Instant::now();
        let client = ClientConnection::new(self.client.clone(), self.name.clone()).unwrap();
        let mut client = Connection::Client(client);
        step(&mut client, to_client, to_server);
        times[0] += begun.elapsed();
        let begun = Instant::now();
        let mut server = Connection::Server(ServerConnection::new(self.server.clone()).unwrap());
        step(&mut server, to_server, to_client);
        times[1] += begun.elapsed();
        while !(to_client.is_empty() && to_server.is_empty()) {
            if !to_client.is_empty() {
                let begun = Instant::now();
                step(&mut client, to_client, to_server);
                times[0] += begun.elapsed();
            }
            if !to_server.is_empty() {
                let begun = Instant::now();
                step(&mut server, to_server, to_client);
                times[1] += begun.elapsed();
            }
        }
        let ns = times.map(|time| u64::try_from(time.as_nanos()).unwrap());
        (client, server, ns)
    }

    /// The bytes that each of many sessions adds to this process: one pair comes and goes, then all take
    /// their handshakes in lock step.
    fn held(&self, after: HeldAfter) -> f64 {
        drop(self.connect());
        let (data, mut read) = ([7; HeldAfter::DATA_BYTES], vec![1; HeldAfter::DATA_BYTES]);
        let mut records = Vec::new();
        let before = resident_bytes();
        let mut pairs: Vec<_> = (0..<Rustls as plain::Library>::SESSIONS / 2)
            .map(|_| {
                let client = ClientConnection::new(self.client.clone(), self.name.clone());
                let server = ServerConnection::new(self.server.clone());
                (
                    Connection::Client(client.unwrap()),
                    Connection::Server(server.unwrap()),
                    [Vec::new(), Vec::new()],
                )
            })
            .collect();
        let mut moved = true;
        while moved {
            moved = false;
            for (client, _, [to_server, to_client]) in &mut pairs {
                step(client, to_client, to_server);
                *to_client = Vec::new();
                moved |= !to_server.is_empty();
            }
            for (_, server, [to_server, to_client]) in &mut pairs {
                step(server, to_server, to_client);
                *to_server = Vec::new();
                moved |= !to_client.is_empty();
            }
        }
        if after == HeldAfter::Data {
            for (client, server, _) in &mut pairs {
                deliver(client, server, &data, &mut records, &mut read);
                deliver(server, client, &data, &mut records, &mut read);
            }
        }
        let grown = resident_bytes().saturating_sub(before);
        assert!(
            pairs
                .iter()
                .all(|(client, server, _)| !client.is_handshaking() && !server.is_handshaking())
        );
        grown as f64 / f64::from(<Rustls as plain::Library>::SESSIONS)
    }

    fn data(&self, bytes: usize) -> Data {
        let (client, server, _) = self.connect();
        Data {
            client,
            server,
            write: vec![7; bytes],
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

/// Sends data from one side to the other.
fn deliver(
    from: &mut Connection,
    to: &mut Connection,
    data: &[u8],
    records: &mut Vec<u8>,
    read: &mut [u8],
) {
    records.clear();
    from.writer().write_all(data).unwrap();
    while from.wants_write() {
        from.write_tls(records).unwrap();
    }
    let mut rest = records.as_slice();
    while !rest.is_empty() {
        to.read_tls(&mut rest).unwrap();
        to.process_new_packets().unwrap();
    }
    to.reader().read_exact(read).unwrap();
    assert_eq!(read, data);
}

struct Data {
    client: Connection,
    server: Connection,
    write: Vec<u8>,
    records: Vec<u8>,
    plaintext: Vec<u8>,
}

impl Data {
    /// Returns the times of sending and receiving one write.
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
        assert_eq!(received, self.write.len());
        [sent, took].map(|time| u64::try_from(time.as_nanos()).unwrap())
    }
}
