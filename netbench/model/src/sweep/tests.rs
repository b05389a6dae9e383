use super::*;
use crate::{KeyType, LinkProfile, Switch, parse_sites};

fn expanded(axes: &[&str]) -> Result<Vec<Site>, String> {
    let sites = parse_sites("a.example rtt=5ms\nb.example:8443 key=ecdsa-p256\n").unwrap();
    let sweep = Sweep::parse(axes).map_err(|error| error.to_string())?;
    sweep.expand(&sites).map_err(|error| error.to_string())
}

#[test]
fn every_combination_of_values_is_a_point_of_every_site() {
    let sites = expanded(&["rtt=1ms,10ms", "loss=0,1%", "chain=3/8000"]).unwrap();
    let names: Vec<String> = sites.iter().map(Site::name).collect();
    assert_eq!(
        names,
        [
            "a.example@rtt=1ms,loss=0",
            "b.example:8443@rtt=1ms,loss=0",
            "a.example@rtt=1ms,loss=1%",
            "b.example:8443@rtt=1ms,loss=1%",
            "a.example@rtt=10ms,loss=0",
            "b.example:8443@rtt=10ms,loss=0",
            "a.example@rtt=10ms,loss=1%",
            "b.example:8443@rtt=10ms,loss=1%",
        ]
    );
    let last = sites.last().unwrap();
    assert_eq!(last.host.as_str(), "b.example");
    assert_eq!(last.lab.link.rtt_ns, 10_000_000);
    assert_eq!(last.lab.link.loss.parts_per_million, 10_000);
    assert_eq!(last.lab.chain.bytes, 8000);
    let point = last.point.as_deref().unwrap();
    assert_eq!(point.of, "b.example:8443");
    assert_eq!(point.settings["chain"], "3/8000");
    let stored = serde_json::to_string(&sites).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Site>>(&stored).unwrap(), sites);
}

#[test]
fn what_is_said_of_a_part_of_a_link_is_true_of_a_preset_too() {
    let sites = expanded(&["loss=2%", "link=dsl,3g", "hybrid=off,on", "cpu=100%,25%"]).unwrap();
    assert_eq!(sites.len(), 2 * 2 * 2 * 2);
    let first = &sites[0];
    assert_eq!(first.name(), "a.example@link=dsl,hybrid=off,cpu=100%");
    assert_eq!(first.lab.link.loss.parts_per_million, 20_000);
    let dsl = LinkPreset::ALL.iter().find(|p| p.name == "dsl").unwrap();
    let without_loss = LinkProfile {
        loss: Default::default(),
        ..first.lab.link
    };
    assert_eq!(without_loss, dsl.profile);
    let ends = [first, sites.last().unwrap()];
    let [first, last] = ends.map(|site| site.point.as_deref().unwrap().client);
    assert_eq!(first.hybrid, Some(Switch::Off));
    assert_eq!(first.cpu_percent, None);
    assert_eq!(last.cpu_percent.map(crate::CpuShare::percent), Some(25));
}

#[test]
fn certificates_have_names_and_parts() {
    let cases = [
        ("ecdsa", " key=ecdsa-p256 ca-key=ecdsa-p256"),
        ("long", " ca-key=rsa-2048 chain=4/11500"),
        ("mixed", " key=ecdsa-p256 ca-key=mldsa-65"),
        ("mldsa-44", " key=mldsa-44 ca-key=mldsa-44"),
        ("mldsa-65", " key=mldsa-65 ca-key=mldsa-65"),
        ("merkle", " key=mldsa-44 ca-key=ecdsa-p256 chain=1/2900"),
    ];
    assert_eq!(
        CertificatesPreset::ALL.map(|preset| preset.name),
        cases.map(|(name, _)| name)
    );
    for (name, fields) in cases {
        let sites = expanded(&[&format!("certificates={name}")]).unwrap();
        assert_eq!(sites[0].to_line(), format!("a.example{fields} rtt=5ms"));
    }
    // A part is changed whether it comes before or after.
    for axes in [
        ["key=mldsa-44", "certificates=ecdsa,long"],
        ["certificates=ecdsa,long", "key=mldsa-44"],
    ] {
        let sites = expanded(&axes).unwrap();
        assert_eq!(sites[0].name(), "a.example@certificates=ecdsa");
        let keys = sites.iter().map(|site| (site.lab.key, site.lab.ca_key()));
        let keys: Vec<_> = keys.collect();
        assert_eq!(keys[0], (KeyType::MlDsa44, KeyType::EcdsaP256));
        assert_eq!(keys[2], (KeyType::MlDsa44, KeyType::Rsa2048));
    }
}

