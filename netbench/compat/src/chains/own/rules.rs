//! Permitted uses of a certificate: path lengths, key usage, purposes, policies.

use netbench_model::chains::Due::{self, MustAccept, MustReject, ShouldAccept, ShouldReject};

use super::draft::{Draft, by, due_in, spec};
use crate::certificates::{
    CertificateSpec, Critical, Extra, KeyUsage, Purpose,
    der::{self, tag},
};

pub(super) fn cases() -> Vec<Draft> {
    [path_lengths(), key_usage(), purposes(), policies()].concat()
}

/// Returns intermediates below one that allows a number of them.
fn path_lengths() -> Vec<Draft> {
    let mut all = Vec::new();
    for below in 0..=3u8 {
        for limit in 0..=3u8 {
            let due = if below <= limit {
                MustAccept
            } else {
                MustReject
            };
            let draft = Draft::new("path-length", format!("{below}-of-{limit}"), due);
            all.push(above(draft.with("intermediate", limited(limit)), below));
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

/// Adds this many intermediates between the usual one and the leaf.
fn above(draft: Draft, below: u8) -> Draft {
    let mut sent = vec!["leaf".to_owned()];
    let mut issuer = "intermediate".to_owned();
    let mut draft = draft;
    for number in 1..=below {
        let name = format!("lower-{number}");
        draft = draft.with(&name, by(&issuer));
        sent.insert(1, name.clone());
        issuer = name;
    }
    sent.push("intermediate".to_owned());
    let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
    draft.leaf(by(&issuer)).sent(&sent)
}

fn limited(limit: u8) -> CertificateSpec {
    spec(|it| it.path_length = Some(limit))
}

fn key_usage() -> Vec<Draft> {
    use KeyUsage as U;
    let new = |name: &str, certificate: &str, usages: Vec<U>, due: Due| {
        Draft::new("key-usage", format!("{certificate}-{name}"), due)
            .with(certificate, spec(|it| it.key_usage = Some(usages)))
    };
    let of_leaf = |name: &str, usage: U, case: &str| {
        Draft::as_in("key-usage", format!("leaf-{name}"), case)
            .leaf(spec(|it| it.key_usage = Some(vec![usage])))
    };
    vec![
        new("signs", "leaf", vec![U::DigitalSignature], MustAccept),
        new("none", "leaf", vec![], MustAccept),
        of_leaf("enciphers", U::KeyEncipherment, "purpose/no-signature"),
        of_leaf("agrees", U::KeyAgreement, "purpose/key-agreement"),
        new(
            "signs-certificates",
            "leaf",
            vec![U::CertSign],
            ShouldReject,
        ),
        new("signs-lists", "leaf", vec![U::CrlSign], ShouldReject),
        new(
            "signs-certificates",
            "intermediate",
            vec![U::CertSign],
            MustAccept,
        ),
        new("none", "intermediate", vec![], MustAccept),
        new("signs-lists", "intermediate", vec![U::CrlSign], MustReject),
        new(
            "signs",
            "intermediate",
            vec![U::DigitalSignature],
            MustReject,
        ),
        new("signs-lists", "root", vec![U::CrlSign], ShouldReject),
        new("none", "root", vec![], MustAccept),
    ]
}

/// Returns combinations of the leaf's extended key usage with that of the intermediate.
fn purposes() -> Vec<Draft> {
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

/// An OID in the arc for examples (RFC 5612).
const OURS: &[u32] = &[1, 3, 6, 1, 4, 1, 32473, 2];
const OTHER: &[u32] = &[1, 3, 6, 1, 4, 1, 32473, 3];
const ANY: &[u32] = &[2, 5, 29, 32, 0];

fn policies() -> Vec<Draft> {
    let new = |name: &str, due: Due| Draft::new("policy", name, due);
    let has = |of: &'static [u32]| spec(|it| it.extra.push(policy(of, Critical::No)));
    let demands = |critical: Critical, of: &'static [u32]| {
        spec(|it| {
            it.extra.push(policy(of, Critical::No));
            it.extra.push(explicit_policy(critical));
        })
    };
    vec![
        new("of-both", MustAccept)
            .leaf(has(OURS))
            .with("intermediate", has(OURS)),
        new("of-leaf-alone", MustAccept).leaf(has(OURS)),
        new("different", MustAccept)
            .leaf(has(OTHER))
            .with("intermediate", has(OURS)),
        new("any-above", MustAccept)
            .leaf(has(OURS))
            .with("intermediate", has(ANY)),
        new("critical", MustAccept).leaf(spec(|it| it.extra.push(policy(OURS, Critical::Yes)))),
        // The proxy of a company that reads the traffic may have such an intermediate.
        new("critical-any-of-the-intermediate", MustAccept)
            .rule("RFC 5280 section 4.2: applications must recognize certificate policies, critical or not")
            .with(
                "intermediate",
                spec(|it| it.extra.push(policy(ANY, Critical::Yes))),
            ),
        new("demanded", ShouldAccept)
            .leaf(has(OURS))
            .with("intermediate", demands(Critical::Yes, OURS)),
        new("demanded-by-any", ShouldAccept)
            .leaf(has(OURS))
            .with("intermediate", demands(Critical::Yes, ANY)),
        new("demanded-and-missing", MustReject).with("intermediate", demands(Critical::Yes, OURS)),
        new("demanded-and-different", MustReject)
            .leaf(has(OTHER))
            .with("intermediate", demands(Critical::Yes, OURS)),
        new("demanded-not-critical-and-missing", ShouldReject)
            .with("intermediate", demands(Critical::No, OURS)),
        new("inhibits-any", ShouldAccept).leaf(has(OURS)).with(
            "intermediate",
            spec(|it| {
                it.extra.push(policy(OURS, Critical::No));
                it.extra.push(Extra {
                    oid: &[2, 5, 29, 54],
                    critical: Critical::Yes,
                    content: der::unsigned(&[0]),
                });
            }),
        ),
        new("twice-the-same", ShouldReject).leaf(spec(|it| {
            it.extra.push(Extra {
                oid: &[2, 5, 29, 32],
                critical: Critical::No,
                content: der::sequence(&[&information(OURS), &information(OURS)]),
            });
        })),
    ]
}

fn information(policy: &[u32]) -> Vec<u8> {
    der::sequence(&[&der::oid(policy)])
}

fn policy(policy: &[u32], critical: Critical) -> Extra {
    Extra {
        oid: &[2, 5, 29, 32],
        critical,
        content: der::sequence(&[&information(policy)]),
    }
}

/// Returns requireExplicitPolicy, effective from here on.
fn explicit_policy(critical: Critical) -> Extra {
    Extra {
        oid: &[2, 5, 29, 36],
        critical,
        content: der::sequence(&[&der::value(tag::primitive(0), &[0])]),
    }
}
