//! `netbench scan` of emulated sites and `sites record` from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use netbench_model::{
    CipherSuite, Group, KeyType, ScanManifest, Site, Switch, TlsVersion, parse_sites,
    scan::{
        Agreement, Anchor, Confirmed, HandshakeResult, LossReason, Observed, Order, ScanOutcome,
        SiteScan,
    },
};
use netbench_report::ScanSummary;

use crate::support::{
    Done, Place, check, check_lines, interrupt, json, kept, text, until, without_operation,
};

netbench_testing::module_tests! {
    a_scan_finds_every_field_of_every_built_in_site;
    a_recorded_scan_is_a_sites_file_that_emulates_it: UserNamespaces;
    emulated_sites_with_encrypted_hellos_have_https_records: UserNamespaces, Go;
    every_site_that_a_stack_loses_is_named_with_its_reason_and_confirmed;
    a_stack_that_makes_no_connections_is_refused;
    round_trips_to_every_built_in_site_are_as_predicted: UserNamespaces;
    json_is_as_the_schemas_say_and_a_report_is_made_again;
    a_policy_is_a_check_with_an_exit_code;
    a_sample_is_drawn_by_the_seed_and_tells_of_all;
    what_changed_between_two_scans_is_shown;
    what_was_scanned_before_an_interruption_is_kept_and_gone_on_from;
}

/// Sites that cover, in a few lines, every property of a profile.
const SITES: &str = "\
plain.test
ecdsa.test   server=rustls-aws-lc key=ecdsa-p384 chain=3/6000 alpn=http/1.1 tickets=1
ring.test    server=rustls-ring key=rsa-3072 tls=1.3 groups=secp384r1,x25519 tickets=0
named.test   suites=TLS_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 groups=x25519,secp256r1 ocsp=on
old.test     tls=1.2 alpn=none chain=1
older.test   tls=1.0,1.1 alpn=http/1.1
gap.test     tls=1.0,1.2 key=ecdsa-p256 alpn=http/1.1
";

/// Sites that only some stacks reach: the file that the README shows.
const OLD_SITES: &str = include_str!("../../../catalogue/old-sites.txt");

