//! Complete reports of scans. `INSTA_UPDATE=always cargo test -p netbench-report --test main scan` updates their snapshots;
//! review the changes that you accept.

use std::collections::BTreeMap;

use netbench_interop::{
    LossReport, Losses, PolicyCheck, PolicyResult, PopulationCount, Profiles, built_in_policy,
    confirmation,
};
use netbench_model::{
    SCHEMA_VERSION, ScanManifest, Site, StackName, Target,
    scan::{Confirmation, HandshakeResult, Offer, SiteScan},
};
use netbench_report::{
    Report, RunHead, ScanHead, ScanOfDiff, ScanSummary, SummaryHead, diff_scans, summarize_scan,
};
use serde_json::{Value, json};

use crate::support::{
    formats::{assert_emulated, assert_has, render, terminal},
    scan_made::{manifest, offer, site, version},
};

fn summary(count: usize) -> ScanSummary {
    const X25519: (&str, u16) = ("x25519", 0x1d);
    const GCM: (&str, u16) = ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f);
    const DHE: (&str, u16) = ("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", 0x009e);
    const CBC: (&str, u16) = ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", 0xc027);
    let well = json!({"kind": "scanned"});
    let in_part = json!({"kind": "partial", "why": "not done within 120 s"});
    let refused = json!({"kind": "failed", "class": "ssh", "detail": "answers \u{1b}[31mas SSH"});
    let mut sites = vec![
        site(
            "both.test",
            &well,
            &[version("1.2", &[GCM, DHE], &[X25519])],
        ),
        site("dhe.test", &well, &[version("1.2", &[DHE], &[])]),
        site("cbc.test", &well, &[version("1.2", &[CBC], &[X25519])]),
        site("ssh.test", &refused, &[]),
        site("odd.test", &in_part, &[version("1.2", &[GCM], &[X25519])]),
    ];
    sites.truncate(count);
    let offers = vec![offer("broad", &[GCM, DHE, CBC]), offer("strict", &[GCM])];
    let predicted = loss_of(offers.clone(), &sites, Vec::new());
    let alert = HandshakeResult::Failed {
        class: "alert".to_owned(),
        reason: "handshake_failure".to_owned(),
        in_tls: true,
    };
    let refused = HandshakeResult::Failed {
        class: "certificate".to_owned(),
        reason: "ca-as-leaf \u{1b}[31m".to_owned(),
        in_tls: true,
    };
    let seen = [(1, alert), (4, refused)].into_iter();
    let confirmed = seen.filter(|(site, _)| *site < count).map(|(site, seen)| {
        let found = &predicted.sites[site];
        let agreement = found.agreements[1].clone();
        confirmation(&found.site, &predicted.offers[1].stack, agreement, seen)
    });
    let loss = loss_of(offers, &sites, confirmed.collect());
    let (mut population, mut profiles) = (PopulationCount::default(), Profiles::new());
    for site in &sites {
        population.add(site);
        profiles.add(site);
    }
    ScanSummary {
        head: SummaryHead {
            schema: SCHEMA_VERSION,
            kind: "scan".to_owned(),
            seed: Some(1),
            ..SummaryHead::default()
        },
        run: ScanHead {
            head: RunHead {
                name: "a-run".to_owned(),
                netbench: "0.1.0".to_owned(),
                started: "2026-01-01T00:00:00Z".to_owned(),
                command: vec!["netbench".to_owned(), "scan".to_owned()],
                finished: None,
            },
            place: Target::Lab,
            planned: u32::try_from(count).expect("few"),
            sampled_of: None,
            scanned: u32::try_from(count).expect("few").min(3),
            partial: u32::from(count > 4),
            failed: (count > 3)
                .then(|| ("ssh".to_owned(), 1))
                .into_iter()
                .collect(),
            untrusted: 0,
            connections: 200,
            enumeration_connections: 70,
            retries: 1,
            bytes: 15_000,
            client_profile: None,
            stacks: BTreeMap::from([(StackName::new("broad"), "a library".to_owned())]),
            origin: netbench_model::Origin::default(),
        },
        population: Some(population.population()),
        profiles: Some(profiles),
        sites,
        many: None,
        loss: Some(loss),
        policy: None,
        warnings: Vec::new(),
    }
}

/// Returns the losses of stacks with these offers.
fn loss_of(offers: Vec<Offer>, sites: &[SiteScan], confirmed: Vec<Confirmation>) -> LossReport {
    let mut losses = Losses::new(offers, confirmed);
    for site in sites {
        losses.add(site);
    }
    losses.report()
}

