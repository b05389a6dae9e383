//! Verdicts of verifiers on chains, in every format.

use netbench_model::{
    CertificateFault, Manifest, SCHEMA_VERSION, StackName,
    chains::{ChainCase, ChainOutcome, ChainSample, ChainsPlan, Due, SuiteOfChains},
    compat::Judgement,
};
use netbench_report::{ChainsSummary, summarize_chains};

use crate::support::{
    formats::{render, terminal},
    made_parts::reason,
    manifest::{interrupted, worker},
};

fn rejected(reason: CertificateFault) -> ChainOutcome {
    ChainOutcome::Rejected {
        reason,
        // A control sequence for a terminal.
        detail: "certificate \u{1b}[31mwrong".to_owned(),
    }
}

fn summary() -> ChainsSummary {
    use ChainOutcome::Accepted;
    use Due::{MustAccept, MustReject, ShouldAccept, ShouldReject};
    let [wrong_name, other, expired, unknown, bad_ca] = [
        CertificateFault::WrongName,
        CertificateFault::Other,
        CertificateFault::Expired,
        CertificateFault::UnknownIssuer,
        CertificateFault::BadCa,
    ]
    .map(rejected);
    let hang = ChainOutcome::Hang { after_ms: 5000 };
    let crash = ChainOutcome::Crash {
        detail: "the worker was killed by signal 11".to_owned(),
    };
    let unsupported = ChainOutcome::Unsupported {
        reason: "it reads no lists".to_owned(),
    };
    let rows = [
        ("own/a/same", MustAccept, Accepted, Accepted),
        ("own/a/both-wrong", MustReject, Accepted, Accepted),
        ("own/a/lost", MustAccept, Accepted, wrong_name),
        ("own/a/lost-too", MustAccept, Accepted, other),
        ("own/b/unwarned", MustReject, expired, Accepted),
        ("own/b/gained", ShouldAccept, unknown, Accepted),
        ("own/b/refused", ShouldReject, Accepted, bad_ca),
        ("own/b/hang", MustAccept, Accepted, hang),
        ("own/b/crash", MustAccept, Accepted, crash),
        ("own/c/unsupported", MustAccept, Accepted, unsupported),
    ];
    let stacks: Vec<StackName> = ["openssl", "rustls"].map(StackName::new).into();
    let cases = rows.iter().map(|(name, due, ..)| (*name, *due));
    let cases = cases.chain([("own/c/not-asked", MustAccept)]);
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
    let manifest = Manifest {
        workers: ["openssl", "rustls"].map(worker).into(),
        ..interrupted(
            "netbench compat chains",
            ChainsPlan {
                stacks,
                suites: vec![SuiteOfChains {
                    name: "bettertls".to_owned(),
                    version: "v1".to_owned(),
                    sha256: None,
                    missing: Some("there is no go".to_owned()),
                }],
                cases,
                limit_ms: 5000,
            },
        )
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
