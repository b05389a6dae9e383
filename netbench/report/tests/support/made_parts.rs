//! Parts of an evaluation in which the new stack fails in the given cases.

use std::collections::BTreeMap;

use netbench_model::{
    CertificateFault, Profile, StackName,
    chains::{ChainCase, ChainOutcome, ChainSample, ChainsPlan, Due, ReasonSpec},
    compat::{
        CompatCase, CompatManifest, CompatOutcome, CompatPlan, CompatSample, Expected, Judgement,
    },
    roots::{
        RootsClient, RootsOutcome, RootsPlan, RootsSample, RootsSite, StoreLayout, TrustOrigin,
    },
};
use netbench_report::{
    ChainsSummary, CompatSummary, RootsSummary, summarize_chains, summarize_compat, summarize_roots,
};

use super::{
    made::{NEW, OLD, server},
    manifest::manifest_of,
};

pub(crate) const ACCEPTED: CompatOutcome = CompatOutcome::Accepted {
    version: None,
    suite: None,
    group: None,
    alpn: None,
};

/// Returns chains that the old stack judges correctly, and the new one wrongly in the given cases.
pub(crate) fn chains(wrong: &[bool]) -> ChainsSummary {
    chains_for(wrong, &[])
}

/// Returns such chains, with reasons for the differences.
pub(crate) fn chains_for(wrong: &[bool], reasons: &[ReasonSpec]) -> ChainsSummary {
    let stacks = [OLD, NEW].map(StackName::new);
    let (mut cases, mut samples) = (Vec::new(), Vec::new());
    for (number, is_wrong) in wrong.iter().enumerate() {
        // Wrong in either direction.
        let good = number % 2 == 0;
        let name = format!("own/made/{number}");
        cases.push(ChainCase {
            name: name.clone(),
            made_of: Vec::new(),
            due: if good {
                Due::MustAccept
            } else {
                Due::MustReject
            },
            rule: None,
        });
        for (stack, accepts) in stacks.iter().zip([good, good != *is_wrong]) {
            samples.push(ChainSample {
                schema: netbench_model::SCHEMA_VERSION,
                case: name.clone(),
                stack: stack.clone(),
                outcome: if accepts {
                    ChainOutcome::Accepted
                } else {
                    unknown_issuer()
                },
            });
        }
    }
    let plan = ChainsPlan {
        stacks: stacks.to_vec(),
        suites: Vec::new(),
        cases,
        limit_ms: 5000,
    };
    summarize_chains(&manifest_of(plan), samples, reasons)
}

/// Returns trust stores whose only site the old stack loads, and the new one does not in the given cases.
pub(crate) fn stores(wrong: &[bool]) -> RootsSummary {
    let stacks = [OLD, NEW].map(StackName::new);
    let clients = stacks.each_ref().map(|stack| RootsClient {
        stack: stack.clone(),
        source: Some("files".to_owned()),
    });
    let (mut layouts, mut samples) = (Vec::new(), Vec::new());
    for (number, is_wrong) in wrong.iter().enumerate() {
        let layout = format!("layout-{number}");
        for (client, loads) in clients.iter().zip([true, !is_wrong]) {
            let said = if loads {
                ChainOutcome::Accepted
            } else {
                unknown_issuer()
            };
            samples.push(RootsSample {
                schema: netbench_model::SCHEMA_VERSION,
                layout: layout.clone(),
                client: client.clone(),
                outcome: RootsOutcome::Made {
                    connector_ns: 1,
                    roots: None,
                    origin: TrustOrigin::System,
                    sites: [("corporate".to_owned(), said)].into(),
                },
            });
        }
        layouts.push(StoreLayout {
            name: layout,
            about: "a system".to_owned(),
            trusts: vec!["corporate".to_owned()],
        });
    }
    let plan = RootsPlan {
        stacks: stacks.to_vec(),
        clients: clients.to_vec(),
        layouts,
        sites: vec![RootsSite {
            name: "corporate".to_owned(),
            about: "below a company's root".to_owned(),
            host: "corporate.test".to_owned(),
        }],
    };
    summarize_roots(&manifest_of(plan), samples)
}

