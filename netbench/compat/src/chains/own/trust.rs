//! Certificates that form a path: order, superfluous and missing ones, trusted ones, and revoked ones.

use netbench_model::chains::Due::{self, MustAccept, MustReject, ShouldAccept, ShouldReject};

use super::draft::{Draft, by, spec};
use crate::certificates::{
    CertificateSpec, CrlSpec, Digest, DirectoryName, Flaw, KeyKind, KeyUsage,
};

pub(super) fn cases() -> Vec<Draft> {
    [paths(), anchors(), revocation()].concat()
}

fn paths() -> Vec<Draft> {
    let new = |name: &str, due: Due| Draft::new("path", name, due);
    let loops = |draft: Draft| {
        draft
            .leaf(by("a"))
            .with("a", by("b"))
            .with("b", by("a"))
            .sent(&["leaf", "a", "b"])
    };
    // Two certificates of one name: a client has to try both.
    let twins = |name: &str, sent: &[&str], due| {
        new(name, due)
            .with("twin", twin_of_intermediate())
            .sent(sent)
    };
    vec![
        new("usual", MustAccept),
        new("with-root", MustAccept).sent(&["leaf", "intermediate", "root"]),
        new("missing-intermediate", MustReject).sent(&["leaf"]),
        new("reversed", ShouldAccept)
            .leaf(by("lower"))
            .with("lower", by("intermediate"))
            .sent(&["leaf", "intermediate", "lower"]),
        new("leaf-twice", ShouldAccept).sent(&["leaf", "leaf", "intermediate"]),
        new("stranger-between", ShouldAccept)
            .with("stranger", by("stranger"))
            .sent(&["leaf", "stranger", "intermediate"]),
        new("stranger-after", MustAccept)
            .with("stranger", by("stranger"))
            .sent(&["leaf", "intermediate", "stranger"]),
        new("unreadable-after", ShouldAccept)
            .with("odd", spec(|it| it.flaw = Some(Flaw::TrailingData)))
            .sent(&["leaf", "intermediate", "odd"]),
        loops(new("loop", MustReject)),
        twins(
            "wrong-twin-first",
            &["leaf", "twin", "intermediate"],
            ShouldAccept,
        ),
        twins(
            "wrong-twin-last",
            &["leaf", "intermediate", "twin"],
            MustAccept,
        ),
        twins("wrong-twin-alone", &["leaf", "twin"], MustReject),
        new("unknown-root", MustReject)
            .with("other", by("other"))
            .trusted(&["other"]),
        new("cross-signed", MustAccept)
            .with("old-root", by("old-root"))
            .with("cross", spec(cross_of_root))
            .sent(&["leaf", "intermediate", "cross"])
            .trusted(&["old-root"]),
        new("cross-signed-expired", MustAccept)
            .with("old-root", by("old-root"))
            .with(
                "cross",
                spec(|it| {
                    cross_of_root(it);
                    (it.begins, it.ends) = (Some(-400), Some(-10));
                }),
            )
            .sent(&["leaf", "intermediate", "cross"]),
    ]
}

/// Returns another key under the intermediate's name.
fn twin_of_intermediate() -> CertificateSpec {
    spec(|it| it.subject = Some(name("intermediate of case.netbench.test")))
}

/// Gives a certificate the root's name and key, signed by an older root.
fn cross_of_root(spec: &mut CertificateSpec) {
    spec.issuer = Some("old-root".to_owned());
    spec.key_of = Some("root".to_owned());
    spec.subject = Some(name("root of case.netbench.test"));
}

/// Returns cases of trust anchors: intermediates and leaves as anchors, and roots with flaws.
fn anchors() -> Vec<Draft> {
    let new = |name: &str, due: Due| Draft::new("anchor", name, due);
    vec![
        new("intermediate", ShouldAccept).trusted(&["intermediate"]),
        new("intermediate-unsent", ShouldAccept)
            .sent(&["leaf"])
            .trusted(&["intermediate"]),
        new("leaf", ShouldAccept).trusted(&["leaf"]),
        new("self-signed-leaf", ShouldAccept)
            .leaf(by("leaf"))
            .sent(&["leaf"])
            .trusted(&["leaf"]),
        Draft::as_in(
            "anchor",
            "self-signed-ca-as-leaf",
            "trust/self-signed-ca-trusted",
        )
        .leaf(spec(|it| {
            it.issuer = Some("leaf".to_owned());
            it.ca = Some(true);
        }))
        .sent(&["leaf"])
        .trusted(&["leaf"]),
        new("self-signed-untrusted", MustReject)
            .leaf(by("leaf"))
            .sent(&["leaf"]),
        new("version-1", ShouldAccept).with("root", spec(|it| it.version = Some(1))),
        new("version-1-intermediate", MustReject)
            .with("intermediate", spec(|it| it.version = Some(1))),
        new("version-1-leaf", ShouldReject).leaf(spec(|it| it.version = Some(1))),
        new("no-authority", ShouldReject).with("root", spec(|it| it.ca = Some(false))),
        new("bad-signature", MustAccept)
            .with("root", spec(|it| it.flaw = Some(Flaw::BadSignature))),
        new("weak-signature", MustAccept).with("root", weak_root()),
        new("unknown-critical-extension", ShouldAccept).with(
            "root",
            spec(|it| it.flaw = Some(Flaw::UnknownCriticalExtension)),
        ),
        new("none", MustReject).trusted(&[]),
    ]
}

fn weak_root() -> CertificateSpec {
    spec(|it| {
        it.key = Some(KeyKind::Rsa2048);
        it.digest = Some(Digest::Sha1);
    })
}

/// Returns cases of certificate revocation lists, which must cover the leaf and the intermediate.
fn revocation() -> Vec<Draft> {
    let new = |name: &str, due: Due| Draft::new("revocation", name, due);
    let fine = || CrlSpec::of("intermediate", &[]);
    let above = || CrlSpec::of("root", &[]);
    let with = |draft: Draft, leaf: CrlSpec| draft.crls(&[leaf, above()]);
    vec![
        with(new("good", MustAccept), fine()),
        with(
            new("leaf", MustReject),
            CrlSpec::of("intermediate", &["leaf"]),
        ),
        new("intermediate", MustReject).crls(&[fine(), CrlSpec::of("root", &["intermediate"])]),
        with(
            new("another", MustAccept),
            CrlSpec::of("intermediate", &["root"]),
        ),
        with(
            new("list-expired", ShouldReject),
            CrlSpec {
                begins: -20,
                ends: -10,
                ..fine()
            },
        ),
        with(
            new("list-of-tomorrow", ShouldReject),
            CrlSpec {
                begins: 1,
                ..fine()
            },
        ),
        with(
            new("list-by-another-key", MustReject),
            CrlSpec {
                signer: "stranger",
                ..fine()
            },
        )
        .with("stranger", by("stranger")),
        new("no-list-of-the-root", MustReject).crls(&[fine()]),
        with(
            new("list-without-right-to-sign", MustReject).with(
                "intermediate",
                spec(|it| it.key_usage = Some(vec![KeyUsage::CertSign])),
            ),
            fine(),
        ),
    ]
}

pub(super) fn name(common_name: &str) -> DirectoryName {
    DirectoryName(vec![
        (10, "netbench compat, not for public trust".to_owned()),
        (3, common_name.to_owned()),
    ])
}
