//! The checked-in `sites.txt` keeps to the distributions that its header names.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{collections::BTreeSet, fs, path::Path};

use netbench_model::{Alpn, Group, KeyType, Site, Switch, TlsVersion, parse_sites};

/// Where the sites behind a CDN end.
const ORIGINS: &str = "# --- Origins";

fn text() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites.txt")).unwrap()
}

fn sites() -> Vec<Site> {
    parse_sites(&text()).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// Those behind a CDN, and the origins.
fn parts() -> (Vec<Site>, Vec<Site>) {
    let text = text();
    let (cdn, _) = text.split_once(ORIGINS).unwrap();
    let cdn = parse_sites(cdn).unwrap();
    let origins = sites().split_off(cdn.len());
    (cdn, origins)
}

fn quantile(mut values: Vec<u64>, percent: usize) -> u64 {
    values.sort_unstable();
    values[(values.len() - 1) * percent / 100]
}

fn count(sites: &[Site], of: impl Fn(&Site) -> bool) -> usize {
    sites.iter().filter(|site| of(site)).count()
}

fn is_hybrid(site: &Site) -> bool {
    site.lab.groups.contains(&Group::X25519MLKEM768)
}

fn is_tls12_only(site: &Site) -> bool {
    site.lab.tls == [TlsVersion::Tls12]
}

/// The round trips of a full TLS handshake with a client that sends a share for X25519.
fn handshake_round_trips(site: &Site) -> u64 {
    let retried =
        !is_tls12_only(site) && !is_hybrid(site) && !site.lab.groups.contains(&Group::X25519);
    1 + u64::from(is_tls12_only(site)) + u64::from(retried)
}

/// The round trips of a response in slow start from 10 segments, without loss.
fn response_round_trips(site: &Site) -> u64 {
    let segments = site.lab.body_bytes.div_ceil(1400);
    let (mut window, mut sent, mut round_trips) = (10, 10, 1);
    while sent < segments {
        window *= 2;
        sent += window;
        round_trips += 1;
    }
    round_trips
}

fn near(found: u64, wanted: u64, percent: u64) -> bool {
    found.abs_diff(wanted) * 100 <= wanted * percent
}

#[test]
fn there_are_101_distinct_hosts() {
    let hosts: BTreeSet<_> = sites().into_iter().map(|site| site.host).collect();
    assert_eq!((hosts.len(), sites().len()), (101, 101));
}

#[test]
fn versions_keys_and_chains_are_as_on_the_web() {
    let sites = sites();
    let tls12 = count(&sites, is_tls12_only);
    // Of the pages over TLS 1.2 and 1.3, 14 to 17 % have 1.2.
    assert!((14..=17).contains(&tls12), "{tls12}");
    let key = |key: KeyType| count(&sites, |site| site.lab.key == key);
    let keys = [
        KeyType::Rsa2048,
        KeyType::EcdsaP256,
        KeyType::Rsa4096,
        KeyType::EcdsaP384,
    ]
    .map(key);
    for (found, wanted) in keys.into_iter().zip([68_usize, 25, 5, 2]) {
        assert!(found.abs_diff(wanted) <= 2, "{keys:?}");
    }
    assert_eq!(keys.iter().sum::<usize>(), 101, "no other keys: {keys:?}");
    for (percent, wanted) in [(5, 2308), (50, 4032), (95, 5609)] {
        let bytes = sites
            .iter()
            .map(|site| u64::from(site.lab.chain.bytes))
            .collect();
        let found = quantile(bytes, percent);
        assert!(near(found, wanted, 3), "p{percent}: {found}");
    }
}

#[test]
fn handshakes_take_what_they_take_on_the_web() {
    let (cdn, origins) = parts();
    for (name, part, half, tenth) in [("cdn", &cdn, 57, 89), ("origins", &origins, 177, 277)] {
        let times: Vec<u64> = part
            .iter()
            .map(|site| site.lab.link.rtt_ns / 1_000_000 * handshake_round_trips(site))
            .collect();
        for (percent, wanted) in [(50, half), (90, tenth)] {
            let found = quantile(times.clone(), percent);
            assert!(near(found, wanted, 5), "{name} p{percent}: {found} ms");
        }
    }
    let rtts: BTreeSet<_> = sites().iter().map(|site| site.lab.link.rtt_ns).collect();
    assert!(
        (12..=16).contains(&rtts.len()),
        "the link is checked once for each: {}",
        rtts.len()
    );
}

#[test]
fn hybrid_groups_are_on_half_of_the_sites_and_on_few_origins() {
    let (cdn, origins) = parts();
    let (on_cdn, on_origins) = (count(&cdn, is_hybrid), count(&origins, is_hybrid));
    assert!(
        (45..=55).contains(&(on_cdn + on_origins)),
        "{on_cdn} + {on_origins}"
    );
    assert!((1..=2).contains(&on_origins), "{on_origins}");
    for site in sites() {
        assert!(
            !(is_hybrid(&site) && site.lab.server == "rustls-ring"),
            "{}: ring has no ML-KEM",
            site.name()
        );
        assert!(
            !(is_hybrid(&site) && is_tls12_only(&site)),
            "{}",
            site.name()
        );
        assert!(
            !site.lab.groups.is_empty(),
            "{}: its stack's default would decide",
            site.name()
        );
        assert!(
            site.lab.suites.is_empty() && site.lab.fault.is_none(),
            "{}",
            site.name()
        );
    }
}

#[test]
fn what_the_header_counts_is_there() {
    let sites = sites();
    let server = |name: &str| count(&sites, |site| site.lab.server == name);
    assert_eq!(
        ["openssl", "rustls-aws-lc", "rustls-ring"].map(server),
        [61, 25, 15]
    );
    assert_eq!(count(&sites, |site| site.lab.alpn == [Alpn::Http11]), 15);
    assert_eq!(count(&sites, |site| site.lab.ocsp == Switch::On), 33);
    let tickets = |number| count(&sites, |site| site.lab.tickets == number);
    assert_eq!([0, 1, 2, 4].map(tickets), [8, 15, 66, 12]);
    assert_eq!(count(&sites, |site| site.lab.link.jitter_ns > 0), 8);
    assert_eq!(
        count(&sites, |site| site.lab.link.loss.parts_per_million > 0),
        3
    );
    assert_eq!(count(&sites, |site| site.lab.link.rate.is_some()), 6);
    let bodies: Vec<u64> = sites
        .iter()
        .map(|site| site.lab.body_bytes / 1024)
        .collect();
    assert_eq!(
        [50, 95].map(|percent| quantile(bodies.clone(), percent)),
        [30, 200]
    );
}

#[test]
fn a_connection_takes_little_enough_for_a_run_of_minutes() {
    let sites = sites();
    let total: u64 = sites
        .iter()
        .map(|site| {
            let round_trips = 1 + handshake_round_trips(site) + response_round_trips(site);
            site.lab.link.rtt_ns / 1_000_000 * round_trips
        })
        .sum();
    let mean = total / 101;
    assert!(mean < 350, "{mean} ms");
}
