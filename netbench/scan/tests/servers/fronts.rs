//! Devices before a server that fail on some hellos and forward all others.

use std::{
    io::Write,
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use netbench_model::{
    scan::Tolerance,
    tls::{Authentication, CipherSuite, Protection, TlsVersion},
};
use netbench_scan::{
    Limits, ScanPart,
    codec::{ClientHello, extension},
};

use crate::{
    hostile::{linger, scan_within},
    oracle::Truth,
    programs::nginx,
    replies::{Hostile, alert, read_hello_and_bytes, reset},
    support::{Files, Key, limits, shown},
};

/// A front's treatment of a hello.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Does {
    Pass,
    Alert(u8),
    Close,
    Reset,
    /// The connection stays open, without a response.
    Drop,
}

/// Starts a front of this server. It decides by the hello and by its bytes on the wire.
pub(crate) fn front(
    to: SocketAddr,
    decide: impl Fn(&ClientHello) -> Does + Send + Sync + 'static,
) -> Hostile {
    Hostile::new(move |_, mut stream| {
        let Some((hello, bytes)) = read_hello_and_bytes(&mut stream) else {
            return;
        };
        match decide(&hello) {
            Does::Pass => relay(&bytes, stream, to),
            Does::Alert(description) => {
                let _ = stream.write_all(&alert(description));
                linger(stream);
            }
            Does::Close => linger(stream),
            Does::Reset => reset(stream),
            Does::Drop => drop(std::io::copy(&mut stream, &mut std::io::sink())),
        }
    })
}

/// Passes on what has come, and all that follows, both ways.
pub(crate) fn relay(first: &[u8], client: TcpStream, to: SocketAddr) {
    let Ok(mut server) = TcpStream::connect(to) else {
        return;
    };
    if server.write_all(first).is_ok() {
        join(client, server);
    }
}

/// Passes on what either side sends, until both are done.
pub(crate) fn join(mut client: TcpStream, mut server: TcpStream) {
    let (mut from, mut back) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let upwards = thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut server);
        let _ = server.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut back, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = upwards.join();
}

fn is_toxic(code: &u16) -> bool {
    CipherSuite(*code).facts().is_some_and(|suite| {
        suite.protection == Protection::Null
            || suite.authentication == Authentication::Anonymous
            || suite.name.contains("EXPORT")
    })
}

pub(crate) fn has(hello: &ClientHello, code: u16) -> bool {
    hello.extension(code).is_some()
}

/// Returns limits for servers that answer at once, with which silence is soon detected.
pub(crate) fn quick() -> Limits {
    Limits {
        timeout: Duration::from_secs(2),
        ..limits(ScanPart::ALL)
    }
}

/// 21 suites over three versions.
pub(crate) const LINES: &str = "ssl_protocols TLSv1.1 TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on;\n\
    ssl_ciphers ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305:\
    AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA256:ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA:\
    AES128-SHA:AES256-SHA:@SECLEVEL=0;";

type Decide = fn(&ClientHello) -> Does;