#[test]
fn what_cannot_be_is_refused_in_a_line() {
    let errors = [
        &["rtt"][..],
        &["rtt=fast"],
        &["rtt=1ms,1000us"],
        &["rtt="],
        &["rtt=1ms", "rtt=2ms"],
        &["delay=1ms"],
        &["link=5g"],
        &["certificates=rsa"],
        &["tls=1.2", "certificates=mldsa-44"],
        &["hybrid=maybe"],
        &["cpu=1%"],
        &["client-cert=ecdsa"],
        &["client-cert=ecdsa-p256/1m"],
        &["tls=1.2", "client-cert=mldsa-65"],
        &["window-up=0"],
        &["\u{1b}[31m=1"],
        &["suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
    ]
    .map(|axes| expanded(axes).unwrap_err());
    assert_eq!(
        errors.as_slice(),
        [
            "expected NAME=VALUE,…, such as rtt=1ms,10ms,50ms",
            "rtt=fast: expected a time with its unit, such as 20ms; found \"fast\"",
            "rtt=1000us: there is such a value already",
            "rtt=: expected values of 1 to 64 bytes, between commas, found an empty one",
            "rtt is given twice: join its values with commas",
            "\"delay\" cannot be swept; expected one of server, tls, suites, groups, key, ca-key, chain, client-cert, alpn, tickets, early-data, ech, ocsp, rtt, \
             jitter, loss, rate, rate-up, queue, window, window-up, body, fault, link, certificates, hybrid, cpu",
            "link=5g: no such link; expected one of fibre, cable, dsl, lte, 4g, 3g, 3g-slow, satellite",
            "certificates=rsa: no such certificates; expected one of ecdsa, long, mixed, mldsa-44, mldsa-65, merkle",
            "a.example at certificates=mldsa-44,tls=1.2: key: TLS 1.2 has no signatures with mldsa-44; expected tls=1.3 or \
             tls=1.2,1.3",
            "hybrid=maybe: expected on or off",
            "cpu=1%: expected a share of a core from 5% to 99%, such as 25%, or 100%",
            "client-cert=ecdsa: unknown key type \"ecdsa\"; expected one of rsa-2048, rsa-3072, rsa-4096, ecdsa-p256, ecdsa-p384, \
             ed25519, mldsa-44, mldsa-65, mldsa-87; or none",
            "client-cert=ecdsa-p256/1m: expected at most 60000 bytes after the '/', such as ecdsa-p256/12000; found \
             \"ecdsa-p256/1m\"",
            "a.example at tls=1.2,client-cert=mldsa-65: client-cert: TLS 1.2 has no signatures with mldsa-65; expected tls=1.3 \
             or tls=1.2,1.3",
            "window-up=0: expected a number of segments, 1 to 100; found \"0\"",
            "\"\\u{1b}[31m\" cannot be swept; expected one of server, tls, suites, groups, key, ca-key, chain, client-cert, alpn, tickets, \
             early-data, ech, ocsp, rtt, jitter, loss, rate, rate-up, queue, window, window-up, body, fault, link, certificates, hybrid, cpu",
            "a.example at suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: suites: none of them serves TLS 1.3 with \
             key=rsa-2048; expected one such as TLS_AES_128_GCM_SHA256",
        ]
    );
}

#[test]
fn no_sweep_is_made_that_no_run_could_have() {
    let values: Vec<_> = (1..=3000).map(|n| n.to_string()).collect();
    let millions = ["queue", "body"].map(|name| format!("{name}={}", values.join(",")));
    let sweep = Sweep::parse(&millions).unwrap();
    assert_eq!(sweep.points(), 9_000_000);
    let sites = parse_sites("a.example").unwrap();
    let error = sweep.expand(&sites).unwrap_err();
    assert!(
        matches!(
            error,
            SweepError::TooMany {
                points: 9_000_000,
                ..
            }
        ),
        "{error}"
    );
}
