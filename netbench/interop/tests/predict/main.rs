//! Tests of predictions from a stack's hello and a site's scan.

mod features;
mod intolerances;
mod made;
mod policies;
mod round_trips;
mod web;

use netbench_interop::{
    LISTED, Losses, PopulationCount, PopulationKind, Profiles, confirmation, is_up_to_the_verifier,
    predict,
};
use netbench_model::{
    SwitchEffect,
    scan::{Agreement, Anchor, ChainScan, Confirmed, HandshakeResult, LossReason, Order, SiteScan},
    tls::{CipherSuite, TlsVersion},
};

use made::*;

/// Returns a site with TLS 1.2 and one chain.
fn with_chain(chain: ChainScan) -> SiteScan {
    let mut site = tls12(&[ECDHE_GCM]);
    site.chains.push(chain);
    site
}

/// Returns a site of that name with TLS 1.2.
fn named(name: &str, suites: &[u16]) -> SiteScan {
    let mut site = tls12(suites);
    site.site = name.to_owned();
    site
}

fn handshake(suite: u16, group: Option<&str>) -> HandshakeResult {
    HandshakeResult::Handshake {
        version: "1.2".to_owned(),
        suite: CipherSuite(suite).to_string(),
        group: group.map(str::to_owned),
        signature: None,
        packets: None,
    }
}

fn failed(class: &str, reason: &str, in_tls: bool) -> HandshakeResult {
    HandshakeResult::Failed {
        class: class.to_owned(),
        reason: reason.to_owned(),
        in_tls,
    }
}

