//! Tests of policies against sites.

use netbench_interop::{PolicyResult, SitePolicy, built_in_policy};
use netbench_model::{
    scan::{Anchor, Observed, Order, Policy, PolicyFeature, PolicyRule, SiteScan},
    tls::{FfdheSize, TlsVersion},
};

use crate::made::*;

fn check(policy: &Policy, site: &SiteScan) -> SitePolicy {
    let result = PolicyResult::new(policy.clone(), std::slice::from_ref(site));
    result.sites[0].clone()
}

/// Returns a policy without requirements.
fn free() -> Policy {
    Policy {
        versions: None,
        suites: None,
        groups: None,
        keys: None,
        server_order: false,
        valid_certificate: false,
        certificate_signatures: None,
        ..built_in_policy("mozilla-intermediate").expect("a built-in policy")
    }
}

fn good() -> SiteScan {
    let mut site = tls12(&[ECDHE_GCM, DHE_GCM]);
    site.chains = vec![chain(Anchor::Known, true, true, "sha256WithRSAEncryption")];
    site
}

fn rules(checked: &SitePolicy) -> Vec<PolicyRule> {
    checked.broken.iter().map(|broken| broken.rule).collect()
}

#[test]
fn a_policy_that_asks_for_nothing_is_kept() {
    assert!(check(&free(), &good()).keeps());
}

#[test]
fn an_order_that_was_not_seen_passes_no_policy_that_asks_for_the_servers() {
    let policy = Policy {
        server_order: true,
        ..free()
    };
    let with = |order| {
        let mut site = good();
        site.versions[0].suite_order = order;
        check(&policy, &site)
    };
    assert!(with(Order::Server).keeps() && with(Order::Single).keeps());
    for order in [Order::Client, Order::Mixed] {
        assert_eq!(rules(&with(order)), [PolicyRule::Order], "{order:?}");
    }
    let unknown = with(Order::Unknown);
    assert!(!unknown.keeps() && unknown.unknown.is_some() && unknown.broken.is_empty());
}

#[test]
fn mozilla_refuses_certificates_that_are_wrong() {
    let keeps_or = |name: &str, anchor, names_match, valid_now, signature: &str| {
        let mut site = tls12(&[ECDHE_GCM]);
        site.chains = vec![chain(anchor, names_match, valid_now, signature)];
        rules(&check(&built_in_policy(name).unwrap(), &site))
    };
    let rsa = "sha256WithRSAEncryption";
    let of = |anchor, names_match, valid_now, signature| {
        keeps_or(
            "mozilla-intermediate",
            anchor,
            names_match,
            valid_now,
            signature,
        )
    };
    assert!(of(Anchor::Known, true, true, rsa).is_empty());
    for wrong in [
        of(Anchor::Known, true, false, rsa),
        of(Anchor::Known, false, true, rsa),
        of(Anchor::SelfSigned, true, true, rsa),
    ] {
        assert_eq!(wrong, [PolicyRule::Certificate]);
    }
    let sha1 = of(Anchor::Known, true, true, "sha1WithRSAEncryption");
    assert_eq!(sha1, [PolicyRule::CertificateSignature]);
    let modern = keeps_or("mozilla-modern", Anchor::Known, true, true, rsa);
    assert!(
        modern.contains(&PolicyRule::CertificateSignature),
        "{modern:?}"
    );
}

#[test]
fn sizes_and_lifetimes_are_asked_for() {
    let mut site = good();
    site.versions[0].suites[1].dh = Some(FfdheSize {
        bits: 1024,
        origin: "own".to_owned(),
    });
    let leaf = &mut site.chains[0].certificates[0];
    leaf.not_before = "2026-01-01T00:00:00Z".to_owned();
    leaf.not_after = "2027-01-01T00:00:00Z".to_owned();
    let with = |dh, days| Policy {
        dh_least_bits: dh,
        certificate_most_days: days,
        ..free()
    };
    assert_eq!(
        rules(&check(&with(Some(2048), None), &site)),
        [PolicyRule::Dh]
    );
    assert!(check(&with(Some(1024), Some(366)), &site).keeps());
    assert_eq!(
        rules(&check(&with(None, Some(90)), &site)),
        [PolicyRule::Lifetime]
    );
}

#[test]
fn features_are_needed_and_forbidden_and_unknown_ones_do_not_pass() {
    let policy = Policy {
        needs: vec![
            PolicyFeature::ExtendedMasterSecret,
            PolicyFeature::FallbackScsv,
        ],
        forbids: vec![PolicyFeature::Compression, PolicyFeature::SessionTickets],
        ..free()
    };
    let mut site = good();
    let unknown = check(&policy, &site);
    assert!(!unknown.keeps() && unknown.broken.is_empty());
    site.features.extended_master_secret = Observed::Yes;
    site.features.fallback_scsv = Observed::Yes;
    site.features.compression = Observed::No;
    site.features.tickets_tls12 = Observed::No;
    assert!(check(&policy, &site).keeps());
    site.features.tickets_tls12 = Observed::Yes;
    site.features.fallback_scsv = Observed::No;
    let broken = rules(&check(&policy, &site));
    assert_eq!(broken, [PolicyRule::Feature, PolicyRule::Feature]);
    // TLS 1.3 has neither compression nor fallbacks.
    let newest = spoken(TlsVersion::Tls13, &[GCM13], &[X25519]);
    let mut site = crate::made::site("a.test", vec![newest], &[]);
    site.features.tickets_tls13 = Some(0);
    assert!(check(&policy, &site).keeps());
}
