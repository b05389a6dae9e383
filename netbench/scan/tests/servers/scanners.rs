//! Comparison with nmap and sslscan on the same servers.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use netbench_model::{
    scan::SiteScan,
    tls::{CipherSuite, TlsVersion},
};
use netbench_testing::program;

use crate::{
    fronts::{Does, LINES, front, relay},
    libraries::{ERLANG_ALL, erlang, lighttpd},
    programs::{INTERMEDIATE, nginx, s_server},
    replies::Hostile,
    support::{Files, Key, scan, shown},
};

type Pairs = BTreeSet<(TlsVersion, u16)>;

fn ours(scan: &SiteScan) -> Pairs {
    let spoken = scan.versions.iter().filter(|v| v.supported);
    spoken
        .flat_map(|v| v.suites.iter().map(|s| (v.version, s.code)))
        .collect()
}

/// Returns the report of nmap's ssl-enum-ciphers.
fn nmap(address: SocketAddr) -> String {
    let ran = Command::new(program("nmap").unwrap())
        .args(["-n", "-Pn", "--script", "+ssl-enum-ciphers", "-oX", "-"])
        .args(["-p", &address.port().to_string(), &address.ip().to_string()])
        .output()
        .unwrap();
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// Returns the results of nmap's ssl-enum-ciphers, by the registry's names, which it uses.
fn by_nmap(address: SocketAddr) -> Pairs {
    let text = nmap(address);
    let mut found = Pairs::new();
    let mut version = None;
    for piece in text.split('<') {
        if let Some(name) = quoted(piece, "table key=") {
            version = match name {
                "SSLv3" => Some(TlsVersion::Ssl3),
                "TLSv1.0" => Some(TlsVersion::Tls10),
                "TLSv1.1" => Some(TlsVersion::Tls11),
                "TLSv1.2" => Some(TlsVersion::Tls12),
                "TLSv1.3" => Some(TlsVersion::Tls13),
                _ => version,
            };
        }
        let name = piece.strip_prefix("elem key=\"name\">");
        if let (Some(version), Some(name)) = (version, name) {
            // nmap names the suites of TLS 1.3 TLS_AKE_WITH_….
            let name = name.replace("TLS_AKE_WITH_", "TLS_");
            let suite = CipherSuite::registered().find(|s| s.name() == Some(&name));
            let suite = suite.unwrap_or_else(|| panic!("nmap's {name}"));
            found.insert((version, suite.0));
        }
    }
    found
}

/// Returns the results of sslscan, by code points.
fn by_sslscan(address: SocketAddr) -> Pairs {
    let ran = Command::new(program("sslscan").unwrap())
        .args(["--xml=-", "--no-colour", &address.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    let mut found = Pairs::new();
    for piece in text.split('<').filter(|piece| piece.starts_with("cipher ")) {
        let version = match quoted(piece, "sslversion=") {
            Some("SSLv3") => TlsVersion::Ssl3,
            Some("TLSv1.0") => TlsVersion::Tls10,
            Some("TLSv1.1") => TlsVersion::Tls11,
            Some("TLSv1.2") => TlsVersion::Tls12,
            Some("TLSv1.3") => TlsVersion::Tls13,
            other => panic!("sslscan's {other:?}"),
        };
        let id = quoted(piece, " id=").expect("an id");
        let code = u16::from_str_radix(id.trim_start_matches("0x"), 16).unwrap();
        found.insert((version, code));
    }
    found
}

fn quoted<'a>(piece: &'a str, before: &str) -> Option<&'a str> {
    let (_, rest) = piece.split_once(before)?;
    rest.strip_prefix('"')?
        .split_once('"')
        .map(|(text, _)| text)
}

pub(crate) fn nmap_finds_the_same_suites() {
    compare("nmap", by_nmap);
}

pub(crate) fn sslscan_finds_the_same_suites() {
    compare("sslscan", by_sslscan);
}

/// Servers that do not read everything, or choose what they do not support.
pub(crate) fn a_divided_enumeration_costs_no_more_than_three_times_the_connections_of_nmap() {
    let files = Files::new(Key::Rsa);
    let server = nginx(&files, LINES);
    for module in ["mod_wolfssl", "mod_mbedtls", "mod_gnutls"] {
        let server = lighttpd(&files, module, "");
        let found = scan(server.address, &[]);
        costs_at_most_three_times_nmap(&found, server.address, module);
    }
    let erlang = erlang(&files, ERLANG_ALL);
    let found = scan(erlang.address, &[]);
    costs_at_most_three_times_nmap(&found, erlang.address, "Erlang");
    let short = front(server.address, |hello| match hello.suites.len() {
        0..=64 => Does::Pass,
        _ => Does::Reset,
    });
    let found = scan(short.address, &[]);
    costs_at_most_three_times_nmap(&found, short.address, "a front that reads 64 suites");
}

/// Compares the connections of an enumeration with those that nmap makes to the same server.
pub(crate) fn costs_at_most_three_times_nmap(found: &SiteScan, address: SocketAddr, name: &str) {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let relay = Hostile::new(move |_, stream| {
        counter.fetch_add(1, Ordering::Relaxed);
        relay(&[], stream, address);
    });
    let report = nmap(relay.address);
    assert!(report.contains("elem key=\"name\""), "{name}: {report}");
    let (ours, theirs) = (
        found.effort.enumeration_connections,
        count.load(Ordering::Relaxed),
    );
    println!("{name}: {ours} connections, nmap {theirs}");
    assert!(
        ours <= 3 * theirs,
        "{name}: {ours}, nmap {theirs}: {}",
        shown(found)
    );
}

fn compare(scanner: &str, found_by: fn(SocketAddr) -> Pairs) {
    let files = Files::new(Key::Rsa);
    let everything = s_server(&files, &["-cipher", "ALL:@SECLEVEL=0", "-www"]);
    let lines = format!("ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {INTERMEDIATE};");
    let intermediate = nginx(&files, &lines);
    for (name, server) in [
        ("s_server with everything", everything),
        ("nginx with the intermediate set", intermediate),
    ] {
        let found = scan(server.address, &[]);
        let (ours, theirs) = (ours(&found), found_by(server.address));
        assert!(!ours.is_empty(), "{}", shown(&found));
        assert!(!theirs.is_empty(), "{scanner} found nothing on {name}");
        let unknown: Vec<_> = theirs.difference(&ours).collect();
        assert!(
            unknown.is_empty(),
            "{scanner} alone found {unknown:?} on {name}"
        );
        let missed: Vec<String> = ours
            .difference(&theirs)
            .map(|(version, code)| format!("{version} {code:#06x}"))
            .collect();
        assert!(
            missed.is_empty(),
            "{scanner} does not find {missed:?} on {name}"
        );
    }
}
