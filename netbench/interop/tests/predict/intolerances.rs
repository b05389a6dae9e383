//! Tests that intolerances of a site decide before versions and suites.

use netbench_interop::predict;
use netbench_model::{
    scan::{
        Agreement, ExtensionOffer, LossReason, NamedCode, Observed, Offer, SiteScan, Tolerance,
    },
    tls::{CipherSuite, TlsVersion},
};

use crate::made::*;

fn loses(offer: &Offer, site: &SiteScan) -> bool {
    let reason = LossReason::Intolerance;
    matches!(predict(offer, site), Agreement::Loses { reason: by, .. } if by == reason)
}

#[test]
fn a_site_that_fails_at_tls_1_3_is_lost_by_stacks_that_offer_it() {
    let mut site = tls12(&[ECDHE_GCM]);
    assert!(predict(&strict(), &site).agrees());
    site.hello_limits.versions = vec![TlsVersion::Tls13];
    assert!(loses(&strict(), &site));
    let mut older = strict();
    older.versions = vec![TlsVersion::Tls12];
    assert!(predict(&older, &site).agrees());
    // Incomplete lists do not change the result.
    site.versions[0].complete = false;
    assert!(loses(&strict(), &site));
}

#[test]
fn refused_application_protocols_are_a_loss_to_who_offers_no_other() {
    let mut site = tls12(&[ECDHE_GCM]);
    site.hello_limits.protocols = vec!["h2".to_owned(), "http/1.1".to_owned()];
    let mut offer = strict();
    assert!(predict(&offer, &site).agrees());
    offer.alpn = vec!["http/1.1".to_owned()];
    assert!(loses(&offer, &site));
    offer.alpn.push("acme".to_owned());
    assert!(is_unknown(&offer, &site));
}

#[test]
fn what_a_hello_has_too_much_of_is_a_loss() {
    let mut offer = broad();
    offer.wire_bytes = 600;
    offer.message_bytes = 300;
    offer.extensions = vec![ExtensionOffer {
        name: "status_request".to_owned(),
        code: 5,
        bytes: 5,
    }];
    let fatal: [fn(&mut SiteScan); 5] = [
        |site| site.hello_limits.most_suites = Some(4),
        |site| site.hello_limits.most_groups = Some(2),
        |site| site.hello_limits.most_bytes = Some(512),
        |site| {
            let name = "status_request".to_owned();
            site.hello_limits.extensions = vec![NamedCode { name, code: 5 }];
        },
        |site| {
            let how = "closed".to_owned();
            let what = "hello of 300 bytes".to_owned();
            site.intolerance.insert(what, Tolerance::Intolerant { how });
        },
    ];
    for set in fatal {
        let mut site = tls12(&[ECDHE_GCM]);
        set(&mut site);
        assert!(loses(&offer, &site));
    }
    let harmless: [fn(&mut SiteScan); 3] = [
        |site| site.hello_limits.most_suites = Some(5),
        |site| site.hello_limits.most_groups = Some(3),
        |site| site.hello_limits.most_bytes = Some(600),
    ];
    for set in harmless {
        let mut site = tls12(&[ECDHE_GCM]);
        set(&mut site);
        assert!(predict(&offer, &site).agrees());
    }
    let mut poison = tls12(&[ECDHE_GCM]);
    poison.hello_limits.suites = codes(&[RSA_GCM], |code| CipherSuite(code).to_string());
    assert!(is_unknown(&offer, &poison));
}

#[test]
fn pairs_are_possible_ones_and_chacha20_is_the_clients_wish() {
    const CHACHA: u16 = 0xcca8;
    let suites = [ECDHE_GCM, CHACHA];
    let mut site = site(
        "a.test",
        vec![spoken(TlsVersion::Tls12, &suites, &[X25519])],
        &[(TlsVersion::Tls12, 0x0403), (TlsVersion::Tls12, PSS)],
    );
    let offer = offer(
        "mine",
        &[TlsVersion::Tls12],
        &[CHACHA, ECDHE_GCM],
        &[X25519],
        &[0x0403, PSS],
    );
    let first = agreed(&offer, &site);
    assert!(first.suite.contains("AES_128_GCM"), "{first:?}");
    assert_eq!(first.signature.as_deref(), Some("rsa_pss_rsae_sha256"));
    assert!(
        !first.or.iter().any(|name| name.contains("ecdsa")),
        "{first:?}"
    );
    site.features.chacha20_by_client = Observed::Yes;
    assert!(agreed(&offer, &site).suite.contains("CHACHA20"));
}
