//! Tests of the certificates of the in-memory suite by rustls-webpki and by the system's `openssl`.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use aws_lc_rs::{
    encoding::{AsDer as _, PublicKeyX509Der},
    signature::{
        KeyPair as _, ML_DSA_44_SIGNING, ML_DSA_65_SIGNING, ML_DSA_87_SIGNING, PqdsaKeyPair,
    },
};
use netbench_lab::{SUITE_HOST, make_suite_pki, suite_pki};
use netbench_model::{KeyType, TlsVersion};
use netbench_protocol::Material;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls_pki_types::{
    CertificateDer, PrivateKeyDer, ServerName, SignatureVerificationAlgorithm, UnixTime,
    pem::PemObject as _,
};
use support::{certificates, check_key, openssl};
use webpki::{
    EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert,
    aws_lc_rs::{
        ECDSA_P256_SHA256, ECDSA_P384_SHA384, ED25519, ML_DSA_44, ML_DSA_65, ML_DSA_87,
        RSA_PKCS1_2048_8192_SHA256,
    },
};

netbench_testing::tests! {
    webpki_takes_every_chain_by_its_own_algorithm_alone_for_its_hundred_years;
    the_server_leaf_is_for_the_suite_host;
    chains_have_their_length_and_keys_of_their_type_at_every_level;
    of_one_type_only_the_server_chain_differs_from_length_to_length;
    no_two_certificates_or_roles_share_a_key_but_the_server_leaves;
    a_chain_does_not_lead_to_the_root_of_another_type;
    lengths_that_do_not_exist_give_the_nearest_that_does;
    what_is_checked_in_has_the_form_of_what_is_made_today;
    openssl_takes_every_chain_and_key: OpensslCommand;
}

const LENGTHS: std::ops::RangeInclusive<u8> = 1..=4;
/// The first second of the certificates, 2025-01-01, in seconds since 1970.
const BEGIN_S: u64 = 1_735_689_600;
/// A time in their last days, 2124-12-31.
const LAST_DAYS_S: u64 = 4_891_276_800;
/// A day after their end, 2126-01-01.
const AFTER_S: u64 = 4_922_899_200;

/// Returns the only algorithm that may sign a certificate of this type, and the size of its public
/// keys as SubjectPublicKeyInfo.
fn expected(key: KeyType) -> (&'static dyn SignatureVerificationAlgorithm, usize) {
    match key {
        KeyType::Rsa2048 => (RSA_PKCS1_2048_8192_SHA256, 294),
        KeyType::Rsa3072 => (RSA_PKCS1_2048_8192_SHA256, 422),
        KeyType::Rsa4096 => (RSA_PKCS1_2048_8192_SHA256, 550),
        KeyType::EcdsaP256 => (ECDSA_P256_SHA256, 91),
        KeyType::EcdsaP384 => (ECDSA_P384_SHA384, 120),
        KeyType::Ed25519 => (ED25519, 44),
        KeyType::MlDsa44 => (ML_DSA_44, 1334),
        KeyType::MlDsa65 => (ML_DSA_65, 1974),
        KeyType::MlDsa87 => (ML_DSA_87, 2614),
    }
}

fn all() -> impl Iterator<Item = (KeyType, u8, Material)> {
    KeyType::ALL
        .iter()
        .flat_map(|key| LENGTHS.map(|length| (*key, length, suite_pki(*key, length))))
}

fn public_key(certificate: &CertificateDer<'_>) -> Vec<u8> {
    let parsed = EndEntityCert::try_from(certificate).unwrap();
    parsed.subject_public_key_info().to_vec()
}

fn public_half(key_pem: &str) -> Vec<u8> {
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).unwrap();
    if let Ok(pair) = KeyPair::try_from(&key) {
        return pair.subject_public_key_info();
    }
    // rcgen reads no keys of ML-DSA.
    let algorithms = [&ML_DSA_44_SIGNING, &ML_DSA_65_SIGNING, &ML_DSA_87_SIGNING];
    let mut pairs = algorithms.into_iter();
    let pair = pairs.find_map(|of| PqdsaKeyPair::from_pkcs8(of, key.secret_der()).ok());
    let public: PublicKeyX509Der<'_> = pair.as_ref().unwrap().public_key().as_der().unwrap();
    public.as_ref().to_vec()
}

fn verify(
    chain_pem: &str,
    root_pem: &str,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
    at_s: u64,
    usage: KeyUsage,
) -> Result<(), Error> {
    let root = certificates(root_pem);
    let anchors = [anchor_from_trusted_cert(&root[0])?];
    let chain = certificates(chain_pem);
    let at = UnixTime::since_unix_epoch(Duration::from_secs(at_s));
    EndEntityCert::try_from(&chain[0])?
        .verify_for_usage(&[algorithm], &anchors, &chain[1..], at, usage, None, None)
        .map(drop)
}

