//! Reports of one run of the suite, comparisons of two runs and joined runs, which have the same rules for turns
//! and the same words.

use netbench_model::{StackName, SuiteManifest, SuiteOutcome, SuiteSample, SystemCalls, Unit};
use netbench_report::{
    Regression, SuiteReport, compare_runs_of_suite, compare_stacks_of_suite, join_runs_of_suite,
    summarize_suite,
};
use netbench_stats::{UndecidedReason, Verdict};

use crate::support::{
    formats::{assert_has, terminal},
    suite_made::{Fixture, NEVER_QUIET, figures, slices},
};

/// Changes a run so that its turns no longer allow a verdict.
type Spoiled = fn(&mut SuiteManifest, &mut [SuiteSample]);

#[test]
fn turns_that_allow_no_verdict_give_none_wherever_they_are_compared() {
    use Unit::Nanoseconds;
    let [sound, second, third] = [1, 2, 3].map(|seed| {
        let fixture = Fixture {
            seed,
            rounds: 15,
            ..Fixture::default()
        };
        (fixture.manifest(), fixture.samples())
    });
    let spoiled: [(Spoiled, UndecidedReason, &str); 3] = [
        (
            |_, samples| slices(samples).for_each(|slice| slice.operations = 19),
            UndecidedReason::FewOperations,
            "not judged: turns of fewer than 20 operations",
        ),
        (
            |_, samples| figures(samples).for_each(|(_, measured)| measured.slices.truncate(1)),
            UndecidedReason::FewQuietTurns,
            "not judged: too few quiet turns",
        ),
        (
            |manifest, _| {
                manifest.plan.idle = Some(NEVER_QUIET);
            },
            UndecidedReason::NeverQuiet,
            "not judged: the machine was never quiet",
        ),
    ];
    let [first, other] = ["openssl", "rustls-ring"].map(StackName::new);
    for (spoil, reason, words) in spoiled {
        let (mut manifest, mut samples) = second.clone();
        spoil(&mut manifest, &mut samples);
        manifest.name = "spoiled".to_owned();
        let own = summarize_suite(&manifest, &samples);
        let cases = own.cases.iter().filter(|case| case.unit == Nanoseconds);
        for verdict in cases.flat_map(|case| &case.verdicts) {
            assert_eq!(verdict.undecided, Some(reason), "{verdict:?}");
        }

        let sides = (&sound.0, &sound.1[..]);
        let compared = [
            compare_runs_of_suite(sides, (&manifest, &samples), None, Some(0.02)),
            compare_runs_of_suite((&manifest, &samples), sides, None, Some(0.02)),
            compare_stacks_of_suite(&manifest, &samples, &first, &other, Some(0.02)),
        ];
        for compared in &compared {
            let cases = compared.cases.iter().filter(|row| row.unit == Nanoseconds);
            let mut number = 0;
            for case in cases {
                assert_eq!(
                    (case.change.verdict, case.key.undecided),
                    (Verdict::NotJudged, Some(reason)),
                    "{case:?}"
                );
                assert_eq!(case.judged.regression, Regression::CannotTell, "{case:?}");
                number += 1;
            }
            assert!(number > 3, "{number} cases are timed");
            let others = compared.cases.iter().filter(|row| row.unit != Nanoseconds);
            assert!(others.into_iter().all(|case| case.key.undecided.is_none()));
            let text = terminal(compared, 240);
            assert_has(&text, words);
            let is_warned = text.contains("never quiet during");
            assert_eq!(is_warned, reason == UndecidedReason::NeverQuiet, "{text}");
        }

        // Two sound runs are joined without the spoiled one; a single sound run is not enough.
        let bad = (manifest, samples);
        let without = join_runs_of_suite(&[sound.clone(), third.clone()], None);
        let joined = join_runs_of_suite(&[sound.clone(), bad.clone(), third.clone()], None);
        for (case, without) in joined.cases.iter().zip(&without.cases) {
            if case.unit == Nanoseconds {
                assert_eq!(
                    (case.undecided, &case.joined),
                    (None, &without.joined),
                    "{case:?}"
                );
                assert_eq!(case.runs[1].unwrap().undecided, Some(reason));
            }
        }
        let words_for_a_run = words.replace("not judged: ", "without run 2 (");
        assert!(terminal(&joined, 240).contains(&words_for_a_run));
        let alone = join_runs_of_suite(&[sound.clone(), bad], None);
        for case in alone.cases.iter().filter(|case| case.unit == Nanoseconds) {
            assert_eq!(case.undecided, Some(reason), "{case:?}");
            let mut joined = case.joined.iter();
            assert!(joined.all(|joined| joined.verdict == Verdict::NotJudged));
        }
        assert!(terminal(&alone, 240).contains(words));
    }
}

