//! nginx, with Mozilla's intermediate set and others.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use netbench_scan::{
    Part,
    peel::Order,
    registry::Version,
    result::{Answer, ScanOutcome, Tolerance},
};

use crate::support::{
    Files, Key, LIMIT, Server, free_address, groups, in_order, program, scan, shown, suites,
};

/// Mozilla's intermediate set as guideline 5.7 has it, with RSA.
pub(crate) const INTERMEDIATE: &str = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:\
    ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:\
    ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:\
    DHE-RSA-CHACHA20-POLY1305";

/// nginx with these lines in its server block: one process in the foreground, which writes in its
/// folder alone.
pub(crate) fn nginx(files: &Files, lines: &str) -> Server {
    let nginx = program("nginx").expect("nginx is needed for this test");
    let mut last = String::new();
    // Between finding a free port and listening on it, another may take it.
    for _ in 0..5 {
        let address = free_address();
        let log = files.path("log");
        let temp = files.path("temp");
        let configuration = format!(
            "daemon off; master_process off; pid {pid}; error_log {log};\n\
             events {{}}\n\
             http {{ access_log off;\n\
             client_body_temp_path {temp}; proxy_temp_path {temp}; fastcgi_temp_path {temp};\n\
             uwsgi_temp_path {temp}; scgi_temp_path {temp};\n\
             server {{ listen {address} ssl http2; server_name {host};\n\
             ssl_certificate {chain}; ssl_certificate_key {key};\n{lines}\n\
             location / {{ return 200 'a page'; }} }} }}\n",
            pid = files.path("pid"),
            host = crate::support::HOST,
            chain = files.path("whole.pem"),
            key = files.path("key.pem"),
        );
        let path = files.write("nginx.conf", &configuration);
        let child = Command::new(&nginx)
            .env("OPENSSL_CONF", "/dev/null")
            .args(["-c", &path, "-e", &log])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx begins");
        let mut server = Server::at(child, address);
        if listens(&mut server, address) {
            return server;
        }
        last = fs::read_to_string(&log).unwrap_or_default();
    }
    panic!("nginx does not listen: {last}");
}

fn listens(server: &mut Server, address: SocketAddr) -> bool {
    let deadline = Instant::now() + LIMIT;
    while Instant::now() < deadline {
        if server.has_ended() {
            return false;
        }
        if TcpStream::connect(address).is_ok() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn the_intermediate_set_takes_few_connections() {
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
        assert_eq!(suites(&found, Version::Tls13), due, "{}", shown(&found));
        if order == Order::Server {
            assert_eq!(in_order(&found, Version::Tls13), newest);
            assert_eq!(in_order(&found, Version::Tls12), rsa, "{}", shown(&found));
        }
        let mut due = rsa;
        due.sort_unstable();
        assert_eq!(suites(&found, Version::Tls12), due, "{}", shown(&found));
        let entry = found.version(Version::Tls12).unwrap();
        assert_eq!(entry.suite_order, order, "{}", shown(&found));
        assert!(found.version(Version::Tls11).is_none());
        let used = found.effort.enumeration_connections;
        assert!(used <= 25, "{used} connections: {}", shown(&found));
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

#[test]
fn everything_about_nginx() {
    let files = Files::new(Key::Rsa);
    let lines = "ssl_protocols TLSv1.2 TLSv1.3; ssl_session_tickets on; ssl_early_data on;\n\
        ssl_ecdh_curve X25519:secp384r1; ssl_prefer_server_ciphers on;\n\
        ssl_session_cache builtin:1000;\n\
        add_header Strict-Transport-Security 'max-age=63072000' always;\n\
        add_header Alt-Svc 'h3=\":443\"' always;";
    let server = nginx(&files, lines);
    let found = scan(server.address, &Part::ALL);
    let f = &found.features;
    assert_eq!(found.outcome, ScanOutcome::Scanned, "{}", shown(&found));
    assert_eq!(
        groups(&found, Version::Tls13),
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
    assert_eq!(f.resumption_tls13, Answer::Yes, "{}", shown(&found));
    assert_eq!(f.resumption_tls12, Answer::Yes, "{}", shown(&found));
    assert_eq!(f.tickets_tls12, Answer::Yes);
    assert_eq!(f.client_renegotiation, Answer::No, "{}", shown(&found));
    assert_eq!(f.ocsp_stapling, Answer::No);
    assert!(found.intolerance.len() >= 7, "{}", shown(&found));
    for (what, tolerance) in &found.intolerance {
        assert_eq!(*tolerance, Tolerance::Tolerant, "{what}: {}", shown(&found));
    }
}
