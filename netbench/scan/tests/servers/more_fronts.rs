//! Further devices before a server, each compared with the brute force: a list that is complete lacks nothing.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use netbench_model::{
    scan::{ScanOutcome, SiteScan, Tolerance},
    tls::TlsVersion,
};
use netbench_scan::{
    Limits, ScanPart,
    codec::{ClientHello, extension},
};

use crate::{
    fronts::{Does, LINES, front, has, quick, relay},
    hostile::{linger, scan_within},
    limited::{self, Counter, Over, is_sure_of_what_it_says, within},
    oracle::Truth,
    programs::nginx,
    replies::{Hostile, read_hello_and_bytes, record, reset},
    support::{Files, Key, scan, shown},
};

/// X25519MLKEM768.
const HYBRID: u16 = 0x11ec;

/// A device that fails on some hellos.
struct Bad {
    name: &'static str,
    /// The intolerance that the scan names.
    named: Option<&'static str>,
    fails_on: fn(&ClientHello) -> bool,
    does: Does,
}

pub(crate) fn what_a_front_refuses_is_named_and_hides_nothing() {
    let fronts = [
        Bad {
            name: "application protocols, reset",
            named: Some("application_layer_protocol_negotiation"),
            fails_on: |hello| has(hello, extension::ALPN),
            does: Does::Reset,
        },
        Bad {
            name: "a hybrid key share, dropped",
            named: Some("hybrid share over two segments"),
            fails_on: |hello| hello.shares().iter().any(|(group, _)| *group == HYBRID),
            does: Does::Drop,
        },
        Bad {
            name: "extended_master_secret, alert",
            named: Some("extended_master_secret"),
            fails_on: |hello| has(hello, extension::EXTENDED_MASTER_SECRET),
            does: Does::Alert(47),
        },
        Bad {
            name: "renegotiation_info, close",
            named: Some("renegotiation_info"),
            fails_on: |hello| has(hello, extension::RENEGOTIATION_INFO),
            does: Does::Close,
        },
        Bad {
            name: "padding, close",
            named: Some("hello of 4 KiB"),
            fails_on: |hello| has(hello, extension::PADDING),
            does: Does::Close,
        },
        Bad {
            name: "an unknown extension, alert",
            named: Some("unknown extension"),
            fails_on: |hello| has(hello, 0xfde8),
            does: Does::Alert(110),
        },
        Bad {
            name: "GREASE, alert",
            named: Some("grease"),
            fails_on: |hello| hello.suites.iter().any(|code| code & 0x0f0f == 0x0a0a),
            does: Does::Alert(47),
        },
        Bad {
            name: "Encrypted ClientHello, close",
            named: Some("ECH GREASE"),
            fails_on: |hello| has(hello, extension::ENCRYPTED_CLIENT_HELLO),
            does: Does::Close,
        },
        Bad {
            name: "Encrypted ClientHello, alert",
            named: Some("ECH GREASE"),
            fails_on: |hello| has(hello, extension::ENCRYPTED_CLIENT_HELLO),
            does: Does::Alert(47),
        },
        Bad {
            name: "Encrypted ClientHello, dropped",
            named: Some("ECH GREASE"),
            fails_on: |hello| has(hello, extension::ENCRYPTED_CLIENT_HELLO),
            does: Does::Drop,
        },
        Bad {
            name: "several records, close",
            named: Some("hello in many records"),
            fails_on: |hello| hello.wire_bytes > hello.message_bytes + 5,
            does: Does::Close,
        },
        Bad {
            name: "a record of more than 1,024 bytes, alert",
            named: Some("bytes"),
            fails_on: |hello| hello.wire_bytes > 1024,
            does: Does::Alert(22),
        },
        Bad {
            name: "an unknown version, close",
            named: Some("unknown version"),
            fails_on: |hello| hello.legacy_version > 0x0303,
            does: Does::Close,
        },
        Bad {
            name: "no name, alert",
            named: None,
            fails_on: |hello| !has(hello, extension::SERVER_NAME),
            does: Does::Alert(112),
        },
        Bad {
            name: "an empty extension at the end, alert",
            named: None,
            fails_on: |hello| {
                let last = hello.extensions.last();
                last.is_some_and(|(_, body)| body.is_empty())
            },
            does: Does::Alert(50),
        },
    ];
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    let truth = Truth::of(server.address);
    let scans = fronts.map(
        |Bad {
             name,
             named,
             fails_on,
             does,
         }| {
            let front = fails(server.address, does, fails_on);
            thread::spawn(move || {
                let found = scan_within(front.address, quick());
                drop(front);
                (name, named, found)
            })
        },
    );
    for scan in scans {
        let (name, named, found) = scan.join().unwrap();
        println!(
            "{name}: {} connections for the enumeration",
            found.effort.enumeration_connections
        );
        truth.is_found_by(&found, name);
        // Predictions need the extension.
        let mut refused = found.hello_limits.extensions.iter();
        let refuses_ech = refused.any(|it| it.code == extension::ENCRYPTED_CLIENT_HELLO);
        assert_eq!(refuses_ech, named == Some("ECH GREASE"), "{name}");
        let Some(named) = named else { continue };
        assert!(is_named(&found, named), "{name}: {}", shown(&found));
    }
}