fn shown(manifest: &SuiteManifest, samples: &[SuiteSample]) -> String {
    terminal(&SuiteReport::new(manifest.clone(), samples), 240)
}

#[test]
fn page_faults_of_every_operation_are_shown() {
    let fixture = Fixture::default();
    let (manifest, mut samples) = (fixture.manifest(), fixture.samples());
    // Six faults in a turn of 30 operations.
    assert!(!shown(&manifest, &samples).contains("Page faults"));
    let other = figures(&mut samples).filter(|(stack, _)| *stack == "rustls-ring");
    for slice in other.flat_map(|(_, measured)| &mut measured.slices) {
        slice.minor_faults = Some(30 * 225);
    }
    assert!(shown(&manifest, &samples).contains("Page faults"));
    let summary = summarize_suite(&manifest, &samples);
    let timed = summary
        .cases
        .iter()
        .filter(|case| case.unit == Unit::Nanoseconds);
    for case in timed {
        for figures in &case.stacks {
            let is_other = figures.stack.as_str() == "rustls-ring";
            let faults = if is_other { 225.0 } else { 0.2 };
            assert_eq!(figures.page_faults, Some(faults), "{}", case.name);
        }
    }
}

#[test]
fn system_calls_are_shown_with_those_for_memory_or_with_the_reason_of_their_absence() {
    let fixture = Fixture::default();
    let (manifest, mut samples) = (fixture.manifest(), fixture.samples());
    assert!(!shown(&manifest, &samples).contains("System calls"));
    for sample in &mut samples {
        let SuiteOutcome::Ok(measured) = &mut sample.outcome else {
            continue;
        };
        measured.system_calls = match (sample.stack.as_str(), sample.round) {
            ("rustls-ring", _) => Some(SystemCalls::Uncounted {
                reason: "tracing is not permitted".to_owned(),
            }),
            (_, 0) => Some(calls(&[("brk", 300), ("getrandom", 100)])),
            (_, 1) => Some(calls(&[("brk", 100), ("munmap", 20)])),
            _ => None,
        };
    }
    let summary = summarize_suite(&manifest, &samples);
    let first = summary.cases.first().unwrap();
    let [openssl, rustls] = first.stacks.as_slice() else {
        panic!("{first:?}");
    };
    let calls = openssl.system_calls.as_ref().unwrap();
    assert_eq!((calls.operations, calls.all, calls.memory), (200, 2.6, 2.1));
    assert_eq!(calls.by_name["brk"], 2.0);
    assert_eq!(rustls.system_calls, None);
    let text = shown(&manifest, &samples);
    assert_has(&text, "brk 2.00, getrandom 0.50, munmap 0.10");
    let warning =
        "System calls of rustls-ring were not counted in some trials: tracing is not permitted.";
    assert!(summary.warnings.iter().any(|found| found == warning));
}

fn calls(calls: &[(&str, u64)]) -> SystemCalls {
    let calls = calls
        .iter()
        .map(|(name, times)| ((*name).to_owned(), *times));
    SystemCalls::Counted {
        operations: 100,
        calls: calls.collect(),
    }
}
