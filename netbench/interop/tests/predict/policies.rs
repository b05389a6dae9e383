//! Tests of policies against sites.

use netbench_interop::{PolicyCheck, SitePolicy, built_in_policy};
use netbench_model::{
    scan::{Anchor, Observed, Order, Policy, PolicyFeature, PolicyRule, SiteScan},
    tls::{FfdheSize, TlsVersion},
};

use crate::made::*;

fn check(policy: &Policy, site: &SiteScan) -> SitePolicy {
    let mut checking = PolicyCheck::new(policy.clone());
    checking.add(site);
    checking.result().sites[0].clone()
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
    let mut site = good();
    for (order, broken) in [
        (Order::Server, None),
        (Order::Single, None),
        (Order::Client, Some(PolicyRule::Order)),
        (Order::Mixed, Some(PolicyRule::Order)),
    ] {
        site.versions[0].suite_order = order;
        let checked = check(&policy, &site);
        assert_eq!(rules(&checked), Vec::from_iter(broken), "{order:?}");
        assert_eq!(checked.keeps(), broken.is_none(), "{order:?}");
    }
    site.versions[0].suite_order = Order::Unknown;
    let unknown = check(&policy, &site);
    assert!(!unknown.keeps() && unknown.unknown.is_some() && unknown.broken.is_empty());
}

#[test]
fn mozilla_refuses_certificates_that_are_wrong() {
    let [intermediate, modern] =
        ["mozilla-intermediate", "mozilla-modern"].map(|name| built_in_policy(name).unwrap());
    let mut site = tls12(&[ECDHE_GCM]);
    let (rsa, sha1) = ("sha256WithRSAEncryption", "sha1WithRSAEncryption");
    use Anchor::{Known, SelfSigned};
    use PolicyRule::{Certificate, CertificateSignature};
    for (chain, broken) in [
        (chain(Known, true, false, rsa), Some(Certificate)),
        (chain(Known, false, true, rsa), Some(Certificate)),
        (chain(SelfSigned, true, true, rsa), Some(Certificate)),
        (chain(Known, true, true, sha1), Some(CertificateSignature)),
        (chain(Known, true, true, rsa), None),
    ] {
        site.chains = vec![chain];
        let found = rules(&check(&intermediate, &site));
        assert_eq!(found, Vec::from_iter(broken), "{:?}", site.chains);
    }
    let modern = rules(&check(&modern, &site));
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
    for (dh_least_bits, certificate_most_days, broken) in [
        (Some(2048), None, Some(PolicyRule::Dh)),
        (Some(1024), Some(366), None),
        (None, Some(90), Some(PolicyRule::Lifetime)),
    ] {
        let policy = Policy {
            dh_least_bits,
            certificate_most_days,
            ..free()
        };
        let checked = check(&policy, &site);
        assert_eq!(rules(&checked), Vec::from_iter(broken));
        assert_eq!(checked.keeps(), broken.is_none());
    }
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
