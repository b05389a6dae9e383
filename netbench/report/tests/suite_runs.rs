//! Comparisons and unions of several runs of the suite.

use netbench_model::{StackName, SuiteManifest, SuiteSample, Unit};
use netbench_report::{Regression, compare_runs_of_suite, decided, join_runs_of_suite};

use crate::support::{formats::render, suite_made::Fixture};

#[test]
fn two_runs_regress_beyond_the_threshold_and_not_before() {
    let (before, after) = (
        Fixture::default(),
        Fixture {
            seed: 2,
            ratio: 0.53,
            ..Fixture::default()
        },
    );
    let (a, b) = (before.samples(), after.samples());
    let (first, mut other) = (before.manifest(), after.manifest());
    let stack = StackName::new("rustls-ring");
    let stacks = Some((&stack, &stack));
    let [regressed, within] = [0.02, 0.10].map(|threshold| {
        compare_runs_of_suite((&first, &a), (&other, &b), stacks, Some(threshold))
    });
    assert!(
        regressed.differences.is_empty(),
        "{:?}",
        regressed.differences
    );
    // Every case except that of the scenario that the stack does not support.
    assert_eq!(regressed.gate.regressed as usize, regressed.cases.len());
    assert_eq!(regressed.cases.len(), 12);
    assert_eq!(
        (regressed.missing.len(), regressed.unmeasured.len()),
        (1, 0)
    );
    insta::assert_snapshot!("compare_junit", render(&regressed, "junit"));
    insta::assert_snapshot!("compare_markdown", render(&regressed, "markdown"));
    assert_eq!(within.gate.regressed, 0);
    assert!(
        within
            .cases
            .iter()
            .all(|case| case.judged.regression == Regression::Within)
    );

    other.plan.slice_us = 1_000;
    let compared = compare_runs_of_suite((&first, &a), (&other, &b), stacks, Some(0.02));
    let differs = compared.differences;
    assert!(differs.iter().any(|d| d.what == "slice_us" && !d.harmless));
}

fn run(seed: u64, ratio: f64) -> (SuiteManifest, Vec<SuiteSample>) {
    let fixture = Fixture {
        seed,
        ratio,
        rounds: 30,
        // Both stacks are disturbed equally: intervals are then no wider than the noise of quiet turns.
        suffers: 1.4,
        ..Fixture::default()
    };
    let mut manifest = fixture.manifest();
    manifest.name = format!("run-{seed}");
    (manifest, fixture.samples())
}

#[test]
fn runs_of_other_days_are_joined() {
    let alike = join_runs_of_suite(&[run(4, 0.5), run(5, 0.5), run(6, 0.5)], None);
    assert_eq!((alike.heterogeneous, alike.cases.len()), (0, 12));
    assert_eq!(alike.pairs, alike.overlapping);
    insta::assert_snapshot!("joined_markdown", render(&alike, "markdown"));

    let differing = join_runs_of_suite(&[run(1, 0.50), run(2, 0.51), run(3, 0.52)], None);
    let handshakes = differing
        .cases
        .iter()
        .filter(|case| case.unit == Unit::Nanoseconds);
    for case in handshakes {
        let joined = case.joined.unwrap();
        assert!(case.is_heterogeneous(), "{case:?}");
        assert!((joined.ratio - 0.51).abs() < 0.003, "{case:?}");
        assert!((joined.between_runs - 0.02).abs() < 0.004, "{case:?}");
        assert!(joined.interval.low < 0.50 && joined.interval.high > 0.52);
    }
    assert!(differing.overlapping < differing.pairs);
}

#[test]
fn only_looks_decide() {
    let fixture = Fixture {
        rounds: 9,
        suffers: 1.4,
        ..Fixture::default()
    };
    let (plan, samples) = (fixture.manifest().plan, fixture.samples());
    assert_eq!(decided(&plan, &samples, 8), Vec::<usize>::new());
    let found = decided(&plan, &samples, 9);
    assert!(found.contains(&1), "{found:?}");
    // With three rounds of which one failed, the variance between rounds is not known.
    assert!(!found.contains(&4), "{found:?}");
}
