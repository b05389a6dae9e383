//! Offers of stacks, and predictions of `scan --against` for random servers, compared with connections of `connect`.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{CipherSuite, Group, KeyType, Outcome, TlsVersion};
use netbench_report::{HelloReport, ScanSummary};
use netbench_stats::Rng;

use crate::support::{Place, json, kept, measured};

netbench_testing::module_tests! {
    of_200_random_servers_every_prediction_is_right;
    a_hello_is_the_stacks_own;
}

const SERVERS: usize = 200;

/// Another seed makes other servers.
const SEED: u64 = 20_261_122;

const STACKS: [&str; 3] = ["openssl", "rustls-aws-lc", "rustls-ring"];

fn of_200_random_servers_every_prediction_is_right() {
    let mut rng = Rng::new(SEED);
    let sites: Vec<String> = (0..SERVERS).map(|number| site(number, &mut rng)).collect();
    let place = Place::new();
    place.write("random.txt", &(sites.join("\n") + "\n"));
    let stacks = STACKS.join(",");
    let scan = format!("scan -q --sites random.txt --link none --against {stacks} --name scan");
    place.succeeds(&scan);
    let connect = format!(
        "connect -q --sites random.txt --link none --stack {stacks} --client-profile library \
         --condition clean --rounds 1 --name connect"
    );
    place.succeeds(&connect);

    let summary: ScanSummary = kept(&place.named("scan"), "summary.json");
    let loss = summary.loss.unwrap();
    assert!(loss.unknown.is_empty(), "{:?}", loss.unknown);
    let lost: BTreeSet<(&str, &str)> = loss
        .lost
        .iter()
        .flat_map(|group| {
            let sites = group.sites.keys();
            sites.map(|site| (group.stack.as_str(), site.as_str()))
        })
        .collect();
    let tried = measured(&place.named("connect"));
    assert_eq!(tried.len(), SERVERS * STACKS.len());
    let mut outcomes: BTreeMap<(bool, bool), Vec<String>> = BTreeMap::new();
    for sample in &tried {
        let (stack, site) = (sample.stack.as_str(), sample.site.as_str());
        let reaches =
            !loss.unreachable.iter().any(|lost| lost == site) && !lost.contains(&(stack, site));
        let is_accepted = matches!(sample.outcome, Outcome::Ok(_));
        let line = sites.iter().find(|line| line.starts_with(site)).unwrap();
        let said = format!("{stack}: {line}: {:?}", sample.outcome);
        let both = outcomes.entry((reaches, is_accepted));
        both.or_default().push(said);
    }
    // Both answers must occur; otherwise the test shows nothing.
    for (predicted, least) in [(true, 200), (false, 60)] {
        let wrong = outcomes.get(&(predicted, !predicted));
        assert_eq!(wrong, None, "predicted, and otherwise");
        let right = outcomes.get(&(predicted, predicted)).map_or(0, Vec::len);
        assert!(right > least, "{predicted}: {right}");
    }
    assert!(lost.len() > 30, "{lost:?}");
}

