//! The checked-in `sites.txt` keeps to the shares of the population model and to the counts that its header names.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{collections::BTreeSet, fs, path::Path};

use netbench_model::{Alpn, CipherSuite, Group, KeyType, Site, Switch, TlsVersion, parse_sites};
use serde_json::Value;

/// The line that ends the sites behind a CDN.
const ORIGINS: &str = "# --- Origins";

fn text() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites.txt")).unwrap()
}

fn sites() -> Vec<Site> {
    parse_sites(&text()).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// Returns the sites behind a CDN, and the origins.
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

/// Returns the round trips of a full TLS handshake with a client that sends a share for X25519.
fn handshake_round_trips(site: &Site) -> u64 {
    let retried =
        !is_tls12_only(site) && !is_hybrid(site) && !site.lab.groups.contains(&Group::X25519);
    1 + u64::from(is_tls12_only(site)) + u64::from(retried)
}

/// Returns the round trips of a response in slow start from 10 segments, without loss.
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

/// Returns the population model, which has the published shares.
fn web() -> Value {
    let file = "../interop/data/population-2026.json";
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the kinds of sites of the model and their shares, in percent. The rest is TLS 1.2 with suites that every
/// stack has.
fn kinds(web: &Value) -> Vec<(&str, f64)> {
    let kinds = web["kinds"].as_array().unwrap().iter();
    let kinds = kinds.filter(|kind| kind["rest"] != Value::Bool(true));
    let names = kinds.clone().map(|kind| kind["name"].as_str().unwrap());
    names
        .zip(kinds.map(|kind| kind["percent"].as_f64().unwrap()))
        .collect()
}

/// Returns whether `found` of 101 sites is the given share, rounded to whole sites.
fn is_share(found: usize, percent: f64) -> bool {
    (found as f64 - 1.01 * percent).abs() <= 1.0
}

/// Returns whether the site's key exchange is by RSA, which some stacks do not support.
fn by_rsa(site: &Site) -> bool {
    site.lab
        .suites
        .contains(&CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256)
}

/// Returns the lines of the header as one line, without the comment signs.
fn header() -> String {
    let text = text();
    let lines = text.lines().take_while(|line| !line.starts_with("# ---"));
    let words = lines.flat_map(|line| line.trim_start_matches('#').split_whitespace());
    words.collect::<Vec<_>>().join(" ")
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
    let web = web();
    let newer: f64 = kinds(&web)
        .iter()
        .filter(|(name, _)| name.starts_with("TLS 1.3"))
        .map(|(_, percent)| percent)
        .sum();
    assert!(is_share(tls12, 100.0 - newer), "{tls12}");
    let mut all = 0;
    for share in web["keys"].as_array().unwrap() {
        let key: KeyType = share["key"].as_str().unwrap().parse().unwrap();
        let found = count(&sites, |site| site.lab.key == key);
        assert!(
            is_share(found, share["percent"].as_f64().unwrap()),
            "{found} {key}"
        );
        all += found;
    }
    assert_eq!(all, 101, "other keys");
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
    let web = web();
    let (_, hybrid) = kinds(&web)[0];
    assert!(
        is_share(on_cdn + on_origins, hybrid),
        "{on_cdn} + {on_origins}"
    );
    assert!((1..=2).contains(&on_origins), "{on_origins}");
    for site in sites() {
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
        assert!(site.lab.fault.is_none(), "{}", site.name());
    }
}

#[test]
fn half_of_the_sites_allow_key_exchange_by_rsa_and_every_site_has_a_suite_of_each_stack() {
    let sites = sites();
    let found = count(&sites, by_rsa);
    assert!(is_share(found, 52.0), "{found}");
    for site in &sites {
        let suites = &site.lab.suites;
        assert_eq!(suites.is_empty(), !by_rsa(site), "{}", site.name());
        let mut offered = suites.iter().filter(|s| CipherSuite::OFFERED.contains(s));
        assert!(
            suites.is_empty() || offered.next().is_some(),
            "{}",
            site.name()
        );
    }
}

#[test]
fn the_header_names_what_is_too_rare_for_a_list_of_101() {
    let (web, header) = (web(), header());
    let lost: Vec<f64> = kinds(&web)
        .into_iter()
        .filter(|(name, _)| name.starts_with("TLS 1.2"))
        .map(|(_, percent)| percent)
        .collect();
    assert_eq!(lost.len(), 3);
    for percent in &lost {
        // The share is less than one site in two such lists.
        assert!(1.01 * percent < 0.5, "{percent} % is enough for a site");
        assert!(header.contains(&format!(" {percent:.2} %")), "{percent} %");
    }
    let (_, legacy) = kinds(&web)
        .into_iter()
        .find(|(name, _)| name.starts_with("TLS 1.0"))
        .unwrap();
    assert!(header.contains(&format!("TLS 1.0 or 1.1 alone, at most {legacy} %")));
    let all: f64 = lost.iter().sum();
    let none = (1.0 - all / 100.0).powi(101);
    assert!(header.contains(&format!("{:.0} of 100 such lists", 100.0 * none)));
    let in_a_million = format!("{:.0}", all * 10_000.0);
    let (thousands, rest) = in_a_million.split_at(in_a_million.len() - 3);
    assert!(header.contains(&format!("{thousands},{rest} sites in a million")));
}

/// A column for the year and one for the source, after those of the field, of this list and of the published figure.
#[test]
fn each_published_figure_of_the_header_has_its_year_and_its_source() {
    let text = text();
    let lines = text.lines();
    let mut rows = lines
        .skip_while(|line| !line.starts_with("# field   sites of this list"))
        .take_while(|line| *line != "#")
        .map(|line| {
            let cells = line.trim_start_matches('#').split("  ").map(str::trim);
            cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
        });
    let heading = rows.next().unwrap();
    assert_eq!(heading[3..], ["year", "source"]);
    let mut fields = Vec::new();
    for row in rows {
        let [field, _, _, year, source] = row[..] else {
            panic!("{row:?}");
        };
        let year: u32 = year.parse().unwrap();
        assert!((2015..=2026).contains(&year), "{row:?}");
        assert!(source.len() > 5, "{row:?}");
        fields.push(field);
    }
    assert_eq!(
        fields,
        ["tls", "groups", "key", "suites", "chain", "rtt", "rtt"]
    );
    // The model's counts have the years of their sources' names.
    let web = web().to_string();
    for name in ["dubey-2026", "stradling-2021"] {
        assert!(web.contains(name), "{name}");
    }
}

#[test]
fn what_the_header_counts_is_there() {
    let sites = sites();
    let header = header();
    assert!(sites.iter().all(|site| site.lab.server == "openssl"));
    let tls12 = count(&sites, is_tls12_only);
    let keys = [
        KeyType::Rsa2048,
        KeyType::EcdsaP256,
        KeyType::Rsa4096,
        KeyType::EcdsaP384,
    ];
    let [rsa, p256, large, p384] = keys.map(|key| count(&sites, |site| site.lab.key == key));
    let by_rsa = count(&sites, by_rsa);
    for words in [
        "server OpenSSL on all".to_owned(),
        format!("TLS 1.3 on {} sites, TLS 1.2 alone on {tls12}", 101 - tls12),
        format!("X25519MLKEM768 on {} sites", count(&sites, is_hybrid)),
        format!("RSA-2048 {rsa}, P-256 {p256}, RSA-4096 {large}, P-384 {p384}"),
        format!("key exchange by RSA on {by_rsa}"),
        format!("on the {by_rsa} sites that allow key exchange by RSA"),
    ] {
        assert!(header.contains(&words), "{words}");
    }
    assert_eq!(count(&sites, |site| site.lab.alpn == [Alpn::Http11]), 15);
    assert_eq!(count(&sites, |site| site.lab.ocsp == Switch::On), 33);
    let tickets = [0, 1, 2, 4].map(|number| count(&sites, |site| site.lab.tickets == number));
    assert_eq!(tickets, [8, 15, 66, 12]);
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