fn webpki_takes_every_chain_by_its_own_algorithm_alone_for_its_hundred_years() {
    for (key, length, pki) in all() {
        let (algorithm, _) = expected(key);
        let (server, client) = (KeyUsage::server_auth, KeyUsage::client_auth);
        let roots = &pki.roots_pem;
        for at_s in [BEGIN_S, LAST_DAYS_S] {
            let found = [
                verify(&pki.chain_pem, roots, algorithm, at_s, server()),
                verify(&pki.client_chain_pem, roots, algorithm, at_s, client()),
            ];
            assert_eq!(found, [Ok(()), Ok(())], "{key}, {length}, at {at_s}");
        }
        let early = verify(&pki.chain_pem, roots, algorithm, BEGIN_S - 1, server());
        assert!(
            matches!(early, Err(Error::CertNotValidYet { .. })),
            "{key}, {length}: {early:?}"
        );
        let late = verify(&pki.chain_pem, roots, algorithm, AFTER_S, server());
        assert!(
            matches!(late, Err(Error::CertExpired { .. })),
            "{key}, {length}: {late:?}"
        );
        for (chain, usage) in [
            (&pki.chain_pem, client()),
            (&pki.client_chain_pem, server()),
        ] {
            let found = verify(chain, roots, algorithm, BEGIN_S, usage);
            assert!(
                matches!(found, Err(Error::RequiredEkuNotFoundContext(_))),
                "{key}, {length}: {found:?}"
            );
        }
    }
}

fn the_server_leaf_is_for_the_suite_host() {
    for (key, length, pki) in all() {
        let chain = certificates(&pki.chain_pem);
        let leaf = EndEntityCert::try_from(&chain[0]).unwrap();
        let names: Vec<_> = leaf.valid_dns_names().collect();
        assert_eq!(names, ["suite.netbench.test"], "{key}, {length}");
        let name = ServerName::try_from(SUITE_HOST).unwrap();
        leaf.verify_is_valid_for_subject_name(&name).unwrap();
    }
}

fn chains_have_their_length_and_keys_of_their_type_at_every_level() {
    for (key, length, pki) in all() {
        let (_, key_bytes) = expected(key);
        let (server, client) = (
            certificates(&pki.chain_pem),
            certificates(&pki.client_chain_pem),
        );
        let root = certificates(&pki.roots_pem);
        assert_eq!(
            (server.len(), client.len(), root.len()),
            (usize::from(length), 2, 1),
            "{key}, {length}"
        );
        for certificate in server.iter().chain(&client).chain(&root) {
            let found = public_key(certificate).len();
            assert_eq!(found, key_bytes, "{key}, {length}");
        }
        assert!(
            !server.contains(&root[0]),
            "{key}, {length}: the root is sent"
        );

        assert_eq!(
            public_half(&pki.key_pem),
            public_key(&server[0]),
            "{key}, {length}"
        );
        assert_eq!(
            public_half(&pki.client_key_pem),
            public_key(&client[0]),
            "{key}, {length}"
        );
    }
}

fn of_one_type_only_the_server_chain_differs_from_length_to_length() {
    for key in KeyType::ALL {
        let made: Vec<_> = LENGTHS.map(|length| suite_pki(*key, length)).collect();
        let chains: Vec<_> = made
            .iter()
            .map(|pki| certificates(&pki.chain_pem))
            .collect();
        for pki in &made {
            let chain_pem = made[0].chain_pem.clone();
            let but_the_chain = Material {
                chain_pem,
                ..pki.clone()
            };
            assert_eq!(but_the_chain, made[0], "{key}");
        }
        // Each chain has one more intermediate, below the others.
        for pair in chains.windows(2) {
            assert_eq!(pair[1][2..], pair[0][1..], "{key}");
        }
        // Leaves differ only in the length of the issuer's name, and of an ECDSA signature.
        let bytes: BTreeSet<_> = chains.iter().map(|chain| chain[0].len()).collect();
        let (least, most) = (bytes.first().unwrap(), bytes.last().unwrap());
        assert!(most - least <= 16, "{key}: {bytes:?}");
        // A leaf of the web with an RSA-2048 key and issuer has about 1,300 to 2,000 bytes.
        if *key == KeyType::Rsa2048 {
            assert!(*least > 1300 && *most < 2000, "{bytes:?}");
        }
    }
}