/// Asserts that the scan found every property of the profile.
fn assert_reproduced(site: &Site, scan: &SiteScan) {
    let (name, lab) = (site.name(), &site.lab);
    assert_eq!(scan.outcome, ScanOutcome::Scanned, "{name}");
    let spoken = scan.versions.iter().filter(|v| v.supported);
    let mut versions: Vec<&str> = spoken.clone().map(|v| v.version.name()).collect();
    versions.sort_unstable();
    let due: Vec<&str> = lab.tls.iter().map(|v| v.name()).collect();
    assert_eq!(versions, due, "{name}: tls");
    let rsa = matches!(
        lab.key,
        KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096
    );
    for found in spoken {
        let tls = match found.version {
            TlsVersion::Tls13 => TlsVersion::Tls13,
            _ => TlsVersion::Tls12,
        };
        let own = if !lab.suites.is_empty() {
            &lab.suites
        } else if lab.tls.iter().any(|version| version.is_deprecated()) {
            CipherSuite::WITH_DEPRECATED
        } else {
            CipherSuite::OFFERED
        };
        let fitting = own.iter().filter(|suite| {
            suite.fits(found.version)
                && (tls == TlsVersion::Tls13 || suite.to_string().contains("_ECDSA_") != rsa)
        });
        let due: Vec<&str> = fitting.filter_map(|s| s.name()).collect();
        let suites: Vec<&str> = found.suites.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(suites, due, "{name}: suites, in the server's order");
        let groups: Vec<&str> = found.groups.iter().map(|g| g.name.as_str()).collect();
        let own = lab
            .groups
            .iter()
            .filter(|g| tls == TlsVersion::Tls13 || **g != Group::X25519MLKEM768);
        let mut due: Vec<&str> = own.filter_map(|g| g.name()).collect();
        if !due.is_empty() && found.group_order == Order::Server {
            assert_eq!(groups, due, "{name}: groups, in the server's order");
        } else if !due.is_empty() {
            // rustls uses the client's order, so that its own order is invisible.
            let mut groups = groups;
            groups.sort_unstable();
            due.sort_unstable();
            // The certificate's curve may hide groups with a lower preference, which a note
            // reports.
            let hidden = scan.notes.iter().any(|note| note.contains("do not show"));
            let all = groups == due;
            assert!(
                all || hidden && groups.iter().all(|g| due.contains(g)),
                "{name}: {groups:?}"
            );
        }
    }
    assert_eq!(scan.chains.len(), 1, "{name}: one chain");
    let chain = &scan.chains[0];
    let leaf = &chain.certificates[0];
    let key = match leaf.key.as_str() {
        "ec" => format!("ecdsa-p{}", leaf.key_bits),
        "ed25519" => "ed25519".to_owned(),
        other => format!("{other}-{}", leaf.key_bits),
    };
    assert_eq!(key, lab.key.name(), "{name}: key");
    assert_eq!(
        chain.certificates.len(),
        usize::from(lab.chain.length),
        "{name}: chain"
    );
    assert!(chain.bytes >= lab.chain.bytes, "{name}: bytes of the chain");
    assert!(
        lab.chain.bytes == 0 || chain.bytes < lab.chain.bytes + 100,
        "{name}: {}",
        chain.bytes
    );
    assert_eq!(chain.anchor, Anchor::Known, "{name}");
    assert!(chain.names_match && chain.in_order, "{name}");
    let features = &scan.features;
    let alpn: Vec<&str> = lab.alpn.iter().map(|a| a.name()).collect();
    assert_eq!(features.alpn, alpn, "{name}: alpn");
    let stapled = features.ocsp_stapling == Observed::Yes;
    assert_eq!(stapled, lab.ocsp == Switch::On, "{name}: ocsp");
    if lab.tls.contains(&TlsVersion::Tls13) {
        assert_eq!(
            features.tickets_tls13,
            Some(u32::from(lab.tickets)),
            "{name}: tickets"
        );
    }
    if lab.tls.contains(&TlsVersion::Tls12) {
        let resumes = features.resumption_tls12 == Observed::Yes;
        assert_eq!(resumes, lab.tickets > 0, "{name}: resumption in TLS 1.2");
    }
}

fn a_scan_finds_every_field_of_every_built_in_site() {
    let place = Place::new();
    place.succeeds("scan --link none --parts sessions,features");
    let run = place.run();
    let manifest: ScanManifest = kept(&run, "run.json");
    let summary: ScanSummary = kept(&run, "summary.json");
    assert_eq!(summary.sites.len(), 101);
    for (site, scan) in manifest.plan.sites.iter().zip(&summary.sites) {
        assert_reproduced(site, scan);
    }
}

fn a_recorded_scan_is_a_sites_file_that_emulates_it() {
    let slow = format!("* rtt=40ms\n{SITES}");
    let place = Place::with_sites(&slow);
    place.succeeds("scan --sites sites.txt --link user");
    let run = place.run();
    let sites = parse_sites(&slow).unwrap();
    let summary: ScanSummary = kept(&run, "summary.json");
    for (site, scan) in sites.iter().zip(&summary.sites) {
        assert_reproduced(site, scan);
    }
    let done = place.succeeds("setup sites record RUN");
    let recorded = parse_sites(&done.stdout).unwrap();
    assert_eq!(recorded.len(), sites.len(), "{}", done.stdout);
    for (site, recorded) in sites.iter().zip(&recorded) {
        let (due, lab) = (&site.lab, &recorded.lab);
        assert_eq!(recorded.name(), site.name());
        assert_eq!(
            (&lab.tls, lab.key, &lab.alpn, lab.ocsp, lab.chain.length),
            (&due.tls, due.key, &due.alpn, due.ocsp, due.chain.length),
            "{}",
            done.stdout
        );
        assert!(
            due.suites.is_empty() || lab.suites == due.suites,
            "{}",
            done.stdout
        );
        assert!(lab.link.rtt_ns >= due.link.rtt_ns, "{}", done.stdout);
    }
    // The scan of the recorded sites is the same as the scan before.
    place.write("recorded.txt", &done.stdout);
    let again = place.succeeds("scan --sites recorded.txt --link none --json");
    let again: ScanSummary = json(&again.stdout);
    for (before, after) in summary.sites.iter().zip(&again.sites) {
        let [then, now] = [before, after].map(|scan| {
            let spoken = scan.versions.iter().filter(|v| v.supported);
            let suites = spoken.map(|v| {
                let codes = v.suites.iter().map(|s| s.code);
                (v.version, codes.collect::<Vec<_>>())
            });
            suites.collect::<Vec<_>>()
        });
        assert_eq!(then, now, "{}", before.site);
    }
}