/// Returns a line of a sites file: any certificate, versions, suites, groups and behaviour that its server supports.
fn site(number: usize, rng: &mut Rng) -> String {
    let server = STACKS[rng.below(3) as usize];
    // Only OpenSSL can serve suites that rustls leaves out on purpose.
    let is_old = server == "openssl" && rng.below(2) == 0;
    let (versions, key, known) = if is_old {
        let keys = [KeyType::Rsa2048, KeyType::Rsa3072, KeyType::Rsa4096];
        let old = CipherSuite::SERVED.split_at(CipherSuite::OFFERED.len()).1;
        match rng.below(4) {
            0 => {
                let versions = some(rng, &[TlsVersion::Tls10, TlsVersion::Tls11]);
                (versions, one(rng, &keys), CipherSuite::DEPRECATED)
            }
            _ => (vec![TlsVersion::Tls12], one(rng, &keys), old),
        }
    } else {
        let versions = some(rng, TlsVersion::OFFERED);
        // Keys of ML-DSA are for TLS 1.3, and rustls-ring has none.
        let keys = KeyType::ALL.iter().copied();
        let keys: Vec<_> = keys
            .filter(|key| key.oldest_version() < TlsVersion::Tls13)
            .collect();
        (versions, one(rng, &keys), CipherSuite::OFFERED)
    };
    let mut suites = Vec::new();
    for version in &versions {
        let fitting = known.iter().copied().filter(|suite| {
            let facts = suite.facts().unwrap();
            let name = suite.to_string();
            let is_of_key = match key {
                KeyType::EcdsaP256 | KeyType::EcdsaP384 | KeyType::Ed25519 => {
                    name.contains("_ECDSA_")
                }
                _ => !name.contains("_ECDSA_"),
            };
            facts.fits(*version) && (*version == TlsVersion::Tls13 || is_of_key)
        });
        for suite in some(rng, &fitting.collect::<Vec<_>>()) {
            if !suites.contains(&suite) {
                suites.push(suite);
            }
        }
    }
    let groups: Vec<Group> = Group::OFFERED
        .iter()
        .copied()
        .filter(|group| server != "rustls-ring" || *group != Group::X25519MLKEM768)
        // The hybrid group needs TLS 1.3, and a server with only this group would have no group in TLS 1.2.
        .filter(|group| versions == [TlsVersion::Tls13] || *group != Group::X25519MLKEM768)
        .collect();
    let groups = some(rng, &groups);
    let fault = match rng.below(10) {
        0 => "wrong-name",
        1 => "unknown-root",
        2 => "expired",
        _ => "none",
    };
    let alpn = ["h2,http/1.1", "http/1.1", "h2", "none"][rng.below(4) as usize];
    format!(
        "server-{number:03}.test server={server} tls={} suites={} groups={} key={key} chain={} alpn={alpn} tickets={} \
         ocsp={} body={} fault={fault}",
        list(&versions),
        list(&suites),
        list(&groups),
        1 + rng.below(6),
        rng.below(4),
        ["on", "off"][rng.below(2) as usize],
        1 + rng.below(20_000),
    )
}

fn one<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(u32::try_from(all.len()).unwrap()) as usize]
}

/// Returns some of the values, at least one, in any order.
fn some<T: Copy>(rng: &mut Rng, all: &[T]) -> Vec<T> {
    let mut left = all.to_vec();
    let number = 1 + rng.below(u32::try_from(all.len()).unwrap());
    (0..number)
        .map(|_| left.swap_remove(rng.below(u32::try_from(left.len()).unwrap()) as usize))
        .collect()
}

fn list<T: ToString>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    all.join(",")
}

fn a_hello_is_the_stacks_own() {
    let place = Place::new();
    let report: HelloReport = place.document(
        "hello.json",
        "stacks hello --json --stack openssl,rustls-aws-lc,rustls-ring",
    );
    for hello in &report.hellos {
        assert!(
            hello.wire_bytes >= hello.message_bytes + 5,
            "{}",
            hello.stack
        );
        assert!(hello.ja4.starts_with("t13d"), "{}", hello.ja4);
        assert_eq!(hello.alpn, ["h2", "http/1.1"], "{}", hello.stack);
        assert_eq!(hello.versions, [TlsVersion::Tls13, TlsVersion::Tls12]);
        // These workers are built without zlib, brotli and zstd.
        assert_eq!(
            hello.certificate_compression.as_deref(),
            Some(&[][..]),
            "{}",
            hello.stack
        );
    }
    let [openssl, aws, ring] = &report.hellos[..] else {
        panic!("three hellos");
    };
    assert!(
        openssl.has_suite(0x009e) && !aws.has_suite(0x009e),
        "DHE is OpenSSL's alone"
    );
    assert!(
        aws.has_group(0x11ec) && !ring.has_group(0x11ec),
        "ring has no ML-KEM"
    );
    assert!(
        aws.wire_bytes > ring.wire_bytes + 1000,
        "a hybrid share is long"
    );
    let usual = "stacks hello --stack openssl,rustls-aws-lc --client-profile default --json";
    let held: HelloReport = json(&place.succeeds(usual).stdout);
    let [openssl, aws] = [0, 1].map(|stack| {
        let hello = &held.hellos[stack];
        [&hello.suites, &hello.groups].map(|codes| {
            let mut codes: Vec<u16> = codes.iter().map(|named| named.code).collect();
            codes.sort_unstable();
            codes
        })
    });
    assert_eq!(openssl, aws, "held to the same, both offer the same");
    // Markdown escapes the characters between the parts.
    let hash = ring.ja4.rsplit('_').next().unwrap();
    for format in ["terminal", "markdown", "csv"] {
        let line = format!("stacks hello --format {format} --stack rustls-ring");
        place.succeeds(&line).prints(hash);
    }
}
