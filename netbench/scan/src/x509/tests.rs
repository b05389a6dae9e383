use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};

use super::*;

#[test]
fn wildcards_stand_for_one_label() {
    let cases = [
        ("a.test", "a.test", true),
        ("A.test", "a.test", true),
        ("*.test", "a.test", true),
        ("*.test", "b.a.test", false),
        ("*.test", "test", false),
        ("b.test", "a.test", false),
    ];
    for (name, host, due) in cases {
        assert_eq!(matches_host(name, host), due, "{name} {host}");
    }
}

#[test]
fn algorithms_and_curves_have_names() {
    let cases = [
        (oid!(1.2.840.113549.1.1.4), "md5WithRSAEncryption"),
        (oid!(1.2.840.113549.1.1.5), "sha1WithRSAEncryption"),
        (oid!(1.2.840.113549.1.1.10), "rsassaPss"),
        (oid!(1.2.840.113549.1.1.11), "sha256WithRSAEncryption"),
        (oid!(1.2.840.113549.1.1.12), "sha384WithRSAEncryption"),
        (oid!(1.2.840.113549.1.1.13), "sha512WithRSAEncryption"),
        (oid!(1.2.840.10045.4.1), "ecdsa-with-SHA1"),
        (oid!(1.2.840.10045.4.3.2), "ecdsa-with-SHA256"),
        (oid!(1.2.840.10045.4.3.3), "ecdsa-with-SHA384"),
        (oid!(1.2.840.10045.4.3.4), "ecdsa-with-SHA512"),
        (oid!(1.3.101.112), "ed25519"),
        (oid!(1.3.101.113), "ed448"),
        (oid!(1.2.3.4), "1.2.3.4"),
    ];
    for (oid, due) in cases {
        assert_eq!(oid_name(&oid), due);
    }
    let curves = [
        (oid!(1.2.840.10045.3.1.7), "secp256r1", 256),
        (oid!(1.3.132.0.34), "secp384r1", 384),
        (oid!(1.3.132.0.35), "secp521r1", 521),
        (oid!(1.3.132.0.10), "secp256k1", 256),
        (oid!(1.3.132.0.33), "secp224r1", 224),
        (oid!(1.3.36.3.3.2.8.1.1.7), "brainpoolP256r1", 256),
        (oid!(1.3.36.3.3.2.8.1.1.11), "brainpoolP384r1", 384),
        (oid!(1.3.36.3.3.2.8.1.1.13), "brainpoolP512r1", 512),
        (oid!(1.2.3.4), "1.2.3.4", 0),
    ];
    for (oid, due, bits) in curves {
        assert_eq!(oid_name(&oid), due);
        assert_eq!(curve_bits(due), bits, "{due}");
    }
}

#[test]
fn bytes_that_are_no_certificate_are_said_to_be_none() {
    let chain = chain(
        &[vec![0x30; 40]],
        TlsVersion::Tls12,
        "a.test",
        &TrustAnchors::default(),
        0,
    );
    assert_eq!(chain.certificates[0].subject, "not a certificate");
    assert_eq!(chain.anchor, Anchor::Missing);
}

