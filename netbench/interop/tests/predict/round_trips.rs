//! Tests of key shares, round trips, and a site's requirements of its client.

use netbench_interop::predict;
use netbench_model::{
    scan::{
        Agreed, Agreement, Anchor, ExtensionOffer, LossReason, NamedCode, Observed, Offer, Order,
        ShareOffer,
    },
    tls::{CipherSuite, Group, TlsVersion},
};

use crate::made::*;

fn named(groups: &[u16]) -> Vec<NamedCode> {
    codes(groups, |code| Group(code).to_string())
}

fn share(group: &str) -> ShareOffer {
    ShareOffer {
        group: group.to_owned(),
        bytes: 32,
    }
}

#[test]
fn a_share_that_is_there_may_be_taken_instead_of_another_one() {
    let mut client = strict();
    client.shares = vec![share("x25519")];
    let of = |accepted: Option<&[u16]>| {
        let mut found = spoken(TlsVersion::Tls13, &[GCM13], &[P256, X25519]);
        found.group_order = Order::Server;
        let mut site = site("a.test", vec![found], &[(TlsVersion::Tls13, PSS)]);
        let mut sent = chain(Anchor::Known, true, true, "sha256WithRSAEncryption");
        sent.versions = vec![TlsVersion::Tls13];
        sent.bytes = 4000;
        site.chains.push(sent);
        site.features.shares_taken = accepted.map(named);
        match predict(&client, &site) {
            Agreement::Agrees(agreed) => agreed,
            other => panic!("{other:?}"),
        }
    };
    let named_and_trips = |agreed: &Agreed| {
        let trips = agreed.round_trips.map(|t| (t.first_byte, t.retry));
        (agreed.group.clone().unwrap(), trips)
    };
    let takes = of(Some(&[P256, X25519]));
    assert_eq!(named_and_trips(&takes), ("x25519".to_owned(), Some((3, 0))));
    let asks = of(Some(&[P256]));
    assert_eq!(
        named_and_trips(&asks),
        ("secp256r1".to_owned(), Some((4, 1)))
    );
    assert!(takes.or.is_empty() && asks.or.is_empty());
    // If the server's preference was not tested, it may be either.
    let unknown = of(None);
    assert_eq!(named_and_trips(&unknown), ("secp256r1".to_owned(), None));
    assert_eq!(unknown.or, ["x25519"]);
}

#[test]
fn the_first_of_two_shares_may_be_taken_instead_of_the_preferred_one() {
    let mut client = strict();
    client.shares = vec![share("secp256r1"), share("x25519")];
    let of = |accepted: &[u16], order: Option<Order>| {
        let mut found = spoken(TlsVersion::Tls13, &[GCM13], &[X25519, P256]);
        found.group_order = Order::Server;
        let mut site = site("a.test", vec![found], &[(TlsVersion::Tls13, PSS)]);
        let mut sent = chain(Anchor::Known, true, true, "sha256WithRSAEncryption");
        sent.versions = vec![TlsVersion::Tls13];
        site.chains.push(sent);
        site.features.shares_taken = Some(named(accepted));
        site.features.share_order = order;
        match predict(&client, &site) {
            Agreement::Agrees(agreed) => (agreed.group.unwrap(), agreed.or),
            other => panic!("{other:?}"),
        }
    };
    let both: &[u16] = &[X25519, P256];
    for (accepted, order, group, or) in [
        (both, Some(Order::Client), "secp256r1", None),
        (both, Some(Order::Server), "x25519", None),
        (both, None, "x25519", Some("secp256r1")),
        // The server requests a share of the group that it prefers.
        (&[X25519], None, "x25519", None),
    ] {
        let or: Vec<String> = or.into_iter().map(str::to_owned).collect();
        assert_eq!(
            of(accepted, order),
            (group.to_owned(), or),
            "{accepted:?}, {order:?}"
        );
    }
}

