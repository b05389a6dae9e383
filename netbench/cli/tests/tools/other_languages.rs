//! A worker that is not in Rust, beside one that is.

use netbench_model::{SuiteOutcome, SuiteSample};

use crate::support::{Place, measured, samples_of, words};

const SITES: &str = "\
rust.example  server=rustls-ring  key=ecdsa-p256
go.example    server=go           key=rsa-2048
old.example   server=go           key=rsa-2048 tls=1.2 alpn=http/1.1
";

pub(crate) fn go_and_rust_connect_to_each_other() {
    let place = Place::with_sites(SITES);
    let line = "--stack rustls-ring,go --condition clean,resumed,cold --rounds 2 --link none";
    place.connect(line);
    let samples = measured(&place.run());
    assert_eq!(samples.len(), 3 * 2 * 3 * 2);
    for sample in &samples {
        let figures = sample.outcome.ok();
        let figures = figures.unwrap_or_else(|| panic!("{sample:?}"));
        assert!(
            figures.phases.cpu_ns > 0 && figures.transfer.tcp.is_some(),
            "{sample:?}"
        );
    }
}

pub(crate) fn go_does_the_suite_beside_rust() {
    let place = Place::new();
    let cases = [
        "handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384",
        "handshake-ticket_1.2_ECDHE_ECDSA_CHACHA20-POLY1305_SHA256",
        "bulk_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
        "verify_ecdsa-p256_chain-2_roots-10",
        "memory-100_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
    ];
    let chosen: Vec<&str> = cases.iter().flat_map(|case| ["--case", case]).collect();
    let how = words("suite --stack rustls-ring,go --rounds 1 --trial 30ms");
    place.netbench(&[how, chosen].concat()).expect(0);
    let samples: Vec<SuiteSample> = samples_of(&place.run());
    assert_eq!(samples.len(), 2 * cases.len());
    for sample in &samples {
        assert!(matches!(sample.outcome, SuiteOutcome::Ok(_)), "{sample:?}");
    }
}
