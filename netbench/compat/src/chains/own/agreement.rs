//! Tests that equal certificates have one expectation, regardless of the command that tests them.

use std::{collections::BTreeMap, net::IpAddr};

use netbench_model::{Standing, compat::Expected};

use crate::{
    case::{Case, ServerSpec},
    catalogue::built_in,
    certificates::{CertificateSpec, ChainSpec, GeneralName, KeyKind, KeyUsage, LEAF, Purpose},
    chains::reasons,
    client::ClientSpec,
    stores::layouts,
};

use super::{drafts, series::seconds};

/// The parts of a chain by which a verifier decides: without labels and names of CAs, and with dates only as past,
/// current or future.
#[derive(Debug, PartialEq, Eq)]
struct Essence {
    host: String,
    certificates: Vec<Certificate>,
    sent: Vec<usize>,
    trusted: Vec<usize>,
}

#[derive(Debug, PartialEq, Eq)]
struct Certificate {
    is_leaf: bool,
    issuer: usize,
    key_of: usize,
    time: Time,
    /// The index of the first certificate that has the same subject.
    subject: usize,
    rest: CertificateSpec,
}

#[derive(Debug, PartialEq, Eq)]
enum Time {
    Over,
    Now,
    ToCome,
}

impl Essence {
    fn of(chain: &ChainSpec<'_>, at_s: i64) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut next: Vec<String> = [chain.sent, chain.trusted].concat();
        next.reverse();
        while let Some(name) = next.pop() {
            if !names.contains(&name) {
                next.push(chain.key_name(&name).unwrap());
                next.push(chain.issuer(&name).unwrap());
                names.push(name);
            }
        }
        let kind = match chain.host.parse::<IpAddr>() {
            Ok(_) => "ip",
            Err(_) => "dns",
        };
        let usual_name = format!("{kind}:{}", chain.host.trim_end_matches('.'));
        let usual_name = GeneralName::try_from(usual_name).unwrap();
        let certificates = names.iter().map(|name| {
            let spec = chain.spec(name).unwrap();
            let is_leaf = name == LEAF;
            let subject = chain.subject(name).unwrap();
            let time = match (spec.begins, spec.ends) {
                (Some(begins), _) if seconds(begins) > at_s => Time::ToCome,
                // The validity includes both ends.
                (_, Some(ends)) if seconds(ends) < at_s => Time::Over,
                _ => Time::Now,
            };
            Certificate {
                is_leaf,
                issuer: index(&names, &chain.issuer(name).unwrap()),
                key_of: index(&names, &chain.key_name(name).unwrap()),
                time,
                subject: names
                    .iter()
                    .position(|of| chain.subject(of).unwrap() == subject)
                    .unwrap(),
                rest: CertificateSpec {
                    issuer: None,
                    key_of: None,
                    subject_of: None,
                    begins: None,
                    ends: None,
                    subject: spec.subject.clone().filter(|_| is_leaf),
                    key: spec.key.filter(|key| *key != KeyKind::EcdsaP256),
                    version: spec.version.filter(|version| *version != 3),
                    ca: spec.ca.filter(|ca| *ca == is_leaf),
                    names: (spec.names.clone()).filter(|names| *names != [usual_name.clone()]),
                    key_usage: spec.key_usage.clone().filter(|usages| {
                        let of_leaf = [KeyUsage::DigitalSignature, KeyUsage::KeyEncipherment];
                        let of_ca = [KeyUsage::CertSign, KeyUsage::CrlSign];
                        *usages != if is_leaf { of_leaf } else { of_ca }
                    }),
                    purposes: spec.purposes.clone().filter(|purposes| {
                        let usual: &[Purpose] = if is_leaf { &[Purpose::Server] } else { &[] };
                        purposes != usual
                    }),
                    ..spec
                },
            }
        });
        let indices = [chain.sent, chain.trusted];
        let [sent, trusted] =
            indices.map(|those| those.iter().map(|name| index(&names, name)).collect());
        Self {
            host: chain.host.to_owned(),
            certificates: certificates.collect(),
            sent,
            trusted,
        }
    }

