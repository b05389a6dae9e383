//! Tests of key shares, round trips, and a site's requirements of its client.

use netbench_interop::predict;
use netbench_model::{
    scan::{
        Agreement, Anchor, ExtensionOffer, LossReason, NamedCode, Observed, Offer, Order,
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
    let mut site = certified(TlsVersion::Tls13, &[P256, X25519]);
    site.chains[0].bytes = 4000;
    for (accepted, group, trips, or) in [
        (Some(&[P256, X25519][..]), "x25519", Some((3, 0)), None),
        (Some(&[P256]), "secp256r1", Some((4, 1)), None),
        // If the server's preference was not tested, it may be either.
        (None, "secp256r1", None, Some("x25519")),
    ] {
        site.features.shares_taken = accepted.map(named);
        let agreed = agreed(&client, &site);
        assert_eq!(agreed.group.as_deref(), Some(group), "{accepted:?}");
        let found = agreed.round_trips.map(|t| (t.first_byte, t.retry));
        assert_eq!(found, trips, "{accepted:?}");
        assert_eq!(agreed.or, Vec::from_iter(or), "{accepted:?}");
    }
}

#[test]
fn the_first_of_two_shares_may_be_taken_instead_of_the_preferred_one() {
    let mut client = strict();
    client.shares = vec![share("secp256r1"), share("x25519")];
    let mut site = certified(TlsVersion::Tls13, &[X25519, P256]);
    let both: &[u16] = &[X25519, P256];
    for (accepted, order, group, or) in [
        (both, Some(Order::Client), "secp256r1", None),
        (both, Some(Order::Server), "x25519", None),
        (both, None, "x25519", Some("secp256r1")),
        // The server requests a share of the group that it prefers.
        (&[X25519], None, "x25519", None),
    ] {
        site.features.shares_taken = Some(named(accepted));
        site.features.share_order = order;
        let agreed = agreed(&client, &site);
        assert_eq!(
            agreed.group.as_deref(),
            Some(group),
            "{accepted:?}, {order:?}"
        );
        assert_eq!(agreed.or, Vec::from_iter(or), "{accepted:?}, {order:?}");
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
    let waits = Offer {
        has_nagle: true,
        ..client.clone()
    };
    let (new, old) = (TlsVersion::Tls13, TlsVersion::Tls12);
    for (client, version, host, chain_bytes, trips) in [
        (&client, new, "a.test", 4000, Some((3, 0, 1))),
        (&client, old, "a.test", 4000, Some((4, 0, 1))),
        (&client, new, "a.test", 16_000, Some((4, 1, 1))),
        (&client, new, "a.test", 45_000, Some((5, 2, 1))),
        // The size is too close to the window for a prediction.
        (&client, new, "a.test", 13_900, None),
        (&waits, new, "a.test", 4000, None),
        (&client, new, "nineteen.bytes.test", 4000, Some((3, 0, 2))),
        (&client, new, "192.0.2.1", 4000, Some((3, 0, 1))),
    ] {
        let mut site = certified(version, &[X25519]);
        site.host = host.to_owned();
        site.chains[0].bytes = chain_bytes;
        site.features.ocsp_stapling = Observed::No;
        let found = agreed(client, &site).round_trips;
        let found = found.map(|trips| (trips.first_byte, trips.window, trips.hello_segments));
        assert_eq!(found, trips, "{version} {host} {chain_bytes}");
    }
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
    let mut client = strict();
    client.suites = codes(&[ECDSA_GCM, RSA_GCM], |code| CipherSuite(code).to_string());
    for (curve, suites, loss) in [
        ("secp256r1", &[ECDSA_GCM][..], None),
        (
            "secp521r1",
            &[ECDSA_GCM],
            Some("the certificate's key is on secp521r1"),
        ),
        // Another suite does not require such a certificate.
        ("secp521r1", &[ECDSA_GCM, RSA_GCM], None),
    ] {
        let mut site = tls12(suites);
        site.signatures[0].code = 0x0403;
        let mut sent = chain(Anchor::Known, true, true, "ecdsa-with-SHA256");
        sent.certificates[0].key = "ec".to_owned();
        sent.certificates[0].curve = Some(curve.to_owned());
        site.chains.push(sent);
        match (predict(&client, &site), loss) {
            (Agreement::Agrees(_), None) => {}
            (Agreement::Loses { reason, detail }, Some(due)) => {
                assert_eq!((reason, detail.as_str()), (LossReason::Group, due));
            }
            (other, _) => panic!("{curve} {suites:?}: {other:?}"),
        }
    }
}
