//! Chains by numbers: depths and limits of paths, combinations of purposes, kinds of keys and hashes, and moments.

use netbench_model::chains::Due::{self, MustAccept, MustReject, ShouldAccept, ShouldReject};

use super::draft::{Draft, due_in, spec};
use crate::certificates::{CertificateSpec, Digest, Flaw, GeneralName, KeyKind, LEAF, Purpose};

/// Returns intermediates below one that allows a number of them.
pub(super) fn path_lengths() -> Vec<Draft> {
    let mut all = Vec::new();
    for below in 0..=3u8 {
        for limit in 0..=3u8 {
            let due = if below <= limit {
                MustAccept
            } else {
                MustReject
            };
            let draft = Draft::new("path-length", format!("{below}-of-{limit}"), due)
                .with("intermediate", limited(limit));
            let mut draft = below_each_other(draft, "intermediate", "lower", below);
            draft.sent.push("intermediate".to_owned());
            all.push(draft);
        }
    }
    // A limit of the root does not apply to every verifier: RFC 5280 section 6.1.1 uses only its name and key.
    for limit in 0..=1u8 {
        let due = if limit == 0 { ShouldReject } else { MustAccept };
        let draft = Draft::new("path-length", format!("root-1-of-{limit}"), due);
        all.push(draft.with("root", limited(limit)));
    }
    all
}

fn limited(limit: u8) -> CertificateSpec {
    spec(|it| it.path_length = Some(limit))
}

/// Returns a chain of 4 to 20 intermediates.
pub(super) fn depths() -> Vec<Draft> {
    const RULE: &str = "RFC 5280 section 6.1: a path has any number of certificates; each library has a limit of its own";
    [4u8, 6, 7, 10, 20]
        .into_iter()
        .map(|number| {
            let due = if number <= 4 {
                MustAccept
            } else {
                ShouldAccept
            };
            let draft = ruled(RULE, Draft::new("depth", number, due));
            below_each_other(draft, "root", "intermediate", number)
        })
        .collect()
}

fn ruled(rule: &str, mut draft: Draft) -> Draft {
    draft.rule = Some(rule.to_owned());
    draft
}

/// Puts this many certificates, and the leaf, below each other and below `top`. The lowest is sent first.
fn below_each_other(draft: Draft, top: &str, each: &str, number: u8) -> Draft {
    let mut draft = draft;
    let mut issuer = top.to_owned();
    draft.sent.clear();
    for place in 1..=number {
        let name = format!("{each}-{place}");
        draft = draft.with(&name, by(issuer));
        draft.sent.insert(0, name.clone());
        issuer = name;
    }
    draft.sent.insert(0, LEAF.to_owned());
    draft.leaf(by(issuer))
}

fn by(issuer: String) -> CertificateSpec {
    spec(|it| it.issuer = Some(issuer))
}

/// Returns combinations of the leaf's extended key usage with that of the intermediate.
pub(super) fn purposes() -> Vec<Draft> {
    use Purpose as P;
    let leaves: [(&str, Vec<P>, Due); 6] = [
        ("none", vec![], MustAccept),
        ("server", vec![P::Server], MustAccept),
        ("server-client", vec![P::Server, P::Client], MustAccept),
        ("any", vec![P::Any], due_in("purpose/any")),
        ("client", vec![P::Client], MustReject),
        ("code", vec![P::CodeSigning], MustReject),
    ];
    let intermediates: [(&str, Vec<P>, Due); 4] = [
        ("none", vec![], MustAccept),
        ("server", vec![P::Server], MustAccept),
        ("any", vec![P::Any], ShouldAccept),
        // In no RFC do the purposes of a CA limit those below it; in all browsers they do.
        ("client", vec![P::Client], ShouldReject),
    ];
    let mut all = Vec::new();
    for (leaf, own, due) in &leaves {
        for (intermediate, above, due_above) in &intermediates {
            let due = match (due, due_above) {
                (MustReject, _) => MustReject,
                (ShouldReject, _) | (_, ShouldReject) => ShouldReject,
                (ShouldAccept, _) | (_, ShouldAccept) => ShouldAccept,
                _ => MustAccept,
            };
            let name = format!("{leaf}-below-{intermediate}");
            let draft = match *leaf {
                "any" if due == due_in("purpose/any") => {
                    Draft::as_in("purpose", name, "purpose/any")
                }
                _ => Draft::new("purpose", name, due),
            };
            let draft = draft
                .leaf(spec(|it| it.purposes = Some(own.clone())))
                .with("intermediate", spec(|it| it.purposes = Some(above.clone())));
            all.push(draft);
        }
    }
    all
}

