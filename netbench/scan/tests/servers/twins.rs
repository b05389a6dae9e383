//! Another server that takes over during a scan and differs by its certificate alone.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use netbench_model::scan::{ScanOutcome, SiteScan};
use netbench_scan::{Limits, ScanPart, codec::ClientHello};

use crate::{
    hostile::scan_within,
    limited::{Counter, Over, is_sure_of_what_it_says, relay, within},
    programs::nginx,
    replies::{Hostile, read_hello_and_bytes},
    support::{Files, Key, scan, shown},
};

/// The certificate of TLS 1.3 is encrypted, and a HelloRetryRequest has none.
pub(crate) fn another_server_that_differs_by_its_certificate_alone_is_noticed() {
    let (files, other) = (Files::new(Key::Rsa), Files::new(Key::Rsa));
    for curve in ["X25519", "secp384r1"] {
        let lines = format!("ssl_protocols TLSv1.2 TLSv1.3; ssl_ecdh_curve {curve};");
        let server = nginx(&files, &lines);
        let sorry = nginx(&other, &format!("{lines} ssl_ciphers ECDHE+AES128+AESGCM;"));
        let whole = scan(server.address, &[ScanPart::Features]);
        assert_eq!(whole.outcome, ScanOutcome::Scanned, "{}", shown(&whole));
        for most in [6, 10] {
            let counter = Arc::new(Counter::new(most, Duration::from_secs(100)));
            let how = Over::Sorry(sorry.address);
            let relay = relay(&[server.address], Arc::clone(&counter), how, |_| {});
            let found = scan_features(relay.address);
            let name = format!("{curve}, {most}: {}", shown(&found));
            assert!(counter.over.load(Ordering::Relaxed) > 0, "{name}");
            is_sure_of_what_it_says(&found, &whole, &name);
            names_another_certificate(&found, &name);
        }
    }
}

/// The first hello has no key share, and a HelloRetryRequest has no certificate: the handshake continues on its connection.
/// Nothing else distinguishes the two servers, and the second may answer from the second connection on.
pub(crate) fn another_server_is_noticed_from_the_second_connection_on() {
    let (files, other) = (Files::new(Key::Rsa), Files::new(Key::Rsa));
    for (versions, curve) in [
        ("TLSv1.3", "X25519"),
        ("TLSv1.3", "secp384r1"),
        ("TLSv1.2 TLSv1.3", "X25519:secp384r1"),
    ] {
        let lines = format!("ssl_protocols {versions}; ssl_ecdh_curve {curve};");
        let (server, twin) = (nginx(&files, &lines), nginx(&other, &lines));
        // Most of a scan's time is the wait for the first server.
        thread::scope(|scope| {
            for most in [1, 2, 3] {
                let (lines, address, how) = (&lines, server.address, Over::Sorry(twin.address));
                scope.spawn(move || {
                    let counter = Arc::new(Counter::new(most, Duration::from_secs(100)));
                    let relay = relay(&[address], counter, how, |_| {});
                    let found = scan_features(relay.address);
                    let name = format!("{lines}, {most}: {}", shown(&found));
                    assert_ne!(found.outcome, ScanOutcome::Scanned, "{name}");
                    names_another_certificate(&found, &name);
                });
            }
        });
    }
}

/// The treatment of the first connection with a key share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstShare {
    Whole,
    /// The connection ends after the ServerHello, before the certificate.
    Cut,
}

/// The first flight with a key share may be lost, and another server may answer after the enumeration.
pub(crate) fn another_server_is_noticed_by_the_certificate_of_any_part() {
    let (files, other) = (Files::new(Key::Rsa), Files::new(Key::Rsa));
    let lines = "ssl_protocols TLSv1.3; ssl_ecdh_curve X25519;";
    let (server, twin) = (nginx(&files, lines), nginx(&other, lines));
    let (first, second) = (server.address, twin.address);
    for share in [FirstShare::Whole, FirstShare::Cut] {
        let since_share = Mutex::new(0);
        let front = Hostile::new(move |_, mut stream| {
            let Some((hello, bytes)) = read_hello_and_bytes(&mut stream) else {
                return;
            };
            match count_from_share(&since_share, &hello) {
                1 if share == FirstShare::Cut => first_record(&bytes, stream, first),
                ..=MOST => crate::fronts::relay(&bytes, stream, first),
                _ => crate::fronts::relay(&bytes, stream, second),
            }
        });
        let found = scan_features(front.address);
        names_another_certificate(&found, &format!("{share:?}: {}", shown(&found)));
    }
}

/// The number of connections from the first key share on that the first server answers.
const MOST: usize = 12;

/// Counts the connections from the first with a key share on.
fn count_from_share(since_share: &Mutex<usize>, hello: &ClientHello) -> usize {
    let mut since_share = since_share.lock().unwrap();
    let shares = hello.extension(KEY_SHARE);
    let has_share = shares.is_some_and(|body| body.len() > 2);
    *since_share += usize::from(*since_share > 0 || has_share);
    *since_share
}

/// The extension `key_share` (RFC 8446 section 4.2.8).
const KEY_SHARE: u16 = 51;

/// Passes on the first record of the server's answer, and ends the connection.
fn first_record(hello: &[u8], mut client: TcpStream, to: SocketAddr) {
    let mut server = TcpStream::connect(to).unwrap();
    server.write_all(hello).unwrap();
    let mut record = vec![0; 5];
    server.read_exact(&mut record).unwrap();
    let length = u16::from_be_bytes([record[3], record[4]]);
    record.resize(5 + usize::from(length), 0);
    server.read_exact(&mut record[5..]).unwrap();
    let _ = client.write_all(&record);
    crate::hostile::linger(client);
}

fn scan_features(address: SocketAddr) -> SiteScan {
    let limits = Limits {
        parts: vec![ScanPart::Features],
        ..within(10)
    };
    scan_within(address, limits)
}

fn names_another_certificate(found: &SiteScan, name: &str) {
    let mut notes = found.notes.iter();
    let is_named = notes.any(|note| note.contains("another certificate"));
    assert!(is_named, "{name}: {:?}", found.notes);
}
