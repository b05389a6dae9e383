//! Tests of predictions from a stack's hello and a site's scan.

mod features;
mod intolerances;
mod made;
mod policies;
mod round_trips;
mod web;

use netbench_interop::{
    LISTED, LossReport, Losses, PopulationKind, Profiles, confirmation, is_up_to_the_verifier,
    population, predict, profiles,
};
use netbench_model::{
    SwitchEffect,
    scan::{
        Agreement, Anchor, ChainScan, Confirmed, HandshakeResult, LossReason, Order, SiteScan,
        VersionScan,
    },
    tls::{CipherSuite, TlsVersion},
};

use made::*;

#[test]
fn a_loss_has_its_reason() {
    let with_chain = |chain: ChainScan| {
        let mut site = tls12(&[ECDHE_GCM]);
        site.chains.push(chain);
        site
    };
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
    let mut found = spoken(
        TlsVersion::Tls12,
        &[DHE_GCM, ECDHE_GCM, RSA_GCM],
        &[P256, X25519],
    );
    let of = |found: &VersionScan| {
        let site = site("a.test", vec![found.clone()], &[(TlsVersion::Tls12, PSS)]);
        match predict(&broad(), &site) {
            Agreement::Agrees(agreed) => agreed,
            other => panic!("{other:?}"),
        }
    };
    let by_server = of(&found);
    assert_eq!(by_server.suite, "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256");
    assert_eq!(by_server.group, None);
    assert_eq!(by_server.signature.as_deref(), Some("rsa_pss_rsae_sha256"));
    found.suite_order = Order::Client;
    let by_client = of(&found);
    assert_eq!(by_client.suite, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    assert_eq!(by_client.group.as_deref(), Some("secp256r1"));
    found.group_order = Order::Client;
    assert_eq!(of(&found).group.as_deref(), Some("x25519"));
    found.suite_order = Order::Unknown;
    assert!(
        of(&found)
            .or
            .contains(&"TLS_RSA_WITH_AES_128_GCM_SHA256".to_owned())
    );
}

#[test]
fn a_site_without_its_scan_is_not_called_lost() {
    let mut unknown = tls12(&[ECDHE_GCM]);
    unknown.versions.clear();
    assert!(matches!(
        predict(&strict(), &unknown),
        Agreement::Unknown { .. }
    ));
}

#[test]
fn what_a_scan_did_not_see_is_not_called_lost() {
    let unknown = |site: &SiteScan| matches!(predict(&strict(), site), Agreement::Unknown { .. });
    // The stack lacks a suite, and the list is incomplete.
    let mut cut = tls12(&[0x002f]);
    assert!(!unknown(&cut));
    cut.versions[0].complete = false;
    assert!(unknown(&cut));
    // The site has an old version, and newer ones were not requested.
    let old = spoken(TlsVersion::Tls10, &[0xc013], &[0x17]);
    let mut newer = spoken(TlsVersion::Tls12, &[], &[]);
    newer.supported = false;
    let mut site = site("a", vec![newer, old], &[]);
    assert!(!unknown(&site));
    site.versions[0].complete = false;
    assert!(unknown(&site));
}

#[test]
fn losses_are_grouped_by_who_and_why() {
    let named = |name: &str, suites: &[u16]| {
        let mut site = tls12(suites);
        site.site = name.to_owned();
        site
    };
    let scans = [
        named("both.test", &[ECDHE_GCM]),
        named("dhe.test", &[DHE_GCM]),
        named("dhe2.test", &[DHE_GCM]),
        named("cbc.test", &[ECDHE_CBC]),
        named("rc4.test", &[0xc011]),
    ];
    let report = LossReport::new(vec![broad(), strict()], &scans, Vec::new());
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
    let agrees = predict(&strict(), &tls12(&[ECDHE_GCM]));
    let loses = predict(&strict(), &tls12(&[DHE_GCM]));
    let handshake = |suite: u16, group: Option<&str>| HandshakeResult::Handshake {
        version: "1.2".to_owned(),
        suite: CipherSuite(suite).to_string(),
        group: group.map(str::to_owned),
        signature: None,
        packets: None,
    };
    let failed = |in_tls| HandshakeResult::Failed {
        class: "alert".to_owned(),
        reason: "handshake_failure".to_owned(),
        in_tls,
    };
    let cases = [
        (&agrees, handshake(ECDHE_GCM, None), Confirmed::AsPredicted),
        (
            &agrees,
            handshake(ECDHE_GCM, Some("X25519")),
            Confirmed::AsPredicted,
        ),
        (
            &agrees,
            handshake(ECDHE_GCM, Some("secp256r1")),
            Confirmed::Mismatch,
        ),
        (&agrees, handshake(ECDHE_CBC, None), Confirmed::Mismatch),
        (&agrees, failed(true), Confirmed::Mismatch),
        (&agrees, failed(false), Confirmed::Unreported),
        (&loses, failed(true), Confirmed::AsPredicted),
        (&loses, failed(false), Confirmed::Unreported),
        (&loses, handshake(DHE_GCM, None), Confirmed::Mismatch),
    ];
    for (predicted, seen, due) in cases {
        let said = format!("{predicted:?} {seen:?}");
        let confirmation = confirmation("a.test", "strict", predicted.clone(), seen);
        assert_eq!(confirmation.verdict, due, "{said}");
    }
}

#[test]
fn what_a_handshake_shows_counts_and_not_what_was_predicted() {
    let named = |name: &str, suite: u16| {
        let mut site = tls12(&[suite]);
        site.site = name.to_owned();
        site
    };
    let scans = [named("ca.test", ECDHE_GCM), named("dhe.test", DHE_GCM)];
    let offers = vec![broad(), strict()];
    let of = |site: usize| predict(&strict(), &scans[site]);
    let refused = HandshakeResult::Failed {
        class: "certificate".to_owned(),
        reason: "ca-as-leaf".to_owned(),
        in_tls: true,
    };
    let well = HandshakeResult::Handshake {
        version: "1.2".to_owned(),
        suite: CipherSuite(DHE_GCM).to_string(),
        group: None,
        signature: None,
        packets: None,
    };
    let confirmed = vec![
        confirmation("ca.test", "strict", of(0), refused),
        confirmation("dhe.test", "strict", of(1), well),
    ];
    let report = LossReport::new(offers, &scans, confirmed);
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
    let counted = population(&[both, tls12(&[ECDHE_CBC]), failed]);
    assert_eq!(counted.sites, 2);
    let of = |kind, name: &str| {
        let row = counted
            .rows
            .iter()
            .find(|r| r.kind == kind && r.name == name);
        row.map(|r| (r.supports, r.prefers, r.only))
    };
    use PopulationKind as K;
    assert_eq!(of(K::Version, "TLS 1.3"), Some((1, 1, 0)));
    assert_eq!(of(K::Version, "TLS 1.2"), Some((2, 1, 1)));
    assert_eq!(of(K::SuiteClass, "CBC"), Some((1, 1, 1)));
    assert_eq!(of(K::SuiteClass, "AEAD"), Some((1, 1, 1)));
    assert_eq!(of(K::KeyExchange, "ML-KEM hybrid"), Some((1, 1, 0)));
    assert_eq!(of(K::KeyExchange, "ECDHE"), Some((2, 1, 1)));
    assert_eq!(of(K::KeyExchange, "RSA"), Some((1, 0, 0)));
    assert_eq!(of(K::Signature, "rsa_pss_rsae_sha256"), Some((2, 2, 1)));
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
    let mut usual = tls12(&[ECDHE_GCM]);
    usual.chains.push(chain(Anchor::Known, true, true, ""));
    let mut cbc = tls12(&[ECDHE_GCM, 0xc013]);
    cbc.site = "cbc.test".to_owned();
    cbc.chains.push(chain(Anchor::Known, true, true, ""));
    let mut dhe = tls12(&[DHE_GCM]);
    dhe.site = "dhe.test".to_owned();
    let rows = profiles(&[modern, usual, cbc, dhe]).rows;
    let names: Vec<_> = rows
        .iter()
        .map(|r| (r.profile.as_str(), r.sites.clone()))
        .collect();
    let due = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        names,
        [
            ("modern", due(&["modern.test"])),
            ("intermediate", due(&["modern.test", "a.test"])),
            ("old", due(&["a.test", "cbc.test"])),
        ]
    );
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
        let suite = match version {
            TlsVersion::Tls13 => GCM13,
            _ => ECDHE_GCM,
        };
        let mut scan = site(
            "a.test",
            vec![spoken(version, &[suite], &[X25519])],
            &[(version, PSS)],
        );
        let mut sent = chain(Anchor::Known, true, true, "sha256WithRSAEncryption");
        sent.versions = vec![version];
        scan.chains = vec![sent];
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
        let is_unknown = matches!(predict(&broad(), &scan), Agreement::Unknown { .. });
        assert_eq!(is_unknown, version == TlsVersion::Tls13);
    }
}

#[test]
fn a_name_in_the_common_name_alone_is_left_to_a_handshake() {
    let mut scan = tls12(&[ECDHE_GCM]);
    scan.host = "a.test".to_owned();
    let mut alone = chain(Anchor::Known, false, true, "sha256WithRSAEncryption");
    alone.certificates[0].subject = "O=a, CN=a.test".to_owned();
    scan.chains.push(alone.clone());
    let predicted = predict(&strict(), &scan);
    assert!(is_up_to_the_verifier(&predicted), "{predicted:?}");

    let refused = HandshakeResult::Failed {
        class: "certificate".to_owned(),
        reason: "wrong-name".to_owned(),
        in_tls: true,
    };
    let reached = HandshakeResult::Handshake {
        version: "1.2".to_owned(),
        suite: CipherSuite(ECDHE_GCM).to_string(),
        group: None,
        signature: None,
        packets: None,
    };
    let confirmed = vec![
        confirmation(&scan.site, "broad", predicted.clone(), reached),
        confirmation(&scan.site, "strict", predicted, refused),
    ];
    let offers = || vec![broad(), strict()];
    let report = LossReport::new(offers(), &[scan.clone()], confirmed);
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
    let report = LossReport::new(offers(), &[scan.clone()], Vec::new());
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
