//! Equality of effects between the servers of the catalogue and the sites of a scan: a loss in `compat` is a loss
//! in `scan`.

#[path = "../../interop/tests/predict/made.rs"]
#[expect(dead_code, reason = "interop's own tests use the rest")]
mod made;

use made::{DHE_GCM, ECDHE_CBC, ECDHE_GCM, broad, chain, strict, tls12};
use netbench_compat::{BUILT_IN, catalogue};
use netbench_interop::{Losses, confirmation, predict};
use netbench_model::{
    Accepts, Standing, SwitchEffect,
    scan::{Anchor, HandshakeResult, SiteScan},
};

/// Returns the effect for a site that the stack "broad" reaches, and that the stack "strict" refuses, with a
/// certificate's fault if one is given.
fn effect_in_a_scan(site: SiteScan, fault: Option<&str>) -> SwitchEffect {
    let offers = [broad(), strict()];
    let mut confirmed = Vec::new();
    if let Some(fault) = fault {
        let reached = HandshakeResult::Handshake {
            version: "1.2".to_owned(),
            suite: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256".to_owned(),
            group: None,
            signature: None,
            packets: None,
        };
        let refused = HandshakeResult::Failed {
            class: "certificate".to_owned(),
            reason: fault.to_owned(),
            in_tls: true,
        };
        for (offer, seen) in offers.iter().zip([reached, refused]) {
            let predicted = predict(offer, &site);
            confirmed.push(confirmation(&site.site, &offer.stack, predicted, seen));
        }
    }
    let mut losses = Losses::new(offers.to_vec(), confirmed);
    losses.add(&site);
    let report = losses.report();
    let [group] = report.lost.as_slice() else {
        panic!("one loss, not {:?}", report.lost);
    };
    assert_eq!(group.stack, "strict");
    let lost = usize::from(group.effect == SwitchEffect::LossOfReach);
    assert_eq!(report.lost_by("strict"), lost);
    group.effect
}

/// The sources of the rules in the documentation of [`Standing::Dated`], and the browsers that were seen to refuse.
const SOURCES: [&str; 6] = [
    "RFC ",
    "CA/Browser Forum",
    "X.690",
    "Chrom",
    "Firefox",
    "Safari",
];

#[test]
fn each_dated_case_has_the_source_of_its_rule() {
    let cases = catalogue(BUILT_IN).unwrap();
    let dated = cases
        .iter()
        .map(|case| &case.record)
        .filter(|case| case.standing() == Standing::Dated)
        // No stack reaches these, so that none loses them.
        .filter(|case| case.nothing_accepts.is_none());
    let without: Vec<(&str, &str)> = dated
        .clone()
        .filter(|case| !SOURCES.iter().any(|source| case.why.contains(source)))
        .map(|case| (case.name.as_str(), case.why.as_str()))
        .collect();
    assert!(dated.count() >= 20);
    assert!(without.is_empty(), "{without:#?}");
}

#[test]
fn a_server_has_one_effect_in_compat_and_in_a_scan() {
    let cases = catalogue(BUILT_IN).unwrap();
    let [expired, common_name, wrong_name, cut] = [
        ("CN=a.test", Anchor::Known, true, false),
        ("C=XX, CN=a.test", Anchor::Known, false, true),
        ("", Anchor::Known, false, true),
        ("CN=a.test", Anchor::Missing, true, true),
    ]
    .map(|(subject, anchor, names_match, valid_now)| {
        let mut site = tls12(&[ECDHE_GCM]);
        let mut chain = chain(anchor, names_match, valid_now, "sha256WithRSAEncryption");
        subject.clone_into(&mut chain.certificates[0].subject);
        if names_match || subject.is_empty() {
            chain.certificates[0].names = vec!["other.test".to_owned()];
        }
        site.chains = vec![chain];
        site
    });
    use SwitchEffect::{GainInSecurity, LossOfReach};
    for (name, site, fault, is) in [
        ("suite/dhe-2048", tls12(&[DHE_GCM]), None, LossOfReach),
        ("suite/cbc-sha384", tls12(&[ECDHE_CBC]), None, LossOfReach),
        ("suite/cbc-rsa", tls12(&[ECDHE_CBC]), None, LossOfReach),
        (
            "name/common-name-alone",
            common_name,
            Some("wrong-name"),
            LossOfReach,
        ),
        (
            "name/wrong-host",
            wrong_name,
            Some("wrong-name"),
            GainInSecurity,
        ),
        (
            "certificate/expired",
            expired,
            Some("expired"),
            GainInSecurity,
        ),
        (
            "trust/missing-intermediate",
            cut,
            Some("unknown-issuer"),
            LossOfReach,
        ),
    ] {
        let case = cases.iter().find(|case| case.record.name == name).unwrap();
        let effect = SwitchEffect::of(case.record.standing(), Accepts::Yes, Accepts::No);
        assert_eq!(effect, Some(is), "{name}");
        assert_eq!(effect_in_a_scan(site, fault), is, "{name}");
    }
}

/// A stack that finds no issuer refuses a server that an attacker could be, unless another stack has found a path to the same
/// trust anchors.
#[test]
fn an_issuer_that_one_stack_does_not_find_costs_reach() {
    let mut site = tls12(&[ECDHE_GCM]);
    site.chains = vec![chain(Anchor::Known, true, true, "sha256WithRSAEncryption")];
    for (fault, effect) in [
        ("unknown-issuer", SwitchEffect::LossOfReach),
        ("bad-ca", SwitchEffect::GainInSecurity),
        ("bad-signature", SwitchEffect::GainInSecurity),
    ] {
        assert_eq!(
            effect_in_a_scan(site.clone(), Some(fault)),
            effect,
            "{fault}"
        );
    }
    let cases = catalogue(BUILT_IN).unwrap();
    let case = cases
        .iter()
        .find(|case| case.record.name == "trust/unknown-root");
    assert_eq!(case.unwrap().record.standing(), Standing::Unsafe);
}

#[test]
fn a_standing_is_given_only_where_a_refusal_is_right() {
    use netbench_model::compat::Expected;
    for case in catalogue(BUILT_IN).unwrap() {
        let record = case.record;
        assert!(
            record.standing.is_none() || record.expected != Expected::Accepted,
            "{}: a server that is to be accepted has no standing",
            record.name
        );
    }
}
