//! Keys of ML-DSA from a user's perspective: the lab signs with them, and clients verify them or refuse to try.

use netbench_model::{Outcome, Sample, SignatureScheme, SuiteOutcome, SuiteSample, TlsVersion};

use crate::support::{Place, failure, manifest, measured, samples_of};

/// Sites with their keys, and the scheme of the server's signature.
const SITES: [(&str, SignatureScheme); 8] = [
    ("a.example key=mldsa-44 tls=1.3", SignatureScheme::MLDSA44),
    ("b.example key=mldsa-65", SignatureScheme::MLDSA65),
    ("c.example key=mldsa-87 chain=1", SignatureScheme::MLDSA87),
    (
        "d.example key=mldsa-44 server=rustls-aws-lc",
        SignatureScheme::MLDSA44,
    ),
    (
        "e.example key=mldsa-65 server=rustls-aws-lc chain=3",
        SignatureScheme::MLDSA65,
    ),
    (
        "f.example key=mldsa-87 server=rustls-aws-lc ocsp=on",
        SignatureScheme::MLDSA87,
    ),
    (
        "g.example key=mldsa-65 ca-key=ecdsa-p256",
        SignatureScheme::MLDSA65,
    ),
    (
        "h.example key=ecdsa-p256 ca-key=mldsa-65 server=rustls-ring",
        SignatureScheme::ECDSA_SECP256R1_SHA256,
    ),
];

fn place() -> Place {
    let lines = SITES.map(|(line, _)| line);
    Place::with_sites(&format!(
        "{}\nplain.example key=ecdsa-p256\n",
        lines.join("\n")
    ))
}

fn samples(place: &Place, line: &str) -> Vec<Sample> {
    let line = format!("connect --sites sites.txt --rounds 1 --link none {line}");
    place.succeeds(&line);
    measured(&place.run())
}

#[test]
fn openssl_and_rustls_verify_every_chain() {
    for profile in ["default", "library"] {
        let place = place();
        let samples = samples(&place, &format!("--client-profile {profile}"));
        assert_eq!(samples.len(), 2 * (SITES.len() + 1));
        for sample in samples {
            let what = format!("{} {} {profile}", sample.site, sample.stack);
            let Outcome::Ok(measured) = &sample.outcome else {
                panic!("{what}: {:?}", failure(&sample));
            };
            let mut sites = SITES.iter();
            let site = sites.find(|(line, _)| line.starts_with(&sample.site));
            let expected = site.map_or(SignatureScheme::ECDSA_SECP256R1_SHA256, |(_, s)| *s);
            assert_eq!(measured.client.signature, Some(expected), "{what}");
            assert_eq!(measured.client.version, Some(TlsVersion::Tls13), "{what}");
        }
    }
}

#[test]
fn a_wrong_chain_is_refused() {
    let place = Place::with_sites(
        "wrong.example key=mldsa-65 fault=wrong-name\n\
         unknown.example key=mldsa-44 fault=unknown-root\n\
         unknown-ca.example key=ecdsa-p256 ca-key=mldsa-87 fault=unknown-root\n\
         expired.example key=mldsa-87 fault=expired\n\
         good.example key=mldsa-87\n",
    );
    for sample in samples(&place, "") {
        let expected = match sample.site.as_str() {
            "good.example" => {
                assert!(sample.outcome.ok().is_some(), "{sample:?}");
                continue;
            }
            "wrong.example" => "certificate: wrong-name",
            "expired.example" => "certificate: expired",
            _ => "certificate: unknown-issuer",
        };
        let found = failure(&sample).expect("a failure");
        assert!(
            found.starts_with(expected),
            "{} {}: {found}",
            sample.site,
            sample.stack
        );
    }
}

#[test]
fn a_stack_without_ml_dsa_is_not_tried_there_alone() {
    let place = place();
    for sample in samples(
        &place,
        "--client-profile default --stack openssl,rustls-ring",
    ) {
        let needs = sample.site != "plain.example";
        match &sample.outcome {
            Outcome::Unsupported { reason } => {
                assert!(
                    needs && sample.stack.as_str() == "rustls-ring",
                    "{sample:?}"
                );
                assert!(reason.contains("no verification of mldsa"), "{reason}");
            }
            outcome => {
                assert!(outcome.ok().is_some(), "{sample:?}");
                assert!(!needs || sample.stack.as_str() == "openssl", "{sample:?}");
            }
        }
    }
}

