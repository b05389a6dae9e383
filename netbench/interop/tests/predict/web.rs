//! Tests of the sites of the web that a switch loses, by the population model.

use netbench_interop::{WebModel, WebSite, predict};
use netbench_model::{parse_sites, tls::TlsVersion};

use crate::made::offer;

#[test]
fn a_switch_loses_the_kinds_of_sites_that_only_the_old_stack_reaches() {
    let versions = [TlsVersion::Tls13, TlsVersion::Tls12];
    let usual = [0x1301, 0xc02b, 0xc02c, 0xc02f, 0xc030];
    let (groups, schemes) = ([0x1d, 0x17, 0x18], [0x0403, 0x0503, 0x0804, 0x0401]);
    let new = offer("new", &versions, &usual, &groups, &schemes);
    let model = WebModel::of_2026().unwrap();
    for (more, sites, sources) in [
        (&[][..], [0, 0, 0], 0),
        // DHE
        (&[0x009e], [410, 0, 2_430], 3),
        // CBC, DHE and key exchange by RSA
        (&[0xc027, 0x009e, 0x009c], [1_760, 0, 2_430], 3),
    ] {
        let suites = [&usual[..], more].concat();
        let old = offer("old", &versions, &suites, &groups, &schemes);
        let loss = model.loss(&old, &new);
        let rounded = [loss.per_million, loss.low, loss.high].map(|sites| sites.round() as u64);
        assert_eq!((rounded, loss.sources.len()), (sites, sources), "{more:x?}");
        let back = model.loss(&new, &old);
        assert!(back.per_million.abs() < f64::EPSILON, "{back:?}");
    }
}

#[test]
fn the_shares_of_the_kinds_come_to_all_sites() {
    let model = WebModel::of_2026().unwrap();
    let sum: f64 = model.kinds.iter().map(|kind| kind.percent).sum();
    assert!((sum - 100.0).abs() < 1e-9, "{sum}");
    for kind in &model.kinds {
        assert!(
            kind.low <= kind.percent && kind.percent <= kind.high,
            "{kind:?}"
        );
        for source in &kind.sources {
            assert!(model.sources.contains_key(source), "{source}");
        }
    }
}

#[test]
fn the_lab_can_be_every_kind_of_site() {
    let model = WebModel::of_2026().unwrap();
    for (place, kind) in model.kinds.iter().enumerate() {
        let weights = model.key_weights(kind);
        for (key, _) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0.0)
        {
            let line = model.line(WebSite { kind: place, key }, 1);
            assert!(parse_sites(&line).is_ok(), "{line}");
        }
    }
}

#[test]
fn a_client_with_old_versions_alone_reaches_old_sites() {
    let model = WebModel::of_2026().unwrap();
    let mut kinds = model.kinds.iter();
    let kind = kinds
        .position(|kind| kind.name == "TLS 1.0 or 1.1 alone")
        .unwrap();
    let scan = model.scan(WebSite { kind, key: 0 });
    for version in [TlsVersion::Tls10, TlsVersion::Tls11, TlsVersion::Tls12] {
        let offer = offer("a", &[version], &[0xc013, 0xc02f], &[0x17], &[0x0401]);
        let is_old = version < TlsVersion::Tls12;
        assert_eq!(predict(&offer, &scan).agrees(), is_old, "{version}");
    }
}