/// Checks sites against a built-in policy.
fn checked(sites: &[SiteScan]) -> PolicyResult {
    let policy = built_in_policy("mozilla-intermediate").expect("a policy");
    let mut checking = PolicyCheck::new(policy);
    for site in sites {
        checking.add(site);
    }
    checking.result()
}

/// Returns a text that contains no control sequence of a terminal.
fn harmless(text: String) -> String {
    assert!(!text.contains('\u{1b}'), "{text:?}");
    text
}

#[test]
fn many_sites_are_a_table() {
    let summary = summary(5);
    insta::assert_snapshot!("scan_terminal", harmless(terminal(&summary, 120)));
    insta::assert_snapshot!("scan_markdown", harmless(render(&summary, "markdown")));
    insta::assert_snapshot!("scan_csv", harmless(render(&summary, "csv")));
}

/// Names of hosts stand for emulated profiles; every format that shows them states it.
#[test]
fn emulated_sites_are_called_so() {
    for count in [2, 5] {
        let mut summary = summary(count);
        summary.run.place = Target::Lab;
        summary.policy = Some(checked(&summary.sites));
        assert_emulated(&summary);
    }
}

#[test]
fn a_few_sites_are_shown_in_full() {
    let summary = summary(2);
    insta::assert_snapshot!("scan_in_full", harmless(terminal(&summary, 100)));
}

/// A certificate of this subject and these names.
fn certificate(subject: &str, names: &[&str], valid_now: bool) -> Value {
    json!({
        "sha256": "", "subject": subject, "issuer": "CN=intermediate", "names": names, "key": "ec",
        "key_bits": 256, "curve": "secp256r1", "signature": "ecdsa-with-SHA256",
        "not_before": "2025-01-01T00:00:00Z", "not_after": "2026-01-01T00:00:00Z",
        "valid_now": valid_now, "is_ca": names.is_empty(), "scts": 0, "bytes": 500,
    })
}

#[test]
fn certificates_are_shown_as_they_were_sent() {
    let mut summary = summary(2);
    summary.sites.truncate(1);
    let names = ["a.test", "b.test", "c.test", "d.test"];
    let leaf = certificate("CN=leaf", &["both.test"], true);
    let wrong = certificate("CN=wrong \u{1b}[31m", &names, false);
    let above = certificate("CN=intermediate", &[], true);
    let chains = json!([
        {
            "versions": ["1.3"], "certificates": [leaf, above], "in_order": true, "unrelated": 0,
            "has_root": false, "anchor": "known", "names_match": true, "bytes": 1000, "scts": 2,
        },
        {
            "versions": ["1.2"], "certificates": [wrong, above, wrong, leaf], "in_order": false, "unrelated": 1,
            "duplicates": 1, "has_root": false, "anchor": "missing", "missing": "CN=root \u{1b}[31m",
            "invalid_issuers": 0, "names_match": false, "bytes": 2000, "scts": 0,
        },
        {
            "versions": ["1.2"], "certificates": [above, leaf], "in_order": false, "unrelated": 0,
            "has_root": true, "anchor": "unknown-root", "names_match": false, "bytes": 1000, "scts": 0,
        },
        {
            "versions": ["1.2"], "certificates": [leaf], "in_order": true, "unrelated": 0,
            "has_root": false, "anchor": "self-signed", "names_match": true, "bytes": 500, "scts": 0,
        },
    ]);
    let compression = json!([
        {"name": "brotli", "code": 2, "compressed_bytes": 700, "bytes": 1000},
        {"name": "zlib", "code": 1, "compressed_bytes": 900, "bytes": 10, "fault": "more than the stated 10 bytes"},
    ]);
    let site = &mut summary.sites[0];
    site.chains = serde_json::from_value(chains).expect("chains");
    site.features.certificate_compression =
        Some(serde_json::from_value(compression).expect("algorithms"));
    let configs = json!([
        {"version": 65_037, "public_name": "public.example", "kem": {"name": "X25519", "code": 32}},
        {"public_name": "version 0xfe0a", "version": 65_034},
    ]);
    site.features.ech_configs = Some(serde_json::from_value(configs).expect("configurations"));
    summary.loss = None;
    summary.population = None;
    summary.profiles = None;
    insta::assert_snapshot!("scan_certificates", harmless(terminal(&summary, 160)));
}