/// The certificates of `--preset post-quantum`, and whether a stack needs ML-DSA for them.
const CERTIFICATES: [(&str, bool); 6] = [
    ("ecdsa", false),
    ("long", false),
    ("mixed", true),
    ("mldsa-44", true),
    ("mldsa-65", true),
    ("merkle", true),
];

#[test]
fn a_sweep_over_certificates_tries_each_stack_with_those_that_it_can_verify() {
    let place = Place::with_sites("a.example\n");
    let names = CERTIFICATES.map(|(name, _)| name).join(",");
    let samples = samples(
        &place,
        &format!("--sweep certificates={names} --stack openssl,rustls-ring"),
    );
    assert_eq!(samples.len(), 2 * CERTIFICATES.len());
    let record = manifest(&place.run()).plan.compression.unwrap();
    assert_eq!(record.chains.len(), CERTIFICATES.len());
    for chain in &record.chains {
        let [(_, zlib), (_, brotli), (_, zstd)] = chain.sizes();
        let compressed = [zlib, brotli, zstd];
        // Neither the keys nor the signatures become smaller, and the names do.
        assert!(
            compressed.iter().all(|size| *size < chain.plain_bytes),
            "{chain:?}"
        );
        assert!(
            compressed.iter().all(|size| 2 * size > chain.plain_bytes),
            "{chain:?}"
        );
    }
    let offers: Vec<_> = record.offers.values().map(Vec::len).collect();
    assert_eq!(offers, [0, 0], "neither is built with an algorithm");
    for (name, needs) in CERTIFICATES {
        let site = format!("a.example@certificates={name}");
        for sample in samples.iter().filter(|sample| sample.site == site) {
            match (sample.stack.as_str(), &sample.outcome) {
                ("rustls-ring", Outcome::Unsupported { reason }) => {
                    assert!(needs, "{sample:?}");
                    assert!(reason.contains("no verification of mldsa"), "{reason}");
                }
                (stack, outcome) => {
                    assert!(outcome.ok().is_some(), "{sample:?}");
                    assert!(stack == "openssl" || !needs, "{sample:?}");
                }
            }
        }
    }
}

#[test]
fn a_stack_without_the_hybrid_group_cannot_have_the_preset() {
    Place::new().refuses(
        2,
        "connect --preset post-quantum --stack openssl,rustls-ring => rustls-ring & has no X25519MLKEM768 & openssl and rustls-aws-lc have it",
    );
}

#[test]
fn a_server_without_ml_dsa_says_which_has_it() {
    let place = Place::with_sites(
        "a.example key=mldsa-65 server=rustls-ring\nb.example server=rustls-ring\n",
    );
    for sample in samples(&place, "") {
        match (sample.site.as_str(), &sample.outcome) {
            ("a.example", Outcome::Unsupported { reason }) => {
                assert!(reason.contains("server=openssl"), "{reason}");
            }
            ("b.example", Outcome::Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_suite_has_them_where_the_stack_does() {
    let place = Place::new();
    place.succeeds("suite --stack openssl,rustls-aws-lc,rustls-ring --rounds 1 --trial 5ms --case \
                handshake-full_1.3_ECDHE_MLDSA_AES128-GCM_SHA256_mldsa-?? --case verify_mldsa-??_chain-2_roots-1 \
                --case crypto_mldsa-*");
    let samples: Vec<SuiteSample> = samples_of(&place.run());
    // Of each type a handshake, a chain, a signature and its verification.
    assert_eq!(samples.len(), 3 * 3 * 4);
    for sample in samples {
        match (sample.stack.as_str(), &sample.outcome) {
            ("rustls-ring", SuiteOutcome::Unsupported { reason }) => {
                assert!(reason.contains("no mldsa"), "{reason}");
            }
            ("openssl" | "rustls-aws-lc", SuiteOutcome::Ok(_)) => {}
            other => panic!("{}: {other:?}", sample.scenario),
        }
    }
}
