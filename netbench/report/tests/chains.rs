//! Verdicts of verifiers on chains, in every format.

use netbench_model::{
    CertificateFault, Manifest, SCHEMA_VERSION, Session, StackName,
    chains::{
        ChainCase, ChainOutcome, ChainSample, ChainsManifest, ChainsPlan, Due, ReasonSpec,
        SuiteOfChains,
    },
    compat::Judgement,
};
use netbench_report::{ChainsSummary, summarize_chains};

use crate::support::{
    formats::{render, terminal},
    manifest::{manifest_of, session, worker},
};

fn rejected(reason: CertificateFault) -> ChainOutcome {
    ChainOutcome::Rejected {
        reason,
        // A control sequence for a terminal.
        detail: "certificate \u{1b}[31mwrong".to_owned(),
    }
}

fn reason(name: &str, cases: &str) -> ReasonSpec {
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

fn summary() -> ChainsSummary {
    use {CertificateFault as F, ChainOutcome as O};
    let rows = [
        ("own/a/same", Due::MustAccept, O::Accepted, O::Accepted),
        (
            "own/a/both-wrong",
            Due::MustReject,
            O::Accepted,
            O::Accepted,
        ),
        (
            "own/a/lost",
            Due::MustAccept,
            O::Accepted,
            rejected(F::WrongName),
        ),
        (
            "own/a/lost-too",
            Due::MustAccept,
            O::Accepted,
            rejected(F::Other),
        ),
        (
            "own/b/unwarned",
            Due::MustReject,
            rejected(F::Expired),
            O::Accepted,
        ),
        (
            "own/b/gained",
            Due::ShouldAccept,
            rejected(F::UnknownIssuer),
            O::Accepted,
        ),
        (
            "own/b/refused",
            Due::ShouldReject,
            O::Accepted,
            rejected(F::BadCa),
        ),
        (
            "own/b/hang",
            Due::MustAccept,
            O::Accepted,
            O::Hang { after_ms: 5000 },
        ),
        (
            "own/b/crash",
            Due::MustAccept,
            O::Accepted,
            O::Crash {
                detail: "the worker was killed by signal 11".to_owned(),
            },
        ),
        (
            "own/c/unsupported",
            Due::MustAccept,
            O::Accepted,
            O::Unsupported {
                reason: "it reads no lists".to_owned(),
            },
        ),
    ];
    let stacks: Vec<StackName> = ["openssl", "rustls"].map(StackName::new).into();
    let cases = rows.iter().map(|(name, due, ..)| (*name, *due));
    let cases = cases.chain([("own/c/not-asked", Due::MustAccept)]);
    let cases: Vec<ChainCase> = cases
        .map(|(name, due)| ChainCase {
            name: name.to_owned(),
            made_of: vec!["host=dns".to_owned()],
            due,
            rule: None,
        })
        .collect();
    let mut samples = Vec::new();
    for (name, _, first, second) in rows {
        for (stack, outcome) in stacks.iter().zip([first, second]) {
            samples.push(ChainSample {
                schema: SCHEMA_VERSION,
                case: name.to_owned(),
                stack: stack.clone(),
                outcome,
            });
        }
    }
    let manifest: ChainsManifest = Manifest {
        workers: ["openssl", "rustls"].map(worker).into(),
        sessions: vec![Session {
            interrupted: true,
            ..session("netbench compat chains")
        }],
        ..manifest_of(ChainsPlan {
            stacks,
            suites: vec![SuiteOfChains {
                name: "bettertls".to_owned(),
                version: "v1".to_owned(),
                sha256: None,
                missing: Some("there is no go".to_owned()),
            }],
            cases,
            limit_ms: 5000,
        })
    };
    let reasons = [
        reason("of-a", "own/a/"),
        reason("of-gained", "own/b/gained"),
    ];
    summarize_chains(&manifest, samples, &reasons)
}

#[test]
fn forms_of_chains() {
    let summary = summary();
    for format in ["markdown", "junit"] {
        insta::assert_snapshot!(format!("chains_{format}"), render(&summary, format));
    }
    insta::assert_snapshot!("chains_terminal", terminal(&summary, 100));
    let page = render(&summary, "html");
    assert!(page.contains("Why they disagree"));
}

#[test]
fn differences_are_grouped_by_reason_and_the_worst_come_first() {
    use Judgement::{FalseAccept, FalseReject, Right};
    let summary = summary();
    let found: Vec<_> = summary
        .differences
        .iter()
        .map(|group| {
            let chains = group.cases.len();
            (group.judgement, group.due, group.reason.as_deref(), chains)
        })
        .collect();
    assert_eq!(
        found,
        [
            (FalseReject, Due::MustAccept, Some("of-a"), 2),
            // A chain that should be rejected, and that worked before, is lost.
            (Right, Due::ShouldReject, None, 1),
            (FalseAccept, Due::MustReject, None, 1),
            (Right, Due::ShouldAccept, Some("of-gained"), 1),
        ]
    );
    assert_eq!(
        summary.differences[0].switch.advice.as_deref(),
        Some("Do something.")
    );
    assert_eq!(summary.differences[3].switch.advice, None);
    assert!(
        summary
            .warnings
            .contains(&"2 differences are without a known reason".to_owned())
    );
    assert!(summary.warnings.contains(&"there is no go".to_owned()));
}