fn every_site_that_a_stack_loses_is_named_with_its_reason_and_confirmed() {
    let place = Place::new();
    place.write("old-sites.txt", OLD_SITES);
    let line = "scan --sites old-sites.txt --link none --timeout 1s --summary --json \
                --against openssl,rustls-aws-lc";
    let done = place.succeeds(line);
    let summary: ScanSummary = json(&done.stdout);
    let loss = summary.loss.unwrap();
    let lost: BTreeMap<&str, LossReason> = loss
        .lost
        .iter()
        .filter(|group| group.stack == "rustls-aws-lc")
        .flat_map(|group| group.sites.keys().map(|site| (site.as_str(), group.reason)))
        .collect();
    let due = BTreeMap::from([
        ("cbc.example", LossReason::CbcOnly),
        ("dhe.example", LossReason::DheOnly),
        ("mixed.example", LossReason::DheOnly),
        ("rsa.example", LossReason::RsaKeyExchangeOnly),
    ]);
    assert_eq!(lost, due);
    assert_eq!(loss.lost_by("openssl"), 0);
    assert_eq!(loss.unreachable, ["name.example"]);
    assert_eq!(loss.unknown, ["silent.example"]);
    for site in due.keys().chain(&["modern.example"]) {
        let of_site = loss.confirmed.iter().filter(|c| c.site == *site);
        let verdicts: Vec<_> = of_site.map(|c| (c.stack.as_str(), c.verdict)).collect();
        let right = Confirmed::AsPredicted;
        assert_eq!(
            verdicts,
            [("openssl", right), ("rustls-aws-lc", right)],
            "{site}"
        );
    }
    let population = summary.population.unwrap();
    let only = population
        .rows
        .iter()
        .find(|row| row.name == "TLS 1.2")
        .unwrap();
    assert_eq!((population.sites, only.supports, only.only), (7, 7, 5));
    assert_eq!(summary.profiles.unwrap().guideline, "5.8");
}

fn round_trips_to_every_built_in_site_are_as_predicted() {
    let place = Place::new();
    let line =
        "scan --link user --parts features --against openssl,rustls-aws-lc --confirm-reached 1000";
    let done = place.succeeds(line);
    let summary: ScanSummary = kept(&place.run(), "summary.json");
    let loss = summary.loss.unwrap();
    assert_eq!(loss.confirmed.len(), 202, "{}", done.stdout);
    let mut retried = BTreeMap::new();
    for handshake in &loss.confirmed {
        let (site, stack) = (&handshake.site, &handshake.stack);
        let of = format!("{site} with {stack}: {handshake:?}");
        assert_eq!(handshake.verdict, Confirmed::AsPredicted, "{of}");
        let (Agreement::Agrees(due), HandshakeResult::Handshake { packets, .. }) =
            (&handshake.predicted, &handshake.seen)
        else {
            panic!("{of}");
        };
        let (due, seen) = (due.round_trips.expect(&of), packets.expect(&of));
        assert_eq!(
            (due.first_byte, due.hello_segments),
            (seen.first_byte, seen.hello_segments),
            "{of}"
        );
        if due.retry > 0 {
            *retried.entry(stack.as_str()).or_insert(0) += 1;
        }
    }
    // The TLS 1.3 sites whose servers have neither X25519 nor the hybrid group.
    assert_eq!(
        retried,
        BTreeMap::from([("openssl", 2), ("rustls-aws-lc", 2)])
    );
    let due = "The link saw the packets of 202 handshakes: 202 as predicted.";
    done.prints(due);
}

