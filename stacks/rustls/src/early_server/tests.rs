#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use netbench_lab::{SUITE_HOST, suite_pki};
use netbench_tls::{Group, KeyType};
use netbench_worker::{chain_of_pem, key_of_pem};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore,
    crypto::{
        CryptoProvider,
        ring::{self, kx_group},
    },
    version::TLS13,
};
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    time::timeout,
};
use tokio_rustls::TlsConnector;

use super::*;

const REQUEST: &[u8] = b"a request";
const ANSWER: &[u8] = b"an answer";

/// The capacity of a connection in each direction, in bytes.
const CAPACITY: usize = 64 * 1024;

fn provider() -> CryptoProvider {
    ring::default_provider()
}

fn acceptor_of(provider: CryptoProvider, policy: EarlyDataPolicy) -> EarlyAcceptor {
    let material = suite_pki(KeyType::EcdsaP256, 2);
    let config = ServerConfig::builder_with_provider(provider.into())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            chain_of_pem("chain", &material.chain_pem).unwrap(),
            key_of_pem("key", &material.key_pem).unwrap(),
        )
        .unwrap();
    EarlyAcceptor::new(config, policy)
}

fn client() -> Arc<ClientConfig> {
    let material = suite_pki(KeyType::EcdsaP256, 2);
    let mut roots = RootCertStore::empty();
    for root in chain_of_pem("roots", &material.roots_pem).unwrap() {
        roots.add(root).unwrap();
    }
    let mut config = ClientConfig::builder_with_provider(provider().into())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.enable_early_data = true;
    Arc::new(config)
}

fn name() -> ServerName<'static> {
    ServerName::try_from(SUITE_HOST).unwrap()
}

/// Runs `work` on one thread, with a time limit.
fn run<T>(work: impl Future<Output = T>) -> T {
    const LIMIT: Duration = Duration::from_secs(60);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async { timeout(LIMIT, work).await.unwrap() })
}

/// Makes a connection whose client sends a request, as early data where it may, and reads the answer. Returns the
/// server's view, and whether the whole request was early.
async fn visit(
    acceptor: &EarlyAcceptor,
    client: &Arc<ClientConfig>,
    request: &[u8],
) -> (Negotiated, bool) {
    let (near, far) = duplex(CAPACITY);
    let connector = TlsConnector::from(Arc::clone(client)).early_data(true);
    let asking = async {
        let mut stream = connector.connect(name(), near).await.unwrap();
        stream.write_all(request).await.unwrap();
        stream.flush().await.unwrap();
        let mut answer = vec![0; ANSWER.len()];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, ANSWER);
        stream.shutdown().await.unwrap();
        // The tickets after the handshake; the server ends without an alert.
        let _ = stream.read_to_end(&mut answer).await;
    };
    let answering = async {
        let mut accepted = acceptor.clone().take(far).await.unwrap();
        let mut received = vec![0; request.len()];
        accepted.stream.read_exact(&mut received).await.unwrap();
        assert!(received == request);
        let is_whole = accepted.early.is_some_and(|early| early.is_whole());
        accepted.stream.write_all(ANSWER).await.unwrap();
        accepted.stream.flush().await.unwrap();
        let mut rest = Vec::new();
        accepted.stream.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty());
        (accepted.negotiated, is_whole)
    };
    tokio::join!(asking, answering).1
}

/// Returns a client that resumes, and its first flight with `request` as early data.
fn first_flight(client: &Arc<ClientConfig>, request: &[u8]) -> (ClientConnection, Vec<u8>) {
    let mut connection = ClientConnection::new(Arc::clone(client), name()).unwrap();
    let mut early = connection.early_data().expect("a ticket for early data");
    early.write_all(request).unwrap();
    let mut flight = Vec::new();
    while connection.wants_write() {
        connection.write_tls(&mut flight).unwrap();
    }
    (connection, flight)
}

#[test]
fn accepted_data_are_answered_before_the_clients_finished() {
    run(async {
        let (acceptor, client) = (acceptor_of(provider(), EarlyDataPolicy::Accept), client());
        let (first, _) = visit(&acceptor, &client, REQUEST).await;
        assert_eq!((first.resumed, first.early_data), (false, None));
        let (mut connection, flight) = first_flight(&client, REQUEST);
        let (near, mut far) = duplex(CAPACITY);
        far.write_all(&flight).await.unwrap();
        let mut accepted = acceptor.take(near).await.unwrap();
        assert_eq!(
            accepted.negotiated.early_data,
            Some(EarlyDataStatus::Accepted)
        );
        assert!(accepted.negotiated.resumed);
        let mut received = [0; REQUEST.len()];
        accepted.stream.read_exact(&mut received).await.unwrap();
        assert_eq!(received, REQUEST);
        accepted.stream.write_all(ANSWER).await.unwrap();
        accepted.stream.flush().await.unwrap();
        assert!(accepted.early.unwrap().is_whole());
        // The client has sent its first flight alone.
        assert_eq!(received_by(&mut connection, &mut far).await, ANSWER);
        assert!(connection.is_early_data_accepted());
    });
}

/// Reads what a server has sent until the client has plaintext.
async fn received_by(client: &mut ClientConnection, far: &mut DuplexStream) -> Vec<u8> {
    let mut plaintext = Vec::new();
    while plaintext.is_empty() {
        let mut bytes = [0; 4096];
        let count = far.read(&mut bytes).await.unwrap();
        let mut bytes = &bytes[..count];
        while !bytes.is_empty() {
            client.read_tls(&mut bytes).unwrap();
        }
        client.process_new_packets().unwrap();
        // An error means that there is no more for now.
        let _ = client.reader().read_to_end(&mut plaintext);
    }
    plaintext
}