/// The violations of the policy are named; a site with too few results does not pass.
#[test]
fn a_policy_says_what_breaks_it() {
    let mut summary = ScanSummary {
        loss: None,
        population: None,
        profiles: None,
        ..summary(5)
    };
    summary.policy = Some(checked(&summary.sites));
    assert!(!summary.passes());
    insta::assert_snapshot!("scan_policy", harmless(terminal(&summary, 100)));
    insta::assert_snapshot!("scan_policy_junit", harmless(render(&summary, "junit")));

    let sarif = harmless(render(&summary, "sarif"));
    let log: Value = serde_json::from_str(&sarif).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "netbench");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert!(!results.is_empty());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("few");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert_eq!(result["level"], "error");
        let text = result["message"]["text"].as_str().expect("a text");
        let file = &result["locations"][0]["physicalLocation"];
        assert!(file["artifactLocation"]["uri"].is_string());
        assert_eq!(file["region"]["startLine"], 1);
        let place = &result["locations"][0]["logicalLocations"][0];
        let site = place["name"].as_str().expect("a site");
        assert!(text.starts_with(site), "{text}");
    }
    let dhe = results.iter().find(|result| {
        let text = result["message"]["text"].as_str().unwrap_or_default();
        text.contains("dhe.test (emulated): TLS_DHE_RSA_WITH_AES_128_GCM_SHA256")
    });
    assert_eq!(dhe.expect("the suite of dhe.test")["ruleId"], "suite");
}

#[test]
fn two_scans_show_what_changed() {
    let (before, mut after) = (summary(5), summary(4));
    after.run.head.name = "a-later-run".to_owned();
    after.sites[0].versions[0].suites.truncate(1);
    after.sites[1].features.session_ids = netbench_model::scan::Observed::Yes;
    // An incomplete list does not show that other suites are missing.
    after.sites[2].versions[0].suites.clear();
    after.sites[2].versions[0].complete = false;
    let [first, second] = [&before, &after].map(|summary| ScanOfDiff {
        name: summary.run.head.name.clone(),
        netbench: summary.run.head.netbench.clone(),
        started: summary.run.head.started.clone(),
        place: summary.run.place,
    });
    let later = after.sites.iter().cloned().map(Some).chain([None]);
    let earlier = before.sites.iter().cloned().map(Some);
    let pairs = earlier.zip(later).map(Ok::<_, std::convert::Infallible>);
    let Ok(diff) = diff_scans(first, second, pairs);
    let changed: Vec<&str> = diff.changed.iter().map(|site| site.site.as_str()).collect();
    assert_eq!(changed, ["both.test", "dhe.test"]);
    assert_eq!((diff.sites, diff.only_before.len()), (4, 1));
    insta::assert_snapshot!("scan_diff", harmless(terminal(&diff, 100)));
    let mut emulated = diff;
    emulated.after.place = Target::Lab;
    assert_emulated(&emulated);
}

/// The shares of a sample are shown together with the inferred shares of all sites.
#[test]
fn a_sample_says_what_all_are_like() {
    let mut summary = summary(2);
    summary.run.sampled_of = Some(200);
    let text = harmless(terminal(&summary, 120));
    // One of two sites: of 200, Wilson's interval with the correction for a finite population.
    assert_has(&text, "Of all, that is 9.5 to 90.5 %.");
    assert_has(&text, "drawn at random of 200");
}

/// Very many sites are shown grouped by their common support.
#[test]
fn very_many_sites_are_grouped() {
    let few = summary(5);
    let scans: Vec<SiteScan> = (0..1_200)
        .map(|number| SiteScan {
            site: format!("s{number}.test"),
            ..few.sites[if number == 700 { 4 } else { number % 4 }].clone()
        })
        .collect();
    let sites: Vec<Site> = scans
        .iter()
        .map(|scan| Site::new(scan.site.parse().expect("a name"), 443))
        .collect();
    let manifest: ScanManifest = manifest(sites);
    let whole = scans.into_iter().map(Ok::<_, std::convert::Infallible>);
    let Ok(summary) = summarize_scan(&manifest, whole, None);
    assert!(summary.sites.is_empty());
    let many = summary.many.as_ref().expect("grouped");
    let counts: Vec<u32> = many.alike.iter().map(|alike| alike.sites).collect();
    assert_eq!(counts, [300, 300, 300, 299, 1]);
    assert_eq!(many.partial.len(), 1);
    insta::assert_snapshot!("scan_many", harmless(terminal(&summary, 120)));
    let mut emulated = summary;
    emulated.run.place = Target::Lab;
    assert_emulated(&emulated);
}