fn a_stack_that_makes_no_connections_is_refused() {
    let place = Place::with_sites(SITES);
    without_operation(&place, "for-the-suite", "connect");
    for line in [
        "stacks hello --stack rustls-ring --worker rustls-ring=./for-the-suite",
        "scan --sites sites.txt --against openssl,rustls-ring --worker rustls-ring=./for-the-suite",
    ] {
        let done = place.netbench_line(line).expect(1);
        done.tells("stack rustls-ring: its worker makes no connections");
    }
}

fn json_is_as_the_schemas_say_and_a_report_is_made_again() {
    let place = Place::with_sites(SITES);
    let line = "scan --sites sites.txt --link none --summary --json --against rustls-ring,openssl";
    let done = place.succeeds(line);
    let run = place.run();
    check("scan-summary.json", &done.stdout);
    check("scan-run.json", &text(&run, "run.json"));
    check("scan-against.json", &text(&run, "against.json"));
    assert_eq!(check_lines("scan-site.json", &text(&run, "scan.jsonl")), 7);
    let again = place.succeeds("runs report RUN --json");
    assert_eq!(again.stdout, done.stdout);
    for format in ["terminal", "markdown", "csv"] {
        let line = format!("runs report RUN --format {format}");
        let done = place.succeeds(&line);
        done.prints("ecdsa.test");
        assert!(!done.stdout.contains('\x1b'));
    }
}

/// Scans sites with a policy.
fn checked(place: &Place, sites: &str, policy: &str, format: &str) -> Done {
    place.netbench_line(&format!(
        "scan --link none --parts enumeration,sessions --sites {sites} --policy {policy} --format {format}"
    ))
}

fn a_policy_is_a_check_with_an_exit_code() {
    const GOOD: &str = "good.test suites=TLS_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 \
                        groups=x25519,secp256r1\n";
    const BAD: &str = "bad.test tls=1.2 suites=TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 chain=1\n";
    let place = Place::with_sites(GOOD);
    place.write("both.txt", &format!("{GOOD}{BAD}"));
    let done = checked(&place, "sites.txt", "mozilla-intermediate", "terminal").expect(0);
    done.prints("1 keeps to the policy");
    let done = checked(&place, "both.txt", "mozilla-intermediate", "json").expect(4);
    check("scan-summary.json", &done.stdout);
    let summary: ScanSummary = json(&done.stdout);
    let result = summary.policy.unwrap();
    assert_eq!(result.policy.version.as_deref(), Some("5.8"));
    assert!(result.sites[0].keeps(), "{:?}", result.sites);
    let broken: Vec<&str> = result.sites[1]
        .broken
        .iter()
        .map(|b| b.what.as_str())
        .collect();
    assert!(
        broken.contains(&"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 in TLS 1.2"),
        "{broken:?}"
    );
    let done = checked(&place, "both.txt", "mozilla-modern", "junit").expect(4);
    done.prints("<failure");

    place.write("own.toml", "name = \"ours\"\nneeds_versions = [\"1.3\"]\n");
    let done = checked(&place, "both.txt", "own.toml", "terminal").expect(4);
    done.prints("missing-version");
    for (text, due) in [
        ("name = \"x\"\nversion = 5\n", "line 2"),
        ("name = \"x\"\n\nsuits = []\n", "line 3"),
        ("name = \"x\"\nsuites = [\"TLS_NONE\"]\n", "line 2"),
    ] {
        place.write("own.toml", text);
        let done = checked(&place, "sites.txt", "own.toml", "terminal").expect(2);
        done.tells(due);
    }
    let done = checked(&place, "sites.txt", "mozila-modern", "terminal").expect(2);
    done.tells("mozilla-modern");
    place.refuses(2, "scan --link none --format sarif => --policy");
}

