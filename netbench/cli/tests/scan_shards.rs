//! Shards of a scan, and their merging.

use std::{
    fs,
    path::{Path, PathBuf},
};

use netbench_model::ScanManifest;
use netbench_model::tls::TlsVersion;
use netbench_report::ScanSummary;

use crate::support::{Place, edit, kept};

const SITES: &str = "\
rsa.test     tls=1.2 suites=TLS_RSA_WITH_AES_128_GCM_SHA256
modern.test
ring.test    server=rustls-ring key=ecdsa-p256 tls=1.3 groups=secp384r1,x25519
old.test     tls=1.2 alpn=none
";

const HOW: &str = "scan --sites sites.txt --link none --parts enumeration --seed 7 --quiet \
                   --against openssl,rustls-aws-lc";

/// A change to a manifest.
type Change = fn(&mut ScanManifest);

fn make(place: &Place, name: &str, more: &str) -> PathBuf {
    let line = format!("{HOW} --name {name} {more}");
    place.succeeds(&line);
    place.named(name)
}

/// Returns the facts that must be equal: all except times and certificates, which each lab makes
/// anew.
fn found(summary: &ScanSummary) -> Vec<String> {
    let sites = summary.sites.iter().map(|scan| {
        let spoken = scan.versions.iter().filter(|found| found.supported);
        let versions: Vec<(TlsVersion, Vec<u16>, Vec<u16>)> = spoken
            .map(|found| {
                let suites = found.suites.iter().map(|suite| suite.code).collect();
                let groups = found.groups.iter().map(|group| group.code).collect();
                (found.version, suites, groups)
            })
            .collect();
        format!("{} {:?} {versions:?}", scan.site, scan.outcome)
    });
    sites.collect()
}

#[test]
fn three_shards_of_a_scan_merged_equal_the_whole() {
    let place = Place::with_sites(SITES);
    let whole = make(&place, "whole", "");
    let shards: Vec<PathBuf> = (1..=3)
        .map(|i| {
            make(
                &place,
                &format!("s{i}"),
                &format!("--shard {i}/3 --vantage m{i}"),
            )
        })
        .collect();
    let given: Vec<&Path> = [2, 0, 1].iter().map(|i| shards[*i].as_path()).collect();
    let done = place.merge(&given, "--out all").expect(0);
    done.prints("Merged from 3 runs, 3 of them shards, from m1, m2, m3");
    let all = place.path().join("all");
    let (joined, one): (ScanManifest, ScanManifest) =
        (kept(&all, "run.json"), kept(&whole, "run.json"));
    assert_eq!(joined.plan.sites, one.plan.sites);
    assert!(joined.finished.is_some());
    let (joined, one): (ScanSummary, ScanSummary) =
        (kept(&all, "summary.json"), kept(&whole, "summary.json"));
    assert_eq!(joined.sites.len(), 4);
    assert_eq!(found(&joined), found(&one));
    let (joined, one) = (joined.loss.unwrap(), one.loss.unwrap());
    assert_eq!(joined.lost.len(), 1);
    assert_eq!(joined.lost, one.lost);
    let [joined, one] = [&joined, &one].map(|loss| {
        let handshakes = loss.confirmed.iter();
        handshakes
            .map(|it| (&it.site, &it.stack))
            .collect::<Vec<_>>()
    });
    assert_eq!(joined, one);
    for line in ["runs report all", "runs show all", "setup sites record all"] {
        let done = place.succeeds(line);
        done.prints("rsa.test");
    }
    place.refuses(2, "run all => merged from other runs");

    place.expect_no_merge(&given[..2], "shard 2/3 is missing");
    place.expect_no_merge(&[given[0], given[0]], "are the same run");
    place.expect_no_merge(&[&whole, given[0]], "only shards of a scan");
    place.expect_no_merge(&[&all, given[0]], "it was merged from other runs");
    let changes: [(&str, Change); 5] = [
        ("retries (", |m| m.plan.retries += 1),
        ("seed (", |m| m.plan.seed = 8),
        ("the workers of the stacks", |m| {
            m.workers
                .iter_mut()
                .for_each(|w| w.library = "x\x1b[2J".to_owned());
        }),
        ("was not finished", |m| m.finished = None),
        ("not those of its shard", |m| {
            m.plan.sites = Vec::new().into()
        }),
    ];
    let file = shards[0].join("run.json");
    let original = fs::read(&file).unwrap();
    for (why, change) in changes {
        edit(&shards[0], change);
        place.expect_no_merge(&given, why);
        fs::write(&file, &original).unwrap();
    }
    let done = place.merge(&given[..2], "--partial --out part").expect(0);
    done.prints("shard 2/3 is missing");
}