pub(crate) fn what_a_front_cannot_read_hides_nothing() {
    let cases: [(&str, &str, Decide); 12] = [
        ("more than 64 suites", "alert", |hello| {
            match hello.suites.len() {
                0..=64 => Does::Pass,
                _ => Does::Alert(50),
            }
        }),
        ("more than 64 suites", "reset", |hello| {
            match hello.suites.len() {
                0..=64 => Does::Pass,
                _ => Does::Reset,
            }
        }),
        (
            "more than 150 suites",
            "handshake_failure",
            |hello| match hello.suites.len() {
                0..=150 => Does::Pass,
                _ => Does::Alert(40),
            },
        ),
        ("extension status_request", "close", |hello| {
            if has(hello, extension::STATUS_REQUEST) {
                Does::Close
            } else {
                Does::Pass
            }
        }),
        ("extension encrypt_then_mac", "alert", |hello| {
            if has(hello, extension::ENCRYPT_THEN_MAC) {
                Does::Alert(47)
            } else {
                Does::Pass
            }
        }),
        ("suites, such as", "toxic suites reset", |hello| {
            if hello.suites.iter().any(is_toxic) {
                Does::Reset
            } else {
                Does::Pass
            }
        }),
        ("suites, such as", "toxic suites dropped", |hello| {
            if hello.suites.iter().any(is_toxic) {
                Does::Drop
            } else {
                Does::Pass
            }
        }),
        (
            "hello of more than 512 bytes",
            "drop",
            |hello| match hello.wire_bytes {
                0..=512 => Does::Pass,
                _ => Does::Drop,
            },
        ),
        (
            "hello of more than 512 bytes",
            "alert",
            |hello| match hello.wire_bytes {
                0..=512 => Does::Pass,
                _ => Does::Alert(50),
            },
        ),
        ("more than 12 groups", "alert", |hello| {
            match hello.groups().len() {
                0..=12 => Does::Pass,
                _ => Does::Alert(50),
            }
        }),
        ("uncommon signature schemes", "close", |hello| {
            match hello.signatures().len() {
                0..=16 => Does::Pass,
                _ => Does::Close,
            }
        }),
        (
            "suite TLS_RSA_WITH_CAMELLIA_128_CBC_SHA",
            "close",
            |hello| {
                if hello.suites.contains(&0x0041) {
                    Does::Close
                } else {
                    Does::Pass
                }
            },
        ),
    ];
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    let truth = Truth::of(server.address);
    assert!(truth.pairs() >= 15, "{}", truth.pairs());
    let scans = cases.map(|(intolerance, how, decide)| {
        let front = front(server.address, decide);
        thread::spawn(move || {
            let found = scan_within(front.address, quick());
            drop(front);
            (intolerance, how, found)
        })
    });
    for scan in scans {
        let (intolerance, how, found) = scan.join().unwrap();
        let name = format!("{intolerance}, {how}");
        println!(
            "{name}: {} connections",
            found.effort.enumeration_connections
        );
        truth.is_found_by(&found, &name);
        let said = found.intolerance.iter().any(|(what, tolerance)| {
            what.contains(intolerance) && matches!(tolerance, Tolerance::Intolerant { .. })
        });
        assert!(said, "{name}: {}", shown(&found));
        assert!(!found.hello_limits.is_empty(), "{name}");
    }
}

pub(crate) fn a_front_that_fails_at_tls_1_3_is_named() {
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    let whole = Truth::of(server.address);
    for does in [Does::Close, Does::Reset, Does::Alert(70), Does::Drop] {
        let front = front(server.address, move |hello| {
            if hello.versions().contains(&0x0304) {
                does
            } else {
                Does::Pass
            }
        });
        let found = scan_within(front.address, quick());
        let name = format!("{does:?}: {}", shown(&found));
        assert!(found.version(TlsVersion::Tls13).is_none(), "{name}");
        let older = found.version(TlsVersion::Tls12).expect(&name);
        assert_eq!(
            older.suites.len(),
            whole.suites[&TlsVersion::Tls12].len(),
            "{name}"
        );
        assert!(older.complete, "{name}");
        assert_eq!(found.hello_limits.versions, [TlsVersion::Tls13], "{name}");
    }
}

/// Groups are offered twice: a group that is refused by chance is not called absent.
pub(crate) fn a_group_that_is_refused_once_is_not_called_absent() {
    let files = Files::new(Key::Rsa);
    let server = nginx(
        &files,
        "ssl_protocols TLSv1.2; ssl_ciphers ECDHE+AESGCM; ssl_prefer_server_ciphers on; \
         ssl_ecdh_curve X25519:P-256:P-521;",
    );
    // The scan asks four times.
    for times in 1..=3 {
        let asked = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&asked);
        let front = front(server.address, move |hello| {
            let groups = hello.groups();
            let others = groups.contains(&0x1d) || groups.contains(&0x17);
            let is_asked = groups.contains(&0x19) && !others;
            let refuses = is_asked && counter.fetch_add(1, Ordering::Relaxed) < times;
            if refuses { Does::Alert(40) } else { Does::Pass }
        });
        let found = scan_within(front.address, quick());
        let version = found.version(TlsVersion::Tls12).expect("TLS 1.2");
        let has = version.groups.iter().any(|group| group.code == 0x19);
        let asked = asked.load(Ordering::Relaxed);
        let name = format!(
            "refused {times} times, asked for {asked} times: {}",
            shown(&found)
        );
        assert!(has || !version.complete, "{name}");
        // A refusal by chance is not all that is asked, and one alone hides nothing.
        assert!(asked > times, "{name}");
        assert!(has || times > 1, "{name}");
    }
}