/// Starts a front that fails on some hellos in this way.
fn fails(
    to: SocketAddr,
    how: Does,
    on: impl Fn(&ClientHello) -> bool + Send + Sync + 'static,
) -> Hostile {
    front(to, move |hello| if on(hello) { how } else { Does::Pass })
}

fn is_named(found: &SiteScan, part: &str) -> bool {
    found.intolerance.iter().any(|(what, tolerance)| {
        what.contains(part) && matches!(tolerance, Tolerance::Intolerant { .. })
    })
}

/// Hellos of TLS 1.2 are refused, older and newer ones are not.
pub(crate) fn a_version_that_a_front_refuses_hides_no_other() {
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    for does in [Does::Close, Does::Reset, Does::Alert(40)] {
        let front = fails(server.address, does, |hello| {
            hello.versions().iter().max() == Some(&0x0303)
        });
        let truth = Truth::of(front.address);
        assert!(!truth.suites.contains_key(&TlsVersion::Tls12), "{does:?}");
        let found = scan_within(front.address, quick());
        truth.is_found_by(&found, &format!("{does:?} to TLS 1.2"));
    }
}

/// The way in which answers reach the client.
#[derive(Debug, Clone, Copy)]
enum Delivery {
    /// After a warning.
    Warned,
    /// A few bytes at a time.
    Dripped,
    /// Alerts are not delivered; the connection ends instead.
    AlertsClosed,
    AlertsReset,
}

/// Starts a front that delivers the server's answers in this way.
fn delivers(to: SocketAddr, how: Delivery) -> Hostile {
    Hostile::new(move |_, mut client| {
        let Some((_, bytes)) = read_hello_and_bytes(&mut client) else {
            return;
        };
        let Ok(mut server) = TcpStream::connect(to) else {
            return;
        };
        if server.write_all(&bytes).is_err() {
            return;
        }
        let mut room = [0; 2048];
        let Ok(count) = server.read(&mut room) else {
            return;
        };
        let first = &room[..count];
        let is_alert = first.first() == Some(&21);
        match how {
            Delivery::AlertsClosed if is_alert => return linger(client),
            Delivery::AlertsReset if is_alert => return reset(client),
            Delivery::Warned => {
                // unrecognized_name.
                let _ = client.write_all(&record(21, &[1, 112]));
                let _ = client.write_all(first);
            }
            Delivery::Dripped => {
                for piece in first.chunks(200) {
                    let _ = client.write_all(piece);
                    thread::sleep(Duration::from_millis(1));
                }
            }
            Delivery::AlertsClosed | Delivery::AlertsReset => {
                let _ = client.write_all(first);
            }
        }
        if is_alert {
            let _ = client.shutdown(Shutdown::Write);
        }
        crate::fronts::join(client, server);
    })
}

