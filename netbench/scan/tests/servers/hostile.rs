//! Wrong servers: each is classified, and every scan ends.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

use netbench_model::{
    scan::{FailedClass, ScanOutcome, SiteScan},
    tls::TlsVersion,
};
use netbench_scan::{Limits, ScanPart, TrustAnchors};
use rcgen::{CertificateParams, DnType, KeyPair, SanType, string::Ia5String};

use crate::{
    replies::{Hostile, SUITES, alert, answer, message, read_hello, record, reset, server_hello},
    support::{HOST, in_order, scan_with, shown},
};

/// Returns limits for servers that must be detected as silent; the others answer at once.
pub(crate) fn limits() -> Limits {
    Limits {
        timeout: Duration::from_secs(3),
        site_timeout: Duration::from_secs(60),
        parts: ScanPart::ALL.to_vec(),
        ..Limits::default()
    }
}

/// Runs a scan, which must end without outside help.
pub(crate) fn scan_within(address: SocketAddr, limits: Limits) -> SiteScan {
    let most = limits.site_timeout + Duration::from_secs(60);
    let (done, result) = mpsc::channel();
    thread::spawn(move || {
        // The receiver is gone if the scan took too long.
        let _ = done.send(scan_with(address, limits, TrustAnchors::default()));
    });
    result.recv_timeout(most).expect("the scan ends")
}

pub(crate) fn leaf(subject: &str, name: &str) -> Vec<u8> {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, subject);
    let name = Ia5String::try_from(name.to_owned()).unwrap();
    params.subject_alt_names.push(SanType::DnsName(name));
    params.self_signed(&key).unwrap().der().to_vec()
}

/// Returns a server that sends `bytes` after the hello, and then closes.
pub(crate) fn says(bytes: Vec<u8>) -> Hostile {
    Hostile::new(move |_, mut stream| {
        if read_hello(&mut stream).is_some() {
            // The client may have closed already.
            let _ = stream.write_all(&bytes);
            linger(stream);
        }
    })
}

/// Closes after the client, so that the sent bytes arrive.
pub(crate) fn linger(mut stream: TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut rest = [0; 4096];
    while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
}

pub(crate) fn class(scan: &SiteScan) -> Option<FailedClass> {
    match &scan.outcome {
        ScanOutcome::Failed { class, detail } => {
            assert!(!detail.is_empty() && detail.len() < 300, "{detail}");
            Some(*class)
        }
        _ => None,
    }
}

pub(crate) fn what_is_not_tls_is_classed() {
    use FailedClass as F;
    let hello = server_hello(0x0303, 0x002f, &[]);
    let mut torn = hello.clone();
    // The session ID's length exceeds the message.
    torn[4 + 34] = 200;
    let many_warnings = record(21, &[1, 112]).repeat(100_000);
    let cases: Vec<(&str, Vec<u8>, F)> = vec![
        (
            "http",
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            F::PlainHttp,
        ),
        ("html", b"<html>no</html>".to_vec(), F::PlainHttp),
        ("ssh", b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), F::Ssh),
        ("smtp", b"220 mail.test ESMTP\r\n".to_vec(), F::Greeting),
        ("ftp", b"220-Welcome\r\n".to_vec(), F::Greeting),
        ("imap", b"* OK IMAP4rev1\r\n".to_vec(), F::Greeting),
        ("pop3", b"+OK ready\r\n".to_vec(), F::Greeting),
        (
            "xmpp",
            b"<?xml version='1.0'?><stream:stream>".to_vec(),
            F::Greeting,
        ),
        ("ldap", notice_of_disconnection(), F::NotTls),
        ("mysql", b"\x4a\0\0\0\x0a8.0.36\0".to_vec(), F::NotTls),
        (
            "postgres",
            b"E\0\0\0\x90SFATAL\0VFATAL\0".to_vec(),
            F::NotTls,
        ),
        ("garbage", (0..=255).rev().collect(), F::NotTls),
        ("zeros", vec![0; 100], F::NotTls),
        (
            "the escape of a terminal",
            b"\x1b]0;owned\x07\x1b[2J".to_vec(),
            F::NotTls,
        ),
        ("nothing", Vec::new(), F::Reset),
        ("half a header", vec![22, 3, 3], F::Reset),
        ("half a record", record(22, &hello)[..30].to_vec(), F::Reset),
        (
            "a record of 65,535 bytes",
            [&[22, 3, 3, 255, 255], hello.as_slice()].concat(),
            F::Malformed,
        ),
        (
            "a record of SSL 2.0",
            vec![0x80, 0x2e, 1, 0, 2, 0, 0, 0, 16],
            F::NotTls,
        ),
        ("application data", record(23, &[1; 40]), F::Malformed),
        ("a heartbeat", record(24, &[1; 40]), F::Malformed),
        ("ChangeCipherSpec first", record(20, &[1]), F::Malformed),
        (
            "an alert of three bytes",
            record(21, &[2, 40, 0]),
            F::Malformed,
        ),
        ("warnings without end", many_warnings, F::Malformed),
        ("empty records", record(22, &[]).repeat(1000), F::Malformed),
        (
            "ServerHelloDone first",
            record(22, &message(14, &[])),
            F::Malformed,
        ),
        ("a torn ServerHello", record(22, &torn), F::Malformed),
        (
            "a message of 16 MB",
            record(22, &[2, 255, 255, 255]),
            F::Malformed,
        ),
        ("handshake_failure", alert(40), F::Refused),
        ("an alert that there is not", alert(255), F::Refused),
        (
            "unrecognized_name, then the refusal",
            [record(21, &[1, 112]), alert(40)].concat(),
            F::Refused,
        ),
    ];
    for (name, bytes, due) in cases {
        let server = says(bytes);
        let found = scan_within(server.address, limits());
        assert_eq!(class(&found), Some(due), "{name}: {}", shown(&found));
        assert!(found.versions.iter().all(|v| !v.supported), "{name}");
        let named = PROTOCOLS.iter().find(|(protocol, _)| *protocol == name);
        if let (Some((_, words)), ScanOutcome::Failed { detail, .. }) = (named, &found.outcome) {
            assert_eq!(detail, words, "{name}");
        }
    }
}