    /// Returns the essence of a case whose outcome depends only on its certificates.
    fn of_server(case: &Case) -> Option<Self> {
        let spec = &case.spec;
        let is_plain = spec.server == ServerSpec::default() && spec.client == ClientSpec::default();
        let chain = ChainSpec {
            host: &spec.host,
            unit: None,
            certificates: &spec.certificates,
            sent: &spec.sent,
            trusted: &spec.trusted,
            staple: None,
            crls: &[],
        };
        is_plain.then(|| Self::of(&chain, 0))
    }
}

fn index(names: &[String], name: &str) -> usize {
    names.iter().position(|of| of == name).unwrap()
}

#[test]
fn equal_certificates_have_one_expectation() {
    let mut equal: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let drafts = drafts();
    let plain = drafts.iter().filter(|draft| draft.chain().crls.is_empty());
    let own: Vec<_> = plain
        .map(|draft| (draft, Essence::of(&draft.chain(), draft.at_s)))
        .collect();
    for case in built_in() {
        let Some(essence) = Essence::of_server(case) else {
            continue;
        };
        let record = &case.record;
        for (draft, _) in own.iter().filter(|(_, of)| *of == essence) {
            assert_eq!(
                draft.due.accepts(),
                record.expected == Expected::Accepted,
                "{} and {}",
                record.name,
                draft.name
            );
            equal
                .entry(draft.name.clone())
                .or_default()
                .push(&record.name);
        }
    }
    // The comparison is useful only if it finds pairs that are known to be equal.
    for (own, case) in [
        ("own/path/usual", "certificate/usual"),
        ("own/path/unknown-root", "trust/unknown-root"),
        ("own/time/root-a-second-late", "certificate/expired-root"),
        (
            "own/time/root-a-week-early",
            "certificate/root-not-yet-valid",
        ),
        (
            "own/time/root-a-second-early",
            "certificate/root-not-yet-valid",
        ),
        ("own/purpose/any-below-none", "purpose/any"),
        ("own/key-usage/leaf-enciphers", "purpose/no-signature"),
        ("own/key/leaf-rsa-1024", "key/rsa-1024"),
        ("own/key/leaf-ed25519", "key/ed25519"),
        ("own/anchor/self-signed-leaf", "trust/self-signed-trusted"),
        ("own/encoding/leaf-empty-serial", "encoding/empty-serial"),
    ] {
        let found = equal.get(own).map(Vec::as_slice).unwrap_or_default();
        assert!(found.contains(&case), "{own}: {found:?}");
    }
}

/// A difference has the same effect where a server shows the certificates as where a verifier alone is asked about them.
#[test]
fn equal_certificates_have_one_standing() {
    let reasons = reasons();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for draft in &drafts() {
        if !draft.chain().crls.is_empty() {
            continue;
        }
        let essence = Essence::of(&draft.chain(), draft.at_s);
        let of_draft = reasons.iter().filter(|reason| {
            let mut begins = reason.cases.iter();
            begins.any(|begin| draft.name.starts_with(begin.as_str()))
        });
        let standings: Vec<(&str, Standing)> = of_draft
            .map(|it| {
                (
                    &*it.name,
                    it.standing.unwrap_or_else(|| draft.due.standing()),
                )
            })
            .filter(|(_, standing)| *standing != Standing::Moot)
            .collect();
        for case in built_in() {
            if Essence::of_server(case).as_ref() != Some(&essence) {
                continue;
            }
            for (reason, standing) in &standings {
                let of_case = case.record.standing();
                if *standing != of_case {
                    let (case, draft) = (&case.record.name, &draft.name);
                    wrong.push(format!(
                        "{case} is {of_case}, {draft} {standing} by {reason}"
                    ));
                }
                compared += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 20, "{compared}");
}

/// A store that holds the expired root trusts its site only if a server with such a chain is to be accepted.
#[test]
fn stores_expect_of_an_expired_root_what_servers_do() {
    let mut cases = built_in().iter();
    let case = cases
        .find(|case| case.record.name == "certificate/expired-root")
        .unwrap();
    let layouts = layouts();
    let layout = layouts.iter().find(|layout| layout.name == "expired-root");
    let trusts = &layout.unwrap().trusts;
    assert_eq!(
        trusts.iter().any(|site| site == "expired"),
        case.record.expected == Expected::Accepted
    );
}
