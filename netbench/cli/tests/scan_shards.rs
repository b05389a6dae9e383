//! Shards of a scan, and their joining.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends with what is not as it should be"
)]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use netbench_model::ScanManifest;
use netbench_report::ScanSummary;
use netbench_scan::registry::Version;
use serde::de::DeserializeOwned;
use support::{Place, words};

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
    place.write("sites.txt", SITES);
    let line = format!("{HOW} --name {name} {more}");
    place.netbench(&words(&line)).expect(0);
    let runs = fs::read_dir(place.path().join("runs")).unwrap();
    runs.map(|entry| entry.unwrap().path())
        .find(|path| path.to_str().unwrap().ends_with(&format!("-{name}")))
        .unwrap()
}

fn kept<T: DeserializeOwned>(run: &Path, name: &str) -> T {
    serde_json::from_str(&fs::read_to_string(run.join(name)).unwrap()).unwrap()
}

fn merge(place: &Place, runs: &[&Path], more: &str) -> support::Done {
    let mut arguments = vec!["merge"];
    arguments.extend(runs.iter().map(|run| run.to_str().unwrap()));
    arguments.extend(words(more));
    place.netbench(&arguments)
}

/// What must be equal: all but times, and certificates, which each lab makes anew.
fn found(summary: &ScanSummary) -> Vec<String> {
    let site = |scan: &netbench_scan::SiteScan| {
        let spoken = scan.versions.iter().filter(|found| found.supported);
        let versions: Vec<(Version, Vec<u16>, Vec<u16>)> = spoken
            .map(|found| {
                let suites = found.suites.iter().map(|suite| suite.code).collect();
                let groups = found.groups.iter().map(|group| group.code).collect();
                (found.version, suites, groups)
            })
            .collect();
        format!("{} {:?} {versions:?}", scan.site, scan.outcome)
    };
    summary.sites.iter().map(site).collect()
}

#[test]
fn three_shards_of_a_scan_merged_equal_the_whole() {
    let place = Place::new();
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
    let done = merge(&place, &given, "--out all").expect(0);
    assert!(
        done.stdout
            .contains("Joined of 3 runs, 3 of them shards, from m1, m2, m3"),
        "{}",
        done.stdout
    );
    let all = place.path().join("all");
    let (joined, one): (ScanManifest, ScanManifest) =
        (kept(&all, "run.json"), kept(&whole, "run.json"));
    assert_eq!(joined.scan.sites, one.scan.sites);
    assert!(joined.finished.is_some());
    let (joined, one): (ScanSummary, ScanSummary) =
        (kept(&all, "summary.json"), kept(&whole, "summary.json"));
    assert_eq!(joined.sites.len(), 4);
    assert_eq!(found(&joined), found(&one));
    let (joined, one) = (joined.loss.unwrap(), one.loss.unwrap());
    assert_eq!(joined.lost.len(), 1);
    assert_eq!(joined.lost, one.lost);
    let handshakes = |loss: &netbench_scan::LossReport| -> Vec<(String, String)> {
        let made = loss.confirmed.iter();
        made.map(|c| (c.site.clone(), c.stack.clone())).collect()
    };
    assert_eq!(handshakes(&joined), handshakes(&one));
    for line in ["report all", "results show all", "sites record all"] {
        let done = place.netbench(&words(line)).expect(0);
        assert!(done.stdout.contains("rsa.test"), "{line}: {}", done.stdout);
    }
    let done = place.netbench(&words("scan --resume all")).expect(2);
    assert!(done.stderr.contains("joined of others"), "{}", done.stderr);

    let refused = |runs: &[&Path], why: &str| {
        let done = merge(&place, runs, "--out new").expect(2);
        assert!(done.stderr.contains(why), "{why}: {}", done.stderr);
        assert!(!place.path().join("new").exists());
    };
    refused(&given[..2], "shard 2/3 is missing");
    refused(&[given[0], given[0]], "are the same run");
    refused(&[&whole, given[0]], "only shards of a scan");
    refused(&[&all, given[0]], "joined of others already");
    let changes: [(&str, Change); 5] = [
        ("the retries (", |m| m.scan.retries += 1),
        ("the seed (", |m| m.scan.seed = 8),
        ("the workers of the stacks", |m| {
            m.workers
                .iter_mut()
                .for_each(|w| w.library = "x\x1b[2J".to_owned());
        }),
        ("was not finished", |m| m.finished = None),
        ("not those of its shard", |m| m.scan.sites.clear()),
    ];
    let file = shards[0].join("run.json");
    let original = fs::read(&file).unwrap();
    for (why, change) in changes {
        let mut manifest: ScanManifest = kept(&shards[0], "run.json");
        change(&mut manifest);
        fs::write(&file, serde_json::to_vec(&manifest).unwrap()).unwrap();
        refused(&given, why);
        fs::write(&file, &original).unwrap();
    }
    let done = merge(&place, &given[..2], "--partial --out part").expect(0);
    assert!(
        done.stdout.contains("shard 2/3 is missing"),
        "{}",
        done.stdout
    );
}

#[test]
fn shards_of_a_scan_that_cannot_be_are_wrong_input() {
    let place = Place::new();
    place.write("sites.txt", SITES);
    for (line, why) in [
        ("--sites sites.txt --shard 1/3", "--seed"),
        ("--sites sites.txt --shard 1/5 --seed 1", "only 4 sites"),
        ("127.0.0.1 --shard 1/1 --seed 1", "cannot be used with"),
        ("--shard 1/3 --seed 1 --resume x", "cannot be used with"),
        ("--vantage a/b", "letters, digits"),
        ("--verbose", "unexpected argument"),
    ] {
        let line = format!("scan {line}");
        let done = place.netbench(&words(&line)).expect(2);
        assert!(done.stderr.contains(why), "{line}: {}", done.stderr);
    }
}