pub(crate) fn answers_are_read_however_they_arrive() {
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    let truth = Truth::of(server.address);
    let direct = scan(server.address, &[]);
    for how in [
        Delivery::Warned,
        Delivery::Dripped,
        Delivery::AlertsClosed,
        Delivery::AlertsReset,
    ] {
        let front = delivers(server.address, how);
        let found = scan_within(front.address, quick());
        let used = found.effort.enumeration_connections;
        println!("{how:?}: {used} connections for the enumeration");
        truth.is_found_by(&found, &format!("{how:?}"));
        // Refusals without an alert are proven, but not each by itself.
        let most = 3 * direct.effort.enumeration_connections;
        assert!(used <= most, "{how:?}: {used} of {most}");
    }
}

/// The server closes where others send an alert, and so does the limit.
pub(crate) fn a_limit_before_a_server_without_alerts_does_not_mislead() {
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    let whole = scan(server.address, &[]);
    let closes = delivers(server.address, Delivery::AlertsClosed);
    let second = Duration::from_secs(1);
    let cases = [
        (12, second),
        (25, second),
        (40, 2 * second),
        (25, 5 * second),
        (60, 5 * second),
        (60, 100 * second),
    ];
    let scans = cases.map(|(most, window)| {
        let counter = Arc::new(Counter::new(most, window));
        let relay = limited::relay(&[closes.address], counter, Over::Close, |_| {});
        thread::spawn(move || {
            let limits = Limits {
                parts: vec![ScanPart::Features],
                ..within(60)
            };
            let found = scan_within(relay.address, limits);
            drop(relay);
            (format!("{most} in {window:?}"), found)
        })
    });
    for scan in scans {
        let (name, found) = scan.join().unwrap();
        println!(
            "{name}: {} connections, {:?}",
            found.effort.connections, found.outcome
        );
        is_sure_of_what_it_says(&found, &whole, &name);
    }
}

/// The number of hellos of which the front answers one, drawn at random, with an alert.
const ONE_OF: u64 = 20;

pub(crate) fn random_alerts_are_no_policy_of_the_server() {
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    let truth = Truth::of(server.address);
    let mut whole = 0;
    const RUNS: u64 = 16;
    for seed in 0..RUNS {
        // xorshift64, Marsaglia 2003.
        let state = AtomicU64::new(0x9e37_79b9_7f4a_7c15 ^ (seed << 17));
        let front = fails(server.address, Does::Alert(40), move |_| {
            let mut x = state.load(Ordering::Relaxed);
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            state.store(x, Ordering::Relaxed);
            x.is_multiple_of(ONE_OF)
        });
        let found = scan_within(front.address, quick());
        truth.compare(&found, &format!("random alerts, {seed}"));
        whole += u64::from(found.outcome == ScanOutcome::Scanned);
    }
    println!("{whole} of {RUNS} scans whole");
}

/// Each hello goes to one of two servers by its content, so that the same hello always gets the same answer.
pub(crate) fn servers_chosen_by_the_hello_are_not_known_whole() {
    let files = Files::new(Key::Rsa);
    let more = nginx(&files, LINES);
    let fewer = nginx(
        &files,
        "ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ECDHE+AES128+AESGCM;",
    );
    let to = (more.address, fewer.address);
    let front = Hostile::new(move |_, mut stream| {
        let Some((hello, bytes)) = read_hello_and_bytes(&mut stream) else {
            return;
        };
        let server = if hello.suites.len().is_multiple_of(2) {
            to.0
        } else {
            to.1
        };
        relay(&bytes, stream, server);
    });
    let truth = Truth::of(more.address);
    let found = scan_within(front.address, quick());
    for version in found.versions.iter().filter(|version| version.complete) {
        let due = truth.suites.get(&version.version);
        let got = version.suites.len();
        let all = due.map_or(0, std::collections::BTreeSet::len);
        assert_eq!(got, all, "{}: {}", version.version, shown(&found));
    }
}