/// Returns chains in which a verifier may compare each name with each constraint.
pub(super) fn many_names() -> Vec<Draft> {
    const RULE: &str = "RFC 5280 section 6.1.3 (b) and (c): each name is tested; a limit against denial of service is the library's own";
    [
        ("100-of-each", MustAccept, 100, 100),
        ("2000-names", ShouldAccept, 2000, 1),
        ("2000-constraints", ShouldAccept, 1, 2000),
        ("2000-of-each", ShouldReject, 2000, 2000),
    ]
    .into_iter()
    .map(|(name, due, leaf_names, constraints)| {
        let excluded = (0..constraints).map(|at| GeneralName::Dns(format!("x{at}.example")));
        let draft = Draft::new("many-names", name, due)
            .leaf(spec(|it| it.more_names = leaf_names))
            .with("intermediate", spec(|it| it.excluded = excluded.collect()));
        ruled(RULE, draft)
    })
    .collect()
}

/// Returns leaves that are signed with keys of each kind and each hash.
pub(super) fn signed() -> Vec<Draft> {
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
                    .with("intermediate", with_key(key))
                    .leaf(spec(|it| it.digest = Some(*digest))),
            );
        }
    }
    drafts
}

/// Returns leaves with a key of each kind, and CAs with such a key.
pub(super) fn keys() -> Vec<Draft> {
    use KeyKind as K;
    let all = [
        (K::Rsa2048, "rsa-2048", MustAccept),
        (K::Rsa8192, "rsa-8192", ShouldAccept),
        (K::EcdsaP256, "p-256", MustAccept),
        (K::EcdsaP384, "p-384", MustAccept),
        (K::EcdsaP521, "p-521", ShouldAccept),
    ];
    let usual = all.iter().flat_map(|(key, name, due)| {
        [
            Draft::new("key", format!("leaf-{name}"), *due).leaf(with_key(*key)),
            Draft::new("key", format!("root-{name}"), *due).with("root", with_key(*key)),
        ]
    });
    let disputed = [(K::Rsa1024, "rsa-1024"), (K::Ed25519, "ed25519")];
    let disputed = disputed.iter().flat_map(|(key, name)| {
        let (of_leaf, of_root) = (format!("key/{name}"), format!("key/{name}-root"));
        [
            Draft::as_in("key", format!("leaf-{name}"), &of_leaf).leaf(with_key(*key)),
            Draft::as_in("key", format!("root-{name}"), &of_root).with("root", with_key(*key)),
        ]
    });
    usual.chain(disputed).collect()
}

fn with_key(key: KeyKind) -> CertificateSpec {
    spec(|it| it.key = Some(key))
}

/// Returns a leaf, and an intermediate, with each flaw.
pub(super) fn encodings() -> Vec<Draft> {
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

/// Returns days in seconds.
pub(super) fn seconds(days: i32) -> i64 {
    i64::from(days) * 24 * 60 * 60
}

/// Returns moments around both ends of a validity, which includes them (RFC 5280 section 4.1.2.5).
pub(super) fn moments() -> Vec<Draft> {
    let mut all = Vec::new();
    for (certificate, begins, ends) in [
        ("leaf", -2, 2),
        ("intermediate", -20, 20),
        ("root", -200, 200),
    ] {
        // Clocks are inaccurate, and some libraries allow for that.
        let moments = [
            ("a-week-early", seconds(begins - 7), false),
            ("a-second-early", seconds(begins) - 1, false),
            ("at-its-begin", seconds(begins), true),
            ("at-its-end", seconds(ends), true),
            ("a-second-late", seconds(ends) + 1, false),
        ];
        for (name, at, is_valid) in moments {
            let name = format!("{certificate}-{name}");
            let mut draft = match (is_valid, certificate) {
                (true, _) => Draft::new("time", name, MustAccept),
                (false, "root") if at < 0 => {
                    Draft::as_in("time", name, "certificate/root-not-yet-valid")
                }
                (false, "root") => Draft::as_in("time", name, "certificate/expired-root"),
                (false, _) => Draft::new("time", name, MustReject),
            };
            draft.at_s = at;
            for other in ["leaf", "intermediate", "root"] {
                let days = if other == certificate {
                    (begins, ends)
                } else {
                    (-2000, 2000)
                };
                draft = draft.with(
                    other,
                    spec(|it| (it.begins, it.ends) = (Some(days.0), Some(days.1))),
                );
            }
            all.push(draft);
        }
    }
    all
}
