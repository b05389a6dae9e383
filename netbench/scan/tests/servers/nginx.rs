//! nginx, with Mozilla's intermediate set and others.

use std::process::Command;

use netbench_model::{
    scan::{Observed, Order, ScanOutcome, Tolerance},
    tls::TlsVersion,
};
use netbench_scan::ScanPart;

use crate::{
    programs::{INTERMEDIATE, nginx},
    support::{Files, Key, groups, in_order, scan, shown, suites},
};

pub(crate) fn the_intermediate_set_takes_few_connections() {
    let files = Files::new(Key::Rsa);
    let rsa = [0xc02f, 0xc030, 0xcca8, 0x009e, 0x009f, 0xccaa];
    for (prefer, order) in [("on", Order::Server), ("off", Order::Client)] {
        let dh = "openssl dhparam -dsaparam";
        let lines = format!(
            "ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {INTERMEDIATE};\n\
             ssl_prefer_server_ciphers {prefer}; ssl_dhparam {};",
            dh_parameters(&files, dh)
        );
        let server = nginx(&files, &lines);
        let found = scan(server.address, &[]);
        assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
        let newest = [0x1302, 0x1303, 0x1301];
        let mut due = newest;
        due.sort_unstable();
        assert_eq!(suites(&found, TlsVersion::Tls13), due, "{}", shown(&found));
        if order == Order::Server {
            assert_eq!(in_order(&found, TlsVersion::Tls13), newest);
            assert_eq!(
                in_order(&found, TlsVersion::Tls12),
                rsa,
                "{}",
                shown(&found)
            );
        }
        let mut due = rsa;
        due.sort_unstable();
        assert_eq!(suites(&found, TlsVersion::Tls12), due, "{}", shown(&found));
        let entry = found.version(TlsVersion::Tls12).unwrap();
        assert_eq!(entry.suite_order, order, "{}", shown(&found));
        assert!(found.version(TlsVersion::Tls11).is_none());
        let used = found.effort.enumeration_connections;
        assert!(used <= 16, "{used} connections: {}", shown(&found));
    }
}

fn dh_parameters(files: &Files, how: &str) -> String {
    let path = files.path("dh.pem");
    let mut words = how.split(' ');
    let made = Command::new(words.next().unwrap())
        .args(words)
        .args(["-out", &path, "2048"])
        .output()
        .expect("openssl is needed for this test");
    assert!(made.status.success(), "{made:?}");
    path
}

pub(crate) fn everything_about_nginx() {
    let files = Files::new(Key::Rsa);
    let lines = "ssl_protocols TLSv1.2 TLSv1.3; ssl_session_tickets on; ssl_early_data on;\n\
        ssl_ecdh_curve X25519:secp384r1; ssl_prefer_server_ciphers on;\n\
        ssl_session_cache builtin:1000;\n\
        add_header Strict-Transport-Security 'max-age=63072000' always;\n\
        add_header Alt-Svc 'h3=\":443\"' always;";
    let server = nginx(&files, lines);
    let found = scan(server.address, ScanPart::ALL);
    let f = &found.features;
    assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
    assert_eq!(
        groups(&found, TlsVersion::Tls13),
        ["x25519", "secp384r1"],
        "{}",
        shown(&found)
    );
    assert_eq!(f.http_status, Some(200), "{}", shown(&found));
    assert_eq!(
        f.strict_transport_security.as_deref(),
        Some("max-age=63072000")
    );
    assert_eq!(f.alt_svc.as_deref(), Some("h3=\":443\""));
    assert_eq!(f.alpn, ["h2", "http/1.1"], "{}", shown(&found));
    assert!(
        f.early_data_bytes.is_some_and(|bytes| bytes > 0),
        "{}",
        shown(&found)
    );
    assert_eq!(f.resumption_tls13, Observed::Yes, "{}", shown(&found));
    assert_eq!(f.resumption_tls12, Observed::Yes, "{}", shown(&found));
    assert_eq!(f.tickets_tls12, Observed::Yes);
    assert_eq!(f.client_renegotiation, Observed::No, "{}", shown(&found));
    assert_eq!(f.ocsp_stapling, Observed::No);
    assert!(found.intolerance.len() >= 7, "{}", shown(&found));
    for (what, tolerance) in &found.intolerance {
        assert_eq!(*tolerance, Tolerance::Tolerant, "{what}: {}", shown(&found));
    }
}