/// Returns a catalogue that the old stack handles correctly, and the new one with these judgements.
pub(crate) fn compat(judgements: &[Judgement]) -> CompatSummary {
    let (manifest, samples) = compat_run(judgements);
    summarize_compat(&manifest, samples)
}

/// The run of such a catalogue.
pub(crate) fn compat_run(judgements: &[Judgement]) -> (CompatManifest, Vec<CompatSample>) {
    let mut cases = Vec::new();
    let mut samples = Vec::new();
    for (number, judgement) in judgements.iter().enumerate() {
        let expired = refused("expired");
        let (expected, before, after) = match judgement {
            Judgement::Crashed => {
                let detail = "signal 11".to_owned();
                let after = CompatOutcome::Crash { detail };
                (Expected::Accepted, ACCEPTED, after)
            }
            Judgement::Hung => {
                let after = CompatOutcome::Hang { after_ms: 6000 };
                (Expected::Accepted, ACCEPTED, after)
            }
            Judgement::FalseReject => (Expected::Accepted, ACCEPTED, rejected("alert")),
            Judgement::FalseAccept => (expired, rejected("expired"), ACCEPTED),
            Judgement::WrongReason => (expired, rejected("expired"), rejected("alert")),
            Judgement::Unsupported | Judgement::Excused => {
                let reason = "no such thing".to_owned();
                let after = CompatOutcome::Unsupported { reason };
                (Expected::Accepted, ACCEPTED, after)
            }
            Judgement::Right => (Expected::Accepted, ACCEPTED, ACCEPTED),
        };
        cases.push(compat_case(&server(number), expected));
        for (stack, outcome) in [(OLD, before), (NEW, after)] {
            samples.push(compat_sample(&server(number), stack, outcome));
        }
    }
    let plan = compat_plan([OLD, NEW].map(StackName::new).into(), cases);
    (manifest_of(plan), samples)
}

/// Returns a server of a catalogue, with nothing to say about it.
pub(crate) fn compat_case(name: &str, expected: Expected) -> CompatCase {
    CompatCase {
        name: name.to_owned(),
        about: "a server".to_owned(),
        expected,
        standing: None,
        why: String::new(),
        observed: BTreeMap::new(),
        nothing_accepts: None,
        advice: "Look into it.".to_owned(),
        advice_by: BTreeMap::new(),
        host: "a.test".to_owned(),
    }
}

pub(crate) fn compat_sample(case: &str, stack: &str, outcome: CompatOutcome) -> CompatSample {
    CompatSample {
        schema: netbench_model::SCHEMA_VERSION,
        case: case.to_owned(),
        stack: StackName::new(stack),
        outcome,
        embedder: None,
    }
}

pub(crate) fn compat_plan(stacks: Vec<StackName>, cases: Vec<CompatCase>) -> CompatPlan {
    CompatPlan {
        stacks,
        clients: Vec::new(),
        cases,
        catalogue: "built-in".to_owned(),
        catalogue_sha256: "00".to_owned(),
        client_profile: Profile::Library,
        limit_ms: 2000,
    }
}

/// Returns the reason for a disagreement about these chains.
pub(crate) fn reason(name: &str, cases: &str) -> ReasonSpec {
    ReasonSpec {
        name: name.to_owned(),
        cases: vec![cases.to_owned()],
        made_of: Vec::new(),
        due: Vec::new(),
        rejects: Vec::new(),
        accepts: Vec::new(),
        faults: Vec::new(),
        standing: None,
        why: format!("Because of {name}"),
        lost: "A page does not load.".to_owned(),
        gained: "A page loads.".to_owned(),
        advice: "Do something.".to_owned(),
    }
}

/// Returns the expectation that a server is refused for this reason.
pub(crate) fn refused(reason: &str) -> Expected {
    Expected::Rejected(vec![reason.parse().unwrap()])
}

pub(crate) fn rejected(reason: &str) -> CompatOutcome {
    CompatOutcome::Rejected {
        reason: reason.parse().unwrap(),
        library: String::new(),
        detail: String::new(),
        alert: None,
        http_status: None,
    }
}

fn unknown_issuer() -> ChainOutcome {
    ChainOutcome::Rejected {
        reason: CertificateFault::UnknownIssuer,
        detail: String::new(),
    }
}