fn no_two_certificates_or_roles_share_a_key_but_the_server_leaves() {
    let mut keys = BTreeSet::new();
    let mut certificate_bytes = BTreeSet::new();
    for key in KeyType::ALL {
        let longest = suite_pki(*key, *LENGTHS.end());
        for pem in [&longest.roots_pem, &longest.chain_pem] {
            for certificate in certificates(pem) {
                assert!(keys.insert(public_key(&certificate)), "{key}");
            }
        }
        assert!(keys.insert(public_half(&longest.client_key_pem)), "{key}");
        for length in LENGTHS {
            let leaf = certificates(&suite_pki(*key, length).chain_pem).swap_remove(0);
            assert!(certificate_bytes.insert(leaf.to_vec()), "{key}, {length}");
        }
    }
    assert_eq!(keys.len(), KeyType::ALL.len() * 6);
}

fn a_chain_does_not_lead_to_the_root_of_another_type() {
    for one in KeyType::ALL {
        for other in KeyType::ALL.iter().filter(|other| *other != one) {
            let (chain, root) = (suite_pki(*one, 2).chain_pem, suite_pki(*other, 2).roots_pem);
            let (algorithm, _) = expected(*one);
            let found = verify(&chain, &root, algorithm, BEGIN_S, KeyUsage::server_auth());
            assert_eq!(found, Err(Error::UnknownIssuer), "{one} under {other}");
        }
    }
}

fn lengths_that_do_not_exist_give_the_nearest_that_does() {
    for key in KeyType::ALL {
        assert_eq!(suite_pki(*key, 0), suite_pki(*key, 1), "{key}");
        for length in [5, u8::MAX] {
            assert_eq!(suite_pki(*key, length), suite_pki(*key, 4), "{key}");
        }
    }
}

/// Checks the format: otherwise, the files in the source tree come from another program than their
/// README states.
fn what_is_checked_in_has_the_form_of_what_is_made_today() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pki");
    let made: BTreeMap<_, _> = make_suite_pki(KeyType::ALL).unwrap().into_iter().collect();
    let checked_in: BTreeSet<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    assert!(checked_in.iter().eq(made.keys()), "{checked_in:?}");
    for (name, made) in made {
        let checked_in = std::fs::read_to_string(folder.join(&name)).unwrap();
        assert_ne!(made, checked_in, "{name}");
        let (made, checked_in) = (blocks(&made), blocks(&checked_in));
        assert_eq!(made.len(), checked_in.len(), "{name}");
        for ((what, bytes), (what_checked_in, bytes_checked_in)) in made.iter().zip(&checked_in) {
            assert_eq!(what, what_checked_in, "{name}");
            // ECDSA signatures and RSA keys vary by a few bytes.
            assert!(
                bytes.abs_diff(*bytes_checked_in) <= 12,
                "{name}, {what}: {bytes}, {bytes_checked_in} characters"
            );
        }
    }
}

/// Returns the comment above each block of a PEM file, and the number of characters in the block's
/// body.
fn blocks(text: &str) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            found.push((comment.to_owned(), 0));
        } else if !line.starts_with("-----") {
            found.last_mut().unwrap().1 += line.len();
        }
    }
    found
}

fn openssl_takes_every_chain_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let [root, leaf, above, key_file] = ["root.pem", "leaf.pem", "above.pem", "key.pem"]
        .map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    // The system's `openssl` may be older than ML-DSA, which only TLS 1.3 has.
    for (key, length, pki) in all().filter(|(key, ..)| key.oldest_version() < TlsVersion::Tls13) {
        std::fs::write(&root, &pki.roots_pem).unwrap();
        for (purpose, chain, key_pem, host) in [
            ("sslserver", &pki.chain_pem, &pki.key_pem, SUITE_HOST),
            (
                "sslclient",
                &pki.client_chain_pem,
                &pki.client_key_pem,
                "client.netbench.test",
            ),
        ] {
            let case = format!("{key}, {length}, {purpose}");
            let blocks: Vec<&str> = chain
                .split_inclusive("-----END CERTIFICATE-----\n")
                .collect();
            std::fs::write(&leaf, blocks[0]).unwrap();
            std::fs::write(&above, blocks[1..].concat()).unwrap();
            std::fs::write(&key_file, key_pem).unwrap();

            check_key(&case, &key_file, &leaf);

            for (purpose, host, expected) in [
                (purpose, host, "leaf.pem: OK"),
                (purpose, "other.netbench.test", "hostname mismatch"),
                ("smimesign", host, "certificate purpose"),
            ] {
                let mut arguments = vec!["verify", "-x509_strict", "-purpose", purpose];
                arguments.extend(["-verify_hostname", host, "-no-CApath", "-no-CAstore"]);
                arguments.extend(["-CAfile", &root]);
                if blocks.len() > 1 {
                    arguments.extend(["-untrusted", &above]);
                }
                arguments.push(&leaf);
                let found = openssl(&arguments);
                assert!(found.contains(expected), "{case}: {found}");
            }
        }
    }
}