#[test]
fn round_trips_follow_from_version_flight_and_name() {
    let mut client = strict();
    client.shares = vec![share("x25519")];
    client.wire_bytes = 1440;
    client.extensions = vec![ExtensionOffer {
        name: "server_name".to_owned(),
        code: 0,
        bytes: 5 + 10,
    }];
    let of = |client: &Offer, version: TlsVersion, host: &str, chain_bytes: u32| {
        let suite = match version {
            TlsVersion::Tls13 => GCM13,
            _ => ECDHE_GCM,
        };
        let mut site = site(
            host,
            vec![spoken(version, &[suite], &[X25519])],
            &[(version, PSS)],
        );
        let mut sent = chain(Anchor::Known, true, true, "sha256WithRSAEncryption");
        sent.versions = vec![version];
        sent.bytes = chain_bytes;
        site.chains.push(sent);
        site.features.ocsp_stapling = Observed::No;
        match predict(client, &site) {
            Agreement::Agrees(agreed) => agreed
                .round_trips
                .map(|trips| (trips.first_byte, trips.window, trips.hello_segments)),
            other => panic!("{other:?}"),
        }
    };
    let (new, old) = (TlsVersion::Tls13, TlsVersion::Tls12);
    assert_eq!(of(&client, new, "a.test", 4000), Some((3, 0, 1)));
    assert_eq!(of(&client, old, "a.test", 4000), Some((4, 0, 1)));
    assert_eq!(of(&client, new, "a.test", 16_000), Some((4, 1, 1)));
    assert_eq!(of(&client, new, "a.test", 45_000), Some((5, 2, 1)));
    // The size is too close to the window for a prediction.
    assert_eq!(of(&client, new, "a.test", 13_900), None);
    let waits = Offer {
        has_nagle: true,
        ..client.clone()
    };
    assert_eq!(of(&waits, new, "a.test", 4000), None);
    let names = ["nineteen.bytes.test", "192.0.2.1"].map(|host| of(&client, new, host, 4000));
    assert_eq!(names, [Some((3, 0, 2)), Some((3, 0, 1))]);
}

#[test]
fn a_client_without_what_the_server_requires_loses_it() {
    let mut site = tls12(&[ECDHE_GCM]);
    site.features.client_certificate = Observed::Yes;
    site.features.client_certificate_required = Observed::No;
    assert!(predict(&strict(), &site).agrees());
    site.features.client_certificate_required = Observed::Yes;
    let Agreement::Loses { reason, .. } = predict(&strict(), &site) else {
        panic!("a certificate is required");
    };
    assert_eq!(reason, LossReason::ClientCertificate);
    let shows = Offer {
        has_certificate: true,
        ..strict()
    };
    assert!(predict(&shows, &site).agrees());
}

#[test]
fn the_certificates_curve_has_to_be_offered_before_tls13() {
    const ECDSA_GCM: u16 = 0xc02b;
    let of = |curve: &str, suites: &[u16]| {
        let mut site = tls12(suites);
        site.signatures[0].code = 0x0403;
        let mut sent = chain(Anchor::Known, true, true, "ecdsa-with-SHA256");
        sent.certificates[0].key = "ec".to_owned();
        sent.certificates[0].curve = Some(curve.to_owned());
        site.chains.push(sent);
        let mut client = strict();
        client.suites = codes(&[ECDSA_GCM, RSA_GCM], |code| CipherSuite(code).to_string());
        predict(&client, &site)
    };
    assert!(of("secp256r1", &[ECDSA_GCM]).agrees());
    let Agreement::Loses { reason, detail } = of("secp521r1", &[ECDSA_GCM]) else {
        panic!("P-521 is not offered");
    };
    assert_eq!(reason, LossReason::Group);
    assert_eq!(detail, "the certificate's key is on secp521r1");
    // Another suite does not require such a certificate.
    assert!(of("secp521r1", &[ECDSA_GCM, RSA_GCM]).agrees());
}