/// Certificates for chains: two roots, the second signed by the first too, an intermediate and its leaf.
struct Made {
    root: Vec<u8>,
    intermediate: Vec<u8>,
    expired_intermediate: Vec<u8>,
    leaf: Vec<u8>,
    /// The root's name and key in a certificate of an older root.
    cross_signed: Vec<u8>,
    /// A root with the same name and another key.
    impostor: Vec<u8>,
    self_signed: Vec<u8>,
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn key() -> KeyPair {
    KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap()
}

fn made() -> Made {
    let (root_key, middle_key, leaf_key) = (key(), key(), key());
    let root = authority("root").self_signed(&root_key).unwrap();
    let impostor = authority("root").self_signed(&key()).unwrap();
    let older = Issuer::new(authority("older root"), key());
    let cross_signed = authority("root").signed_by(&root_key, &older).unwrap();
    let issuer = Issuer::new(authority("root"), root_key);
    let intermediate = authority("intermediate").signed_by(&middle_key, &issuer);
    let mut expired = authority("intermediate");
    expired.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let expired = expired.signed_by(&middle_key, &issuer).unwrap();
    let issuer = Issuer::new(authority("intermediate"), middle_key);
    let params = CertificateParams::new(["a.test".to_owned()]).unwrap();
    let self_signed = params.self_signed(&leaf_key).unwrap();
    let leaf = params.signed_by(&leaf_key, &issuer).unwrap();
    Made {
        root: root.der().to_vec(),
        intermediate: intermediate.unwrap().der().to_vec(),
        expired_intermediate: expired.der().to_vec(),
        leaf: leaf.der().to_vec(),
        cross_signed: cross_signed.der().to_vec(),
        impostor: impostor.der().to_vec(),
        self_signed: self_signed.der().to_vec(),
    }
}

/// The description of a chain: in order, unrelated, duplicates, with its root, invalid issuers, its end, and the missing issuer.
type Described = (bool, u32, u32, bool, u32, Anchor, Option<&'static str>);

#[test]
fn chains_are_described_as_they_were_sent() {
    let made = made();
    let (leaf, intermediate, root) = (&made.leaf, &made.intermediate, &made.root);
    let roots = TrustAnchors(vec![Root::of_der(root.clone()).unwrap()]);
    let none = TrustAnchors::default();
    let others = TrustAnchors(vec![Root::of_der(made.impostor.clone()).unwrap()]);
    let known = Anchor::Known;
    let cases: [(&str, &[&Vec<u8>], &TrustAnchors, Described); 14] = [
        (
            "whole",
            &[leaf, intermediate],
            &roots,
            (true, 0, 0, false, 0, known, None),
        ),
        (
            "without roots",
            &[leaf, intermediate],
            &none,
            (true, 0, 0, false, 0, Anchor::Unchecked, None),
        ),
        (
            "with its root",
            &[leaf, intermediate, root],
            &roots,
            (true, 0, 0, true, 0, known, None),
        ),
        (
            "without its intermediate",
            &[leaf],
            &roots,
            (
                true,
                0,
                0,
                false,
                0,
                Anchor::Missing,
                Some("CN=intermediate"),
            ),
        ),
        (
            "of an unknown root",
            &[leaf, intermediate],
            &others,
            (true, 0, 0, false, 0, Anchor::Missing, Some("CN=root")),
        ),
        (
            "of an unknown root that was sent",
            &[leaf, intermediate, root],
            &others,
            (true, 0, 0, true, 0, Anchor::UnknownRoot, None),
        ),
        (
            "out of order",
            &[leaf, root, intermediate],
            &roots,
            (false, 0, 0, true, 0, known, None),
        ),
        (
            "with a certificate twice",
            &[leaf, leaf, intermediate],
            &roots,
            (false, 0, 1, false, 0, known, None),
        ),
        (
            "with another certificate",
            &[leaf, intermediate, &made.self_signed],
            &roots,
            (false, 1, 0, false, 0, known, None),
        ),
        (
            "with the root of another by its name",
            &[leaf, intermediate, &made.impostor],
            &roots,
            (false, 1, 0, false, 0, known, None),
        ),
        (
            "with an expired intermediate",
            &[leaf, &made.expired_intermediate],
            &roots,
            (true, 0, 0, false, 1, known, None),
        ),
        (
            "with a root that an older one signed",
            &[leaf, intermediate, &made.cross_signed],
            &roots,
            (true, 0, 0, false, 0, known, None),
        ),
        (
            "self-signed",
            &[&made.self_signed],
            &roots,
            (true, 0, 0, false, 0, Anchor::SelfSigned, None),
        ),
        (
            "self-signed under the name of a root",
            &[&made.impostor],
            &roots,
            (true, 0, 0, false, 0, Anchor::SelfSigned, None),
        ),
    ];
    for (name, ders, roots, due) in cases {
        let ders: Vec<Vec<u8>> = ders.iter().copied().cloned().collect();
        let found = chain(&ders, TlsVersion::Tls12, "a.test", roots, 0);
        let described = (
            found.in_order,
            found.unrelated,
            found.duplicates,
            found.has_root,
            found.invalid_issuers,
            found.anchor,
            found.missing.as_deref(),
        );
        assert_eq!(described, due, "{name}");
    }
}
