//! The head of the response, with servers that are slow, or never answer HEAD.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
    thread,
    time::Duration,
};

use netbench_model::scan::ScanOutcome;
use netbench_scan::ScanPart;

use crate::{
    programs::{nginx, s_server},
    support::{Files, Key, scan, shown},
};

/// `s_server -www` never answers HEAD, serves one connection at a time, and pauses for a second after a request to renegotiate.
pub(crate) fn a_server_that_never_answers_head_costs_one_short_wait() {
    let files = Files::new(Key::EcdsaP256);
    for version in ["-tls1_2", "-tls1_3", "-no_tls1"] {
        let server = s_server(&files, &["-www", "-cipher", "ECDHE+AESGCM", version]);
        let found = scan(server.address, ScanPart::ALL);
        assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
        assert_eq!(found.features.http_status, Some(200), "{}", shown(&found));
        // A second's wait for each would exceed this; the machine may be busy.
        assert!(found.effort.elapsed_ms < 1_700, "{}", shown(&found));
    }
}

pub(crate) fn the_head_of_a_slow_site_is_read() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let behind = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                // A client that is gone gets no response.
                let _ = stream.read(&mut [0; 4096]);
                thread::sleep(Duration::from_millis(800));
                let _ = stream.write_all(b"HTTP/1.0 418 slow\r\nContent-Length: 0\r\n\r\n");
            });
        }
    });
    let files = Files::new(Key::EcdsaP256);
    for version in ["TLSv1.2", "TLSv1.3"] {
        let lines =
            format!("ssl_protocols {version}; location = / {{ proxy_pass http://{behind}; }}");
        let server = nginx(&files, &lines);
        let found = scan(server.address, &[ScanPart::Sessions]);
        assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
        assert_eq!(found.features.http_status, Some(418), "{}", shown(&found));
    }
}