fn a_sample_is_drawn_by_the_seed_and_tells_of_all() {
    let sites: String = (0..20)
        .map(|i| format!("s{i}.test key=ecdsa-p256\n"))
        .collect();
    let place = Place::with_sites(&sites);
    let [first, second] = [(); 2].map(|()| {
        let line = "scan --sites sites.txt --link none --parts enumeration --sample 4 --seed 7 --summary --json";
        place.document::<ScanSummary>("scan-summary.json", line)
    });
    let [drawn, again] = [&first, &second].map(|summary| {
        let names = summary.sites.iter().map(|site| &site.site);
        names.collect::<Vec<_>>()
    });
    assert_eq!(drawn.len(), 4);
    assert_eq!(drawn, again, "the seed draws them");
    assert_eq!(first.run.sampled_of, Some(20));
    let rows = first.population.unwrap().rows;
    let newest = rows.iter().find(|row| row.name == "TLS 1.3").unwrap();
    let of_all = newest.of_all.as_ref().unwrap().supports;
    assert!(
        of_all.low_percent > 40.0 && of_all.high_percent > 99.0,
        "{of_all:?}"
    );
    place.refuses(2, "scan --sites sites.txt --sample 21 => 21");
}

fn what_changed_between_two_scans_is_shown() {
    let place = Place::new();
    let runs = [
        ("one", "a.test\nb.test\n"),
        ("two", "a.test\nb.test tls=1.2\n"),
    ];
    let [one, two] = runs.map(|(name, sites)| {
        place.write("sites.txt", sites);
        let line = format!("scan --sites sites.txt --link none --parts enumeration --name {name}");
        place.succeeds(&line);
        place.named(name).display().to_string()
    });
    let done = place.succeeds(&format!("scan diff {one} {two} --json"));
    check("scan-diff.json", &done.stdout);
    let diff: netbench_report::ScanDiff = json(&done.stdout);
    let changed: Vec<&str> = diff.changed.iter().map(|site| site.site.as_str()).collect();
    assert!(changed.contains(&"b.test"), "{changed:?}");
    let lost = diff.changed.iter().any(|site| {
        let mut changes = site.changes.iter();
        changes.any(|c| c.what == "TLS 1.3" && c.was == "yes" && c.now == "no")
    });
    assert!(lost, "{}", done.stdout);
    place
        .succeeds(&format!("scan diff {one} {two}"))
        .prints("TLS 1.3");
    place.refuses(2, &format!("scan diff {one} nowhere => nowhere"));
}

fn what_was_scanned_before_an_interruption_is_kept_and_gone_on_from() {
    let sites: String = (0..40)
        .map(|i| format!("s{i}.test key=ecdsa-p256\n"))
        .collect();
    let place = Place::with_sites(&sites);
    let line = "scan --sites sites.txt --link none --parts enumeration --rate 150 --jobs 2";
    let child = place.begin(line);
    until("a few sites", || place.lines("scan.jsonl") >= 3);
    let done = interrupt(child).expect(130);
    let before = place.lines("scan.jsonl");
    assert!(before < 40, "{before}");
    done.prints("not scanned");
    place.succeeds("run RUN");
    assert_eq!(place.lines("scan.jsonl"), 40, "no site is scanned twice");
    let summary: ScanSummary = kept(&place.run(), "summary.json");
    assert_eq!((summary.run.planned, summary.run.scanned), (40, 40));
}

/// The record of a site has the configurations of its clients, which a server that rejects them does not have.
fn emulated_sites_with_encrypted_hellos_have_https_records() {
    let place = Place::with_sites(
        "* server=go tls=1.3\nordinary.example ech=outer-only\naccepted.example ech=accepted\nretry.example:8443 ech=rejected-retry\n\
         no-keys.example ech=rejected-no-keys\n",
    );
    place.succeeds("scan --sites sites.txt --parts features --name records");
    let stored = text(&place.named("records"), "scan.jsonl");
    let mut found = BTreeMap::new();
    for line in stored.lines() {
        let site: SiteScan = serde_json::from_str(line).unwrap();
        let records = site.features.https_records.unwrap();
        let records: Vec<_> = records
            .iter()
            .map(|record| record.ech_is_the_servers.clone())
            .collect();
        let sent = site.features.ech_configs.map(|configs| configs.len());
        found.insert(site.site, (records, sent));
    }
    let due = [
        ("ordinary.example", vec![], 1),
        ("accepted.example", vec![Observed::Yes], 1),
        ("retry.example:8443", vec![Observed::No], 1),
        ("no-keys.example", vec![Observed::No], 0),
    ];
    let due = due.map(|(site, records, sent)| (site.to_owned(), (records, Some(sent))));
    assert_eq!(found, BTreeMap::from(due));
}
