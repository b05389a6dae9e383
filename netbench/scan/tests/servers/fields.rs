//! Features that a scan must not call absent without having asked for them.

use std::{io::Write, thread, time::Duration};

use netbench_model::{
    scan::{FailedClass, Observed, ScanOutcome},
    tls::TlsVersion,
};
use netbench_scan::{Limits, ScanPart};
use netbench_testing::Tool;

use crate::{
    hostile::{limits, scan_within},
    libraries::{gnutls, serve},
    programs::s_server,
    replies::{Hostile, read_hello, record},
    support::{Files, Key, Server, scan, shown, suites},
};

pub(crate) fn heartbeats_are_asked_for() {
    let files = Files::new(Key::Rsa);
    let old = ["--priority", "NORMAL:-VERS-TLS1.3"];
    let cases: [(&[&str], Observed); 2] = [(&["--heartbeat"], Observed::Yes), (&[], Observed::No)];
    for (option, due) in cases {
        let server = gnutls(&files, &[&old[..], option].concat());
        let found = scan(server.address, &[ScanPart::Features]);
        assert_eq!(found.features.heartbeat, due, "{}", shown(&found));
    }
    let server = s_server(&files, &["-tls1_3"]);
    let found = scan(server.address, &[ScanPart::Features]);
    let heartbeat = &found.features.heartbeat;
    assert_eq!(*heartbeat, Observed::Unknown, "{}", shown(&found));
}

pub(crate) fn tickets_of_a_server_with_dhe_alone_are_seen() {
    const DHE: &str = "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA";
    let files = Files::new(Key::Rsa);
    let cases: [(&[&str], Observed); 2] = [
        (&["--priority", DHE], Observed::Yes),
        // Their absence shows only at the end of a handshake.
        (&["--priority", DHE, "--noticket"], Observed::Unknown),
    ];
    for (arguments, due) in cases {
        let server = gnutls(&files, arguments);
        let found = scan(server.address, ScanPart::ALL);
        assert!(!suites(&found, TlsVersion::Tls12).is_empty());
        let tickets = &found.features.tickets_tls12;
        assert_eq!(*tickets, due, "{arguments:?}: {}", shown(&found));
    }
}

pub(crate) fn node_renegotiates_with_every_curve() {
    let files = Files::new(Key::Rsa);
    for curve in ["P-521", "P-384", "X25519"] {
        let server = node(
            &files,
            &format!("maxVersion: 'TLSv1.2', ecdhCurve: '{curve}'"),
        );
        let found = scan(server.address, ScanPart::ALL);
        let renegotiation = &found.features.client_renegotiation;
        assert_eq!(*renegotiation, Observed::Yes, "{curve}: {}", shown(&found));
    }
}

fn node(files: &Files, options: &str) -> Server {
    serve(Tool::Node, |address| {
        let program = format!(
            "const fs = require('fs'); const server = require('tls').createServer({{ \
             cert: fs.readFileSync('{chain}'), key: fs.readFileSync('{key}'), {options} }}, \
             socket => socket.on('error', () => {{}})); server.on('tlsClientError', () => {{}}); \
             server.listen({port}, '127.0.0.1');",
            chain = files.path("whole.pem"),
            key = files.path("key.pem"),
            port = address.port(),
        );
        ["-e", &program].map(str::to_owned).to_vec()
    })
}

/// The certificate request of TLS 1.3 is encrypted: with CCM alone it cannot be read.
pub(crate) fn a_request_for_a_certificate_that_cannot_be_read_is_unknown() {
    let files = Files::new(Key::Rsa);
    let ccm = "TLS_AES_128_CCM_SHA256";
    let cases: [(&[&str], Observed, Observed); 3] = [
        (&["-www"], Observed::No, Observed::No),
        (&["-www", "-Verify", "1"], Observed::Yes, Observed::Yes),
        (
            &["-www", "-Verify", "1", "-tls1_3", "-ciphersuites", ccm],
            Observed::Unknown,
            Observed::Unknown,
        ),
    ];
    for (arguments, asks, requires) in cases {
        let server = s_server(&files, arguments);
        let found = scan(server.address, ScanPart::ALL);
        let f = &found.features;
        let seen = (&f.client_certificate, &f.client_certificate_required);
        assert_eq!(seen, (&asks, &requires), "{arguments:?}: {}", shown(&found));
    }
}

pub(crate) fn incomplete_answers_are_named() {
    let warnings = record(21, &[1, 112]).repeat(3);
    let torn = [&warnings[..], &[21, 3, 3, 0]].concat();
    let cases: [(Vec<u8>, &str); 4] = [
        (b"N".to_vec(), "it sent only 1 byte, \"N\""),
        (
            warnings,
            "it sent only 21 bytes of alerts that are warnings",
        ),
        (torn, "it sent only 25 bytes that begin with an alert"),
        (vec![22, 3, 3, 0], "it sent only 4 bytes"),
    ];
    for (bytes, due) in cases {
        let server = Hostile::new(move |_, mut stream| {
            if read_hello(&mut stream).is_some() {
                for byte in &bytes {
                    // The client may have closed already.
                    let _ = stream.write_all(&[*byte]);
                    thread::sleep(Duration::from_millis(1));
                }
                thread::sleep(Duration::from_secs(2));
            }
        });
        let short = Limits {
            timeout: Duration::from_millis(500),
            ..limits()
        };
        let found = scan_within(server.address, short);
        let ScanOutcome::Failed { class, detail } = &found.outcome else {
            panic!("{due}: {}", shown(&found));
        };
        assert_eq!(*class, FailedClass::Silent, "{detail}");
        assert!(detail.ends_with(due), "{detail}");
    }
}