/// Names of protocols and the words for users.
const PROTOCOLS: [(&str, &str); 7] = [
    ("smtp", "answers as SMTP: try --starttls smtp"),
    ("imap", "answers as IMAP: try --starttls imap"),
    ("pop3", "answers as POP3: try --starttls pop3"),
    ("xmpp", "answers as XMPP: try --starttls xmpp"),
    ("ldap", "answers as LDAP: try --starttls ldap"),
    ("mysql", "answers as MySQL"),
    ("postgres", "answers as PostgreSQL: try --starttls postgres"),
];

/// LDAP's answer to what it cannot read (RFC 4511 section 4.4.1).
fn notice_of_disconnection() -> Vec<u8> {
    const NAME: &[u8] = b"1.3.6.1.4.1.1466.20036";
    let response = [&[10, 1, 2, 4, 0, 4, 0, 0x8a, 22], NAME].concat();
    let message = [&[2, 1, 0, 0x78, 31], &response[..]].concat();
    [&[0x30, 36], &message[..]].concat()
}

pub(crate) fn those_that_speak_first_or_never_are_classed() {
    let ssh = Hostile::new(|_, mut stream| {
        let _ = stream.write_all(b"SSH-2.0-dropbear\r\n");
        linger(stream);
    });
    assert_eq!(
        class(&scan_within(ssh.address, limits())),
        Some(FailedClass::Ssh)
    );

    let short = Limits {
        timeout: Duration::from_millis(300),
        ..limits()
    };
    let silent = Hostile::new(|_, stream| linger_silently(stream));
    let found = scan_within(silent.address, short.clone());
    assert_eq!(
        class(&found),
        Some(FailedClass::Silent),
        "{}",
        shown(&found)
    );
    assert!(found.effort.connections <= 4, "{}", shown(&found));

    // Only one byte: that is no response either.
    let one = Hostile::new(|_, mut stream| {
        let _ = stream.write_all(&[22]);
        linger_silently(stream);
    });
    let found = scan_within(one.address, short);
    assert_eq!(
        class(&found),
        Some(FailedClass::Silent),
        "{}",
        shown(&found)
    );

    let resets = Hostile::new(|_, stream| reset(stream));
    let found = scan_within(resets.address, limits());
    assert_eq!(class(&found), Some(FailedClass::Reset), "{}", shown(&found));

    // The socket is bound, so that no other process gets the port, and does not listen.
    let bound = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    bound
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    let gone = bound.local_addr().unwrap().as_socket().unwrap();
    let found = scan_within(gone, limits());
    assert_eq!(
        class(&found),
        Some(FailedClass::Connect),
        "{}",
        shown(&found)
    );
}