#[test]
fn a_handshake_ends_while_the_answer_is_read() {
    run(async {
        let (acceptor, client) = (acceptor_of(provider(), EarlyDataPolicy::Accept), client());
        visit(&acceptor, &client, REQUEST).await;
        // Each visit uses a ticket and gets others, which follow the client's Finished.
        for _ in 0..5 {
            let (negotiated, is_whole) = visit(&acceptor, &client, REQUEST).await;
            let status = (negotiated.resumed, negotiated.early_data);
            assert_eq!(status, (true, Some(EarlyDataStatus::Accepted)));
            assert!(is_whole);
        }
    });
}

#[test]
fn rejected_data_come_again_after_the_handshake() {
    run(async {
        let (acceptor, client) = (acceptor_of(provider(), EarlyDataPolicy::Reject), client());
        visit(&acceptor, &client, REQUEST).await;
        let (negotiated, is_whole) = visit(&acceptor, &client, REQUEST).await;
        let status = (negotiated.resumed, negotiated.early_data);
        assert_eq!(status, (true, Some(EarlyDataStatus::Rejected)));
        assert!(!is_whole);
    });
}

#[test]
fn a_retry_of_the_hello_rejects() {
    run(async {
        let (acceptor, client) = (acceptor_of(provider(), EarlyDataPolicy::Accept), client());
        visit(&acceptor, &client, REQUEST).await;
        let of_groups = [kx_group::X25519, kx_group::SECP384R1].map(|group| {
            let of_group = CryptoProvider {
                kx_groups: vec![group],
                ..provider()
            };
            let other = acceptor_of(of_group, EarlyDataPolicy::Accept);
            (group.name(), ServerConfig::clone(&other.config))
        });
        // The client's share is of x25519, and then of the group of the last connection.
        let retrying = acceptor.clone().retrying(of_groups.into());
        for group in [Group::SECP384R1, Group::X25519] {
            let (negotiated, is_whole) = visit(&retrying, &client, REQUEST).await;
            let status = (negotiated.resumed, negotiated.early_data);
            assert_eq!(status, (true, Some(EarlyDataStatus::Retried)));
            assert_eq!(negotiated.group, Some(group));
            assert!(!is_whole);
        }
        // Without early data there is no retry.
        let mut quiet = ClientConfig::clone(&client);
        quiet.enable_early_data = false;
        let (negotiated, _) = visit(&retrying, &Arc::new(quiet), REQUEST).await;
        assert_eq!((negotiated.resumed, negotiated.early_data), (true, None));
    });
}

#[test]
fn a_hello_is_parsed() {
    run(async {
        let (acceptor, client) = (acceptor_of(provider(), EarlyDataPolicy::Accept), client());
        visit(&acceptor, &client, REQUEST).await;
        let (_, flight) = first_flight(&client, REQUEST);
        let (hello, _) = first_record(&flight).unwrap();
        for (group, can_be) in [
            (rustls::NamedGroup::X25519, false),
            (rustls::NamedGroup::secp384r1, true),
            (rustls::NamedGroup::secp521r1, false),
        ] {
            let parsed = Hello::of_record(hello).unwrap();
            assert_eq!(parsed.can_be_retried_for(group), can_be, "{group:?}");
        }
        for length in 0..hello.len() {
            assert_eq!(Hello::of_record(&hello[..length]), None, "{length}");
        }
    });
}

#[test]
fn a_request_beyond_the_limit_is_not_whole() {
    run(async {
        let (acceptor, client) = (acceptor_of(provider(), EarlyDataPolicy::Accept), client());
        visit(&acceptor, &client, REQUEST).await;
        let request = vec![7; 2 * LIMIT_BYTES as usize];
        let (negotiated, is_whole) = visit(&acceptor, &client, &request).await;
        assert_eq!(negotiated.early_data, Some(EarlyDataStatus::Accepted));
        assert!(!is_whole);
    });
}

#[test]
fn half_a_request_is_handed_out_before_the_end() {
    run(async {
        let (acceptor, client) = (acceptor_of(provider(), EarlyDataPolicy::Accept), client());
        visit(&acceptor, &client, REQUEST).await;
        let (half, _) = REQUEST.split_at(4);
        let (_, flight) = first_flight(&client, half);
        let (near, mut far) = duplex(CAPACITY);
        far.write_all(&flight).await.unwrap();
        far.shutdown().await.unwrap();
        let mut stream = acceptor.take(near).await.unwrap().stream;
        let mut received = Vec::new();
        let end = stream.read_to_end(&mut received).await.unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(received, half);
    });
}

#[test]
fn a_hello_is_accepted_twice_only_with_lasting_sessions() {
    run(async {
        for (policy, due) in [
            (EarlyDataPolicy::Accept, [true, false]),
            (EarlyDataPolicy::AcceptAgain, [true, true]),
        ] {
            let (acceptor, client) = (acceptor_of(provider(), policy), client());
            visit(&acceptor, &client, REQUEST).await;
            let (_, flight) = first_flight(&client, REQUEST);
            let mut ends = Vec::new();
            for _ in 0..2 {
                let (near, mut far) = duplex(CAPACITY);
                far.write_all(&flight).await.unwrap();
                far.shutdown().await.unwrap();
                ends.push(acceptor.clone().take(near).await.is_ok());
            }
            // A server that does not accept waits for the client's Finished, with which it would have proved that it is no
            // copy.
            assert_eq!(ends, due, "{policy}");
        }
    });
}
