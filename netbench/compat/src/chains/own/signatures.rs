//! Keys, signatures and encodings.

use netbench_model::chains::Due::{self, MustAccept, MustReject, ShouldAccept, ShouldReject};

use super::draft::{Draft, due_in, spec};
use crate::certificates::{CertificateSpec, Digest, Flaw, Hex, KeyKind};

pub(super) fn cases() -> Vec<Draft> {
    [signed(), keys(), encodings(), serials()].concat()
}

/// Returns leaves that are signed with keys of each kind and each hash.
fn signed() -> Vec<Draft> {
    use {Digest as D, KeyKind as K};
    let all: [(K, &str, &[D], Due); 7] = [
        (
            K::Rsa1024,
            "rsa-1024",
            &[D::Sha256, D::Sha512],
            due_in("key/rsa-1024-authority"),
        ),
        (
            K::Rsa2048,
            "rsa-2048",
            &[D::Sha1, D::Sha256, D::Sha384, D::Sha512],
            MustAccept,
        ),
        (K::Rsa8192, "rsa-8192", &[D::Sha256], ShouldAccept),
        (
            K::EcdsaP256,
            "p-256",
            &[D::Sha1, D::Sha256, D::Sha384, D::Sha512],
            MustAccept,
        ),
        (K::EcdsaP384, "p-384", &[D::Sha384], MustAccept),
        (K::EcdsaP521, "p-521", &[D::Sha256, D::Sha512], ShouldAccept),
        (
            K::Ed25519,
            "ed25519",
            &[D::Sha512],
            due_in("key/ed25519-authority"),
        ),
    ];
    let mut drafts = Vec::new();
    for (key, name, digests, due) in all {
        for digest in digests {
            // Pairs other than a curve's own are allowed (RFC 5758 section 3.2) and rare.
            let due = match digest {
                D::Sha1 => MustReject,
                D::Sha384 | D::Sha512 if key == K::EcdsaP256 => ShouldAccept,
                _ => due,
            };
            let hash = format!("{digest:?}").to_lowercase();
            drafts.push(
                Draft::new("signature", format!("{name}-{hash}"), due)
                    .with("intermediate", spec(|it| it.key = Some(key)))
                    .leaf(spec(|it| it.digest = Some(*digest))),
            );
        }
    }
    drafts
}

/// Returns leaves with a key of each kind, and CAs with such a key.
fn keys() -> Vec<Draft> {
    use KeyKind as K;
    let all = [
        (K::Rsa2048, "rsa-2048", MustAccept),
        (K::Rsa8192, "rsa-8192", ShouldAccept),
        (K::EcdsaP256, "p-256", MustAccept),
        (K::EcdsaP384, "p-384", MustAccept),
        (K::EcdsaP521, "p-521", ShouldAccept),
    ];
    let with = |key| spec(|it: &mut CertificateSpec| it.key = Some(key));
    let usual = all.iter().flat_map(|(key, name, due)| {
        [
            Draft::new("key", format!("leaf-{name}"), *due).leaf(with(*key)),
            Draft::new("key", format!("root-{name}"), *due).with("root", with(*key)),
        ]
    });
    let disputed = [(K::Rsa1024, "rsa-1024"), (K::Ed25519, "ed25519")];
    let disputed = disputed.iter().flat_map(|(key, name)| {
        let (of_leaf, of_root) = (format!("key/{name}"), format!("key/{name}-root"));
        [
            Draft::as_in("key", format!("leaf-{name}"), &of_leaf).leaf(with(*key)),
            Draft::as_in("key", format!("root-{name}"), &of_root).with("root", with(*key)),
        ]
    });
    usual.chain(disputed).collect()
}

fn encodings() -> Vec<Draft> {
    let flaws = [
        (Flaw::BadSignature, MustReject),
        (Flaw::UnknownCriticalExtension, MustReject),
        (Flaw::UnknownExtension, MustAccept),
        (Flaw::DuplicateExtension, ShouldReject),
        (Flaw::ExplicitFalse, ShouldAccept),
        (Flaw::TrailingData, MustReject),
        (Flaw::GeneralizedTime, ShouldAccept),
        (Flaw::AlgorithmsDiffer, MustReject),
        (Flaw::EmptySerial, ShouldReject),
    ];
    flaws
        .into_iter()
        .flat_map(|(flaw, due)| {
            ["leaf", "intermediate"].map(|certificate| {
                Draft::new("encoding", format!("{certificate}-{flaw}"), due)
                    .with(certificate, spec(|it| it.flaw = Some(flaw)))
            })
        })
        .collect()
}

/// Returns cases of RFC 5280 section 4.1.2.2: a positive number of at most 20 bytes; clients should be able to
/// handle others.
fn serials() -> Vec<Draft> {
    let new = |name: &str, bytes: Vec<u8>, due| {
        Draft::new("serial", name, due).leaf(spec(|it| it.serial = Some(Hex(bytes))))
    };
    vec![
        new("20-bytes", vec![0x11; 20], MustAccept),
        new("21-bytes", vec![0x11; 21], ShouldAccept),
        new("40-bytes", vec![0x11; 40], ShouldAccept),
        new("zero", vec![0], ShouldAccept),
        new("negative", vec![0x80, 1], ShouldAccept),
        new("zeros-before", vec![0, 0, 1], ShouldReject),
    ]
}