fn linger_silently(mut stream: TcpStream) {
    let mut rest = [0; 4096];
    while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
}

/// A way in which the messages of a response travel.
type Shape = (&'static str, fn(&[Vec<u8>]) -> Vec<Vec<u8>>);

pub(crate) fn messages_may_lie_in_records_anyhow() {
    let shapes: [Shape; 5] = [
        ("one in each", |messages| {
            vec![messages.iter().flat_map(|m| record(22, m)).collect()]
        }),
        ("all in one", |messages| {
            vec![record(22, &messages.concat())]
        }),
        ("a byte in each", |messages| {
            vec![
                messages
                    .concat()
                    .chunks(1)
                    .flat_map(|b| record(22, b))
                    .collect(),
            ]
        }),
        ("seven bytes in each, each in a segment", |messages| {
            messages.concat().chunks(7).map(|b| record(22, b)).collect()
        }),
        (
            "one in each, after a warning, in segments of 100 bytes",
            |messages| {
                let mut bytes = record(21, &[1, 112]);
                bytes.extend(messages.iter().flat_map(|m| record(22, m)));
                bytes.chunks(100).map(<[u8]>::to_vec).collect()
            },
        ),
    ];
    let chain = vec![leaf(HOST, HOST)];
    for (name, shape) in shapes {
        let chain = chain.clone();
        let server = Hostile::new(move |_, mut stream| {
            let Some(hello) = read_hello(&mut stream) else {
                return;
            };
            let pieces = match answer(&hello, &chain) {
                Ok(messages) => shape(&messages),
                Err(description) => vec![alert(description)],
            };
            for piece in pieces {
                let _ = stream.write_all(&piece);
            }
            linger(stream);
        });
        let found = scan_within(server.address, limits());
        assert_eq!(
            found.outcome,
            ScanOutcome::Scanned,
            "{name}: {}",
            shown(&found)
        );
        assert_eq!(
            in_order(&found, TlsVersion::Tls12),
            SUITES,
            "{name}: {}",
            shown(&found)
        );
        assert_eq!(
            found.versions.iter().filter(|v| v.supported).count(),
            1,
            "{name}"
        );
        assert_eq!(found.chains.len(), 1, "{name}");
        assert!(found.chains[0].names_match, "{name}");
    }
}

pub(crate) fn an_answer_that_breaks_off_is_as_good_as_its_server_hello() {
    let chain = vec![leaf(HOST, HOST)];
    let hello_ends = record(22, &server_hello(0x0303, 0, &[])).len();
    let points = [
        0,
        1,
        4,
        5,
        6,
        40,
        hello_ends - 1,
        hello_ends,
        hello_ends + 1,
        hello_ends + 100,
    ];
    enum End {
        Reset,
        Close,
        Alert,
    }
    for point in points {
        for end in [End::Reset, End::Close, End::Alert] {
            let chain = chain.clone();
            let name = match end {
                End::Reset => "reset",
                End::Close => "close",
                End::Alert => "alert",
            };
            let server = Hostile::new(move |_, mut stream| {
                let Some(hello) = read_hello(&mut stream) else {
                    return;
                };
                let bytes: Vec<u8> = match answer(&hello, &chain) {
                    Ok(messages) => messages.iter().flat_map(|m| record(22, m)).collect(),
                    Err(description) => alert(description),
                };
                let _ = stream.write_all(&bytes[..point.min(bytes.len())]);
                match end {
                    End::Reset => reset(stream),
                    End::Close => linger(stream),
                    End::Alert => {
                        let _ = stream.write_all(&alert(80));
                        linger(stream);
                    }
                }
            });
            let found = scan_within(server.address, limits());
            let shown = format!("{name} after {point} bytes: {}", shown(&found));
            if point < hello_ends {
                let class = class(&found);
                assert!(
                    matches!(
                        class,
                        Some(
                            FailedClass::Reset
                                | FailedClass::Refused
                                | FailedClass::Malformed
                                | FailedClass::NotTls
                        )
                    ),
                    "{shown}"
                );
            } else {
                assert!(found.is_scanned(), "{shown}");
                assert_eq!(in_order(&found, TlsVersion::Tls12), SUITES, "{shown}");
            }
        }
    }
}