#[test]
fn a_loss_has_its_reason() {
    let sha256 = "sha256WithRSAEncryption";
    let cases = [
        (
            "old",
            site("a.test", vec![spoken(TlsVersion::Tls10, &[0x2f], &[])], &[]),
            LossReason::Version,
        ),
        ("dhe", tls12(&[DHE_GCM]), LossReason::DheOnly),
        (
            "dhe and rsa",
            tls12(&[RSA_GCM, DHE_GCM]),
            LossReason::DheOnly,
        ),
        (
            "rsa",
            tls12(&[RSA_GCM, 0x2f]),
            LossReason::RsaKeyExchangeOnly,
        ),
        ("rc4", tls12(&[RC4]), LossReason::RsaKeyExchangeOnly),
        ("ecdhe rc4", tls12(&[0xc011]), LossReason::Suite),
        ("cbc", tls12(&[ECDHE_CBC]), LossReason::CbcOnly),
        (
            "cbc and dhe",
            tls12(&[DHE_GCM, ECDHE_CBC]),
            LossReason::CbcOnly,
        ),
        (
            "group",
            site(
                "a.test",
                vec![spoken(TlsVersion::Tls13, &[GCM13], &[P521])],
                &[(TlsVersion::Tls13, PSS)],
            ),
            LossReason::Group,
        ),
        (
            "sha-1",
            site(
                "a.test",
                vec![spoken(TlsVersion::Tls12, &[ECDHE_GCM], &[P256])],
                &[(TlsVersion::Tls12, SHA1)],
            ),
            LossReason::Sha1,
        ),
        (
            "signature",
            site(
                "a.test",
                vec![spoken(TlsVersion::Tls13, &[GCM13], &[P256])],
                &[(TlsVersion::Tls13, 0x0603)],
            ),
            LossReason::Signature,
        ),
        (
            "the newest common version decides",
            site(
                "a.test",
                vec![
                    spoken(TlsVersion::Tls13, &[0x1304], &[P256]),
                    spoken(TlsVersion::Tls12, &[ECDHE_GCM], &[P256]),
                ],
                &[],
            ),
            LossReason::Suite,
        ),
        (
            "name",
            with_chain(chain(Anchor::Known, false, true, sha256)),
            LossReason::Certificate,
        ),
        (
            "expired",
            with_chain(chain(Anchor::Known, true, false, sha256)),
            LossReason::Certificate,
        ),
        (
            "root",
            with_chain(chain(Anchor::UnknownRoot, true, true, sha256)),
            LossReason::Certificate,
        ),
        (
            "sha-1 in the chain",
            with_chain(chain(Anchor::Known, true, true, "sha1WithRSAEncryption")),
            LossReason::Sha1,
        ),
    ];
    for (name, site, due) in cases {
        match predict(&strict(), &site) {
            Agreement::Loses { reason, .. } => assert_eq!(reason, due, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn an_agreement_follows_whose_order_it_is() {
    let mut site = tls12(&[DHE_GCM, ECDHE_GCM, RSA_GCM]);
    site.versions[0].groups = spoken(TlsVersion::Tls12, &[], &[P256, X25519]).groups;
    let by_server = agreed(&broad(), &site);
    assert_eq!(by_server.suite, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256");
    assert_eq!(by_server.group, None);
    assert_eq!(by_server.signature.as_deref(), Some("rsa_pss_rsae_sha256"));
    site.versions[0].suite_order = Order::Client;
    let by_client = agreed(&broad(), &site);
    assert_eq!(by_client.suite, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    assert_eq!(by_client.group.as_deref(), Some("secp256r1"));
    site.versions[0].group_order = Order::Client;
    let by_client = agreed(&broad(), &site);
    assert_eq!(by_client.group.as_deref(), Some("x25519"));
    site.versions[0].suite_order = Order::Unknown;
    let by_any = agreed(&broad(), &site).or;
    assert!(by_any.contains(&"TLS_RSA_WITH_AES_128_GCM_SHA256".to_owned()));
}

#[test]
fn a_site_without_its_scan_is_not_called_lost() {
    let mut unknown = tls12(&[ECDHE_GCM]);
    unknown.versions.clear();
    assert!(is_unknown(&strict(), &unknown));
}

#[test]
fn what_a_scan_did_not_see_is_not_called_lost() {
    // The stack lacks a suite, and the list is incomplete.
    let mut cut = tls12(&[0x002f]);
    assert!(!is_unknown(&strict(), &cut));
    cut.versions[0].complete = false;
    assert!(is_unknown(&strict(), &cut));
    // The site has an old version, and newer ones were not requested.
    let old = spoken(TlsVersion::Tls10, &[0xc013], &[0x17]);
    let mut newer = spoken(TlsVersion::Tls12, &[], &[]);
    newer.supported = false;
    let mut site = site("a", vec![newer, old], &[]);
    assert!(!is_unknown(&strict(), &site));
    site.versions[0].complete = false;
    assert!(is_unknown(&strict(), &site));
}

#[test]
fn losses_are_grouped_by_who_and_why() {
    let scans = [
        named("both.test", &[ECDHE_GCM]),
        named("dhe.test", &[DHE_GCM]),
        named("dhe2.test", &[DHE_GCM]),
        named("cbc.test", &[ECDHE_CBC]),
        named("rc4.test", &[0xc011]),
    ];
    let report = losses_of(vec![broad(), strict()], &scans, Vec::new());
    assert_eq!(report.lost_by("broad"), 0);
    assert_eq!(report.lost_by("strict"), 3);
    let groups: Vec<_> = report
        .lost
        .iter()
        .map(|g| {
            (
                g.stack.as_str(),
                g.reason,
                g.sites.len(),
                g.reached_by.clone(),
            )
        })
        .collect();
    let by = vec!["broad".to_owned()];
    assert_eq!(
        groups,
        [
            ("strict", LossReason::DheOnly, 2, by.clone()),
            ("strict", LossReason::CbcOnly, 1, by),
        ]
    );
    assert_eq!(report.unreachable, ["rc4.test"]);
}

#[test]
fn handshakes_are_compared_with_predictions() {
    use Confirmed::{AsPredicted, Mismatch, Unreported};
    let agrees = predict(&strict(), &tls12(&[ECDHE_GCM]));
    let loses = predict(&strict(), &tls12(&[DHE_GCM]));
    let cases = [
        (&agrees, handshake(ECDHE_GCM, None), AsPredicted),
        (&agrees, handshake(ECDHE_GCM, Some("X25519")), AsPredicted),
        (&agrees, handshake(ECDHE_GCM, Some("secp256r1")), Mismatch),
        (&agrees, handshake(ECDHE_CBC, None), Mismatch),
        (
            &agrees,
            failed("alert", "handshake_failure", true),
            Mismatch,
        ),
        (
            &agrees,
            failed("alert", "handshake_failure", false),
            Unreported,
        ),
        (
            &loses,
            failed("alert", "handshake_failure", true),
            AsPredicted,
        ),
        (
            &loses,
            failed("alert", "handshake_failure", false),
            Unreported,
        ),
        (&loses, handshake(DHE_GCM, None), Mismatch),
    ];
    for (predicted, seen, due) in cases {
        let said = format!("{predicted:?} {seen:?}");
        let confirmation = confirmation("a.test", "strict", predicted.clone(), seen);
        assert_eq!(confirmation.verdict, due, "{said}");
    }
}

#[test]
fn what_a_handshake_shows_counts_and_not_what_was_predicted() {
    let suites = [("ca.test", ECDHE_GCM), ("dhe.test", DHE_GCM)];
    let scans = suites.map(|(name, suite)| named(name, &[suite]));
    let offers = vec![broad(), strict()];
    let seen = [
        failed("certificate", "ca-as-leaf", true),
        handshake(DHE_GCM, None),
    ];
    let confirmed = scans.iter().zip(seen).map(|(scan, seen)| {
        let predicted = predict(&strict(), scan);
        confirmation(&scan.site, "strict", predicted, seen)
    });
    let confirmed = confirmed.collect();
    let report = losses_of(offers, &scans, confirmed);
    assert_eq!(report.mismatches().count(), 2);
    let [only] = &report.lost[..] else {
        panic!("{:?}", report.lost);
    };
    assert_eq!(
        (only.stack.as_str(), only.reason),
        ("strict", LossReason::Certificate)
    );
    assert!(only.sites["ca.test"].contains("ca-as-leaf"));
}

#[test]
fn a_population_counts_what_is_supported_preferred_and_alone() {
    let both = site(
        "both.test",
        vec![
            spoken(TlsVersion::Tls13, &[GCM13], &[0x11ec, X25519]),
            spoken(TlsVersion::Tls12, &[ECDHE_GCM, RSA_GCM], &[X25519]),
        ],
        &[(TlsVersion::Tls13, PSS), (TlsVersion::Tls12, 0x0401)],
    );
    let failed = site("failed.test", Vec::new(), &[]);
    let mut count = PopulationCount::default();
    for scan in [both, tls12(&[ECDHE_CBC]), failed] {
        count.add(&scan);
    }
    let counted = count.population();
    assert_eq!(counted.sites, 2);
    use PopulationKind as K;
    for (kind, name, numbers) in [
        (K::Version, "TLS 1.3", (1, 1, 0)),
        (K::Version, "TLS 1.2", (2, 1, 1)),
        (K::SuiteClass, "CBC", (1, 1, 1)),
        (K::SuiteClass, "AEAD", (1, 1, 1)),
        (K::KeyExchange, "ML-KEM hybrid", (1, 1, 0)),
        (K::KeyExchange, "ECDHE", (2, 1, 1)),
        (K::KeyExchange, "RSA", (1, 0, 0)),
        (K::Signature, "rsa_pss_rsae_sha256", (2, 2, 1)),
    ] {
        let mut rows = counted.rows.iter();
        let row = rows.find(|row| row.kind == kind && row.name == name);
        let found = row.map(|row| (row.supports, row.prefers, row.only));
        assert_eq!(found, Some(numbers), "{name}");
    }
}

#[test]
fn profiles_take_nothing_outside_them() {
    let mut modern = site(
        "modern.test",
        vec![spoken(TlsVersion::Tls13, &[GCM13], &[X25519])],
        &[],
    );
    let mut leaf = chain(Anchor::Known, true, true, "ecdsa-with-SHA256");
    leaf.certificates[0].key = "ec".to_owned();
    leaf.certificates[0].curve = Some("secp256r1".to_owned());
    modern.chains.push(leaf);
    let usual = with_chain(chain(Anchor::Known, true, true, ""));
    let mut cbc = named("cbc.test", &[ECDHE_GCM, 0xc013]);
    cbc.chains.clone_from(&usual.chains);
    let dhe = named("dhe.test", &[DHE_GCM]);
    let mut named = Profiles::new();
    for scan in [modern, usual, cbc, dhe] {
        named.add(&scan);
    }
    let rows = named.rows;
    assert_eq!(rows.len(), 3);
    for (row, profile, sites) in [
        (&rows[0], "modern", &["modern.test"][..]),
        (&rows[1], "intermediate", &["modern.test", "a.test"]),
        (&rows[2], "old", &["a.test", "cbc.test"]),
    ] {
        assert_eq!(row.profile, profile);
        assert_eq!(row.sites, sites, "{profile}");
    }
    let why = &rows[1].others["dhe.test"];
    assert_eq!(why, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256");
}

/// Checks that sites with the same result for every stack are counted, and those with different
/// results named.
#[test]
fn of_many_sites_those_are_listed_that_a_stack_loses() {
    let mut losses = Losses::new(vec![broad(), strict()], Vec::new());
    let mut named = Profiles::new();
    for number in 0..2 * LISTED {
        let mut scan = tls12(&[if number % 500 == 499 {
            DHE_GCM
        } else {
            ECDHE_GCM
        }]);
        scan.site = format!("s{number}.test");
        losses.add(&scan);
        named.add(&scan);
    }
    let report = losses.report();
    assert_eq!(report.site_count(), 2 * LISTED);
    assert_eq!(report.sites.len(), LISTED + 2);
    assert_eq!(report.left_out.reached as usize, LISTED - 2);
    assert_eq!(report.lost_by("strict"), 4);
    assert_eq!(report.lost[0].sites.len(), 4);
    let old = &named.rows[2];
    assert_eq!(old.sites.len() + old.others.len(), LISTED);
    let reasons: usize = old.reasons().values().sum();
    assert_eq!(old.comply() + reasons, 2 * LISTED);
}

/// A prediction holds or is not made: all verifiers refuse a certificate for clients alone, they differ about the one of
/// a CA and about a short key, and a certificate that was not read can be anything.
#[test]
fn a_certificate_with_another_purpose_or_unread_is_no_agreement() {
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let mut scan = certified(version, &[X25519]);
        assert!(matches!(predict(&broad(), &scan), Agreement::Agrees(_)));

        scan.chains[0].certificates[0].is_ca = true;
        let predicted = predict(&broad(), &scan);
        assert!(is_up_to_the_verifier(&predicted), "{predicted:?}");

        scan.chains[0].certificates[0].is_ca = false;
        scan.chains[0].certificates[0].key_bits = 1024;
        let predicted = predict(&broad(), &scan);
        assert!(is_up_to_the_verifier(&predicted), "{predicted:?}");

        scan.chains[0].certificates[0].not_for_servers = true;
        let Agreement::Loses { reason, .. } = predict(&broad(), &scan) else {
            panic!("accepted");
        };
        assert_eq!(reason, LossReason::Certificate);

        scan.chains.clear();
        scan.effort.connections = 1;
        let is_new = version == TlsVersion::Tls13;
        assert_eq!(is_unknown(&broad(), &scan), is_new);
    }
}

#[test]
fn a_name_in_the_common_name_alone_is_left_to_a_handshake() {
    let mut alone = chain(Anchor::Known, false, true, "sha256WithRSAEncryption");
    alone.certificates[0].subject = "O=a, CN=a.test".to_owned();
    let mut scan = with_chain(alone);
    let predicted = predict(&strict(), &scan);
    assert!(is_up_to_the_verifier(&predicted), "{predicted:?}");

    let refused = failed("certificate", "wrong-name", true);
    let reached = handshake(ECDHE_GCM, None);
    let confirmed = vec![
        confirmation(&scan.site, "broad", predicted.clone(), reached),
        confirmation(&scan.site, "strict", predicted, refused),
    ];
    let offers = [broad(), strict()];
    let report = losses_of(offers.to_vec(), &[scan.clone()], confirmed);
    assert_eq!(report.mismatches().count(), 0, "{:?}", report.confirmed);
    let [lost] = &report.lost[..] else {
        panic!("{:?}", report.lost);
    };
    assert_eq!(
        (lost.stack.as_str(), lost.reason, lost.effect),
        (
            "strict",
            LossReason::CommonNameOnly,
            SwitchEffect::LossOfReach
        )
    );

    // Without handshakes, the results of both stacks are unknown.
    let report = losses_of(offers.to_vec(), &[scan.clone()], Vec::new());
    assert_eq!(report.unknown, [scan.site.as_str()]);
    assert!(report.lost.is_empty(), "{:?}", report.lost);

    // Every stack refuses an expired certificate, whatever its name.
    scan.chains[0].certificates[0].valid_now = false;
    assert!(matches!(
        predict(&strict(), &scan),
        Agreement::Loses {
            reason: LossReason::Certificate,
            ..
        }
    ));
}
