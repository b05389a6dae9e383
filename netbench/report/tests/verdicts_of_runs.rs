//! Artificial runs of one command, each with a single correct answer: `connect`, `suite`, `compat`, and two stacks
//! of a run of the suite that `compare` compares.

use std::sync::Arc;

use netbench_model::{Condition, Phase, StackName, compat::Judgement};
use netbench_report::{
    Answer::{self, No, Open, WithLosses, Yes},
    ConnectReport, Extent, Found, Gate, Judged, Report, SuiteReport, SuiteSummary,
    compare_runs_of_connect, compare_runs_of_suite, compare_stacks_of_suite, evaluation,
};
use netbench_stats::{
    RoundsNeeded,
    Verdict::{self, Faster, NotJudged, Same, Slower, Undecided},
};

use crate::support::{
    formats::{render, terminal},
    made_parts,
    runs::{COMPAT, CONNECT, FIRST, Row, STACKS, TWO, connect, first, stacks, suite_rows},
    suite_made, whole,
};

/// Returns the answers on the page of a run, after checking that the page contains their words.
fn answers(report: &dyn Report) -> Vec<Answer> {
    let document = report.document(Extent::Full);
    let page = render(report, "html").replace('\u{a0}', " ");
    for asked in &document.questions {
        let words = asked.question.answer.words();
        assert!(page.to_lowercase().contains(words), "{words}");
    }
    let asked = document.questions.iter();
    asked.map(|asked| asked.question.answer).collect()
}

fn connected(row: &Row, sites: &[&str], seed: u64) -> ConnectReport {
    let (manifest, samples) = connect(row, sites, seed);
    ConnectReport::new(manifest, samples)
}

#[test]
fn each_run_of_connect_has_one_verdict_in_all_of_its_parts() {
    for sites in [&["near.example"][..], &["near.example", "middle.example"]] {
        for (at, row) in CONNECT.iter().enumerate() {
            let report = connected(row, sites, u64::try_from(at).unwrap());
            let name = format!("row {at}, {} sites", sites.len());
            let comparisons = &report.summary.comparisons;
            let totals: Vec<_> = comparisons
                .iter()
                .map(|comparison| {
                    let mut phases = comparison.phases.iter();
                    phases.find(|row| row.key.phase == Phase::Total).unwrap()
                })
                .collect();
            let verdicts: Vec<Verdict> = totals.iter().map(|row| row.change.verdict).collect();
            assert_eq!(verdicts, row.4, "{name}: {totals:#?}");
            assert_eq!(answers(&report).last(), Some(&row.5), "{name}");
            let text = terminal(&report, usize::MAX);
            for (comparison, total) in comparisons.iter().zip(&totals) {
                let rows = &comparison.sites.rows;
                if let ([site], 1) = (rows.as_slice(), sites.len()) {
                    let total = total.change;
                    assert_eq!(site.change.verdict, total.verdict, "{name}");
                    assert_eq!(site.change.interval, total.interval, "{name}");
                    assert!((site.change.ratio - total.ratio).abs() < 1e-12, "{name}");
                }
                let phases = comparison.phases.iter();
                let phases = phases.map(|row| (row.change.verdict, row.judged.rounds_needed));
                let sites = rows
                    .iter()
                    .map(|row| (row.change.verdict, row.judged.rounds_needed));
                for (verdict, needed) in phases.chain(sites) {
                    assert_eq!(verdict == Undecided, needed.is_some(), "{name}");
                    match needed {
                        Some(RoundsNeeded::Rounds(rounds)) => {
                            assert!(rounds > row.0.into(), "{name}: {rounds}");
                            let words = format!("about {}", grouped(rounds));
                            assert!(text.contains(&words), "{name}: {words}: {text}");
                        }
                        Some(RoundsNeeded::AtTheLimit) => {
                            assert!(text.contains("none: it lies at the limit"), "{name}");
                        }
                        None => {}
                    }
                }
                if comparison.condition != Condition::Cold {
                    let word = match total.change.verdict {
                        Faster => "is faster than",
                        Slower => "is slower than",
                        Same => "take the same time",
                        Undecided => "it is undecided whether",
                        NotJudged => "too few rounds for a verdict",
                    };
                    assert!(text.contains(word), "{name}: {text}");
                }
            }
            let undecided = totals.iter().any(|row| row.change.verdict == Undecided);
            assert!(!undecided || text.contains("would decide"), "{name}");
        }
    }
}

#[test]
fn each_run_of_connect_judges_first_connections_by_wall_clock() {
    for row in FIRST {
        let (more_ms, rounds, answer, words) = row;
        let (manifest, samples) = first(&row);
        let report = ConnectReport::new(manifest, samples);
        let name = format!("{more_ms} ms in {rounds} rounds");
        assert_eq!(answers(&report).last(), Some(&answer), "{name}");
        let limit = match answer {
            Open => "too few for the limit of 100 ms",
            Yes => "within the limit of 100 ms",
            WithLosses | No => "beyond the limit of 100 ms",
        };
        let document = report.document(Extent::Full);
        let because = &document.questions.last().unwrap().question.because;
        let headline = terminal(&report, usize::MAX);
        for text in [because, &headline] {
            assert!(text.contains("by wall clock"), "{name}: {text}");
            assert!(text.contains(words), "{name}: {text}");
            assert!(text.contains(limit), "{name}: {text}");
        }
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let grouped = digits.as_bytes().rchunks(3).rev();
    let grouped = grouped.map(|three| String::from_utf8(three.to_vec()).unwrap());
    grouped.collect::<Vec<_>>().join(",")
}

#[test]
fn each_run_of_the_suite_has_one_answer() {
    for (at, (cases, answer, words)) in suite_rows().iter().enumerate() {
        let report = SuiteReport {
            manifest: suite_made::Fixture::default().manifest(),
            summary: Arc::new(whole::suite(cases)),
        };
        assert_eq!(answers(&report), [*answer], "row {at}");
        let document = report.document(Extent::Full);
        let because = &document.questions[0].question.because;
        assert!(because.contains(words), "row {at}: {because}");
    }
}

#[test]
fn the_sentence_has_the_heap_of_a_client_and_of_a_server() {
    let report = suite_made::Fixture::default().report();
    let text = serde_json::to_string(&*report.summary).unwrap();
    let text = text.replace("openssl", "old").replace("rustls-ring", "new");
    let mut suite: SuiteSummary = serde_json::from_str(&text).unwrap();
    let apart = suite.clone();
    suite.cases.retain(|row| !row.case.is_of_one_side());
    for (suite, clause) in [
        (apart, "; a session's heap: client -50 %, server -50 %."),
        (suite, "; a session's memory (both sides): "),
    ] {
        let found = Found {
            suites: vec![Arc::new(suite)],
            ..Found::default()
        };
        let sentence = evaluation(whole::run(&[]), found).sentence;
        assert!(sentence.contains(clause), "{sentence}");
    }
}

#[test]
fn an_undecided_case_says_how_many_rounds_would_decide_it() {
    let mut undecided = 0;
    for (seed, ratio) in (0..20).zip([1.0, 1.004, 1.005, 1.006, 0.995].iter().cycle()) {
        let report = suite_made::Fixture {
            seed,
            rounds: 4,
            ratio: *ratio,
            disturbed: 0,
            ..suite_made::Fixture::default()
        }
        .report();
        let text = terminal(&report, 80);
        let markdown = render(&report, "markdown");
        let rows = report.summary.cases.iter();
        for (case, verdict) in rows.flat_map(|case| case.verdicts.iter().map(move |v| (case, v))) {
            let is_undecided = verdict.change.verdict == Undecided;
            assert_eq!(is_undecided, verdict.rounds_needed.is_some(), "{verdict:?}");
            let words = match verdict.rounds_needed {
                None => continue,
                Some(RoundsNeeded::Rounds(rounds)) => {
                    assert!(rounds > verdict.change.blocks(), "{verdict:?}");
                    format!("about {} rounds", grouped(rounds))
                }
                Some(RoundsNeeded::AtTheLimit) => "none: it lies at the limit".to_owned(),
            };
            undecided += 1;
            let row = format!("| {} | {words} |", case.name.replace('_', "\\_"));
            assert!(markdown.contains(&row), "{row}: {markdown}");
            assert!(text.contains(&words), "{words}: {text}");
        }
        let heading = "Undecided cases, and the rounds that would decide them";
        let any = report.summary.cases.iter();
        let any = any.flat_map(|case| &case.verdicts);
        assert_eq!(
            text.contains(heading),
            any.into_iter().any(|v| v.rounds_needed.is_some()),
            "{text}"
        );
    }
    assert!(undecided > 10, "{undecided}");
}

#[test]
fn a_comparison_says_how_many_rounds_would_decide_each_undecided_row() {
    let [old, new] = ["openssl", "rustls-ring"].map(StackName::new);
    let mut undecided = 0;
    for seed in 0..6 {
        let [one, two] =
            [(seed, 1.004), (100 + seed, 1.0)].map(|(seed, ratio)| suite_made::Fixture {
                seed,
                rounds: 4,
                ratio,
                disturbed: 0,
                ..suite_made::Fixture::default()
            });
        let (manifest, samples) = (one.manifest(), one.samples());
        for limit in [None, Some(0.5)] {
            let stacks = compare_stacks_of_suite(&manifest, &samples, &old, &new, limit);
            let first = (&manifest, &samples[..]);
            let runs = compare_runs_of_suite(first, (&two.manifest(), &two.samples()), None, limit);
            for found in [&stacks, &runs] {
                let rows = found.cases.iter();
                let rows = rows.map(|row| (row.change.verdict, row.judged));
                undecided += says_rounds(found, rows);
            }
            // Rounds that vary by 2 %: some rows are undecided.
            let [one, two] = [seed, 100 + seed]
                .map(|seed| connected(&(9, 0.02, 101.0, TWO, &[], Open), &["near.example"], seed));
            let found = compare_runs_of_connect(
                (&one.manifest, &one.samples),
                (&two.manifest, &two.samples),
                None,
                limit,
            );
            let phases = found.phases.iter();
            let phases = phases.map(|row| (row.change.verdict, row.judged));
            let sites = found.sites.iter();
            let sites = sites.map(|row| (row.change.verdict, row.judged));
            undecided += says_rounds(&found, phases.chain(sites));
        }
    }
    assert!(undecided > 50, "{undecided}");
}

/// Checks that only the undecided rows of a comparison state how many rounds would decide, and counts them.
fn says_rounds(report: &dyn Report, rows: impl Iterator<Item = (Verdict, Judged)>) -> usize {
    let text = terminal(report, usize::MAX);
    let mut undecided = 0;
    for (verdict, judged) in rows {
        let is_undecided = verdict == Undecided;
        assert_eq!(is_undecided, judged.rounds_needed.is_some(), "{judged:?}");
        let words = match judged.rounds_needed {
            None => continue,
            Some(RoundsNeeded::Rounds(rounds)) => format!("about {} rounds", grouped(rounds)),
            Some(RoundsNeeded::AtTheLimit) => "none: it lies at the limit".to_owned(),
        };
        assert!(text.contains(&words), "{words}: {text}");
        undecided += 1;
    }
    assert_eq!(undecided > 0, text.contains("would decide"), "{text}");
    undecided
}

#[test]
fn each_run_of_compat_has_one_outcome() {
    for (judgement, same, failed) in COMPAT {
        let report = made_parts::compat(&[Judgement::Right, judgement]);
        let junit = render(&report, "junit");
        assert_eq!(junit.matches("<failure").count(), failed, "{judgement:?}");
        for text in [terminal(&report, usize::MAX), render(&report, "html")] {
            let text = text.replace('\u{a0}', " ");
            let says_same = text.contains("The stacks do the same with every server.");
            assert_eq!(says_same, same, "{judgement:?}: {text}");
            let differs = text.contains("1 difference from old; loss ");
            assert_eq!(differs, !same, "{judgement:?}: {text}");
        }
    }
}

#[test]
fn two_stacks_of_a_run_of_the_suite_have_one_outcome_at_the_gate() {
    let [old, new] = ["openssl", "rustls-ring"].map(StackName::new);
    for (at, row) in STACKS.iter().enumerate() {
        let (.., threshold, outcome) = row;
        let (manifest, samples) = stacks(row);
        let found = compare_stacks_of_suite(&manifest, &samples, &old, &new, Some(*threshold));
        assert_eq!(found.gate.result(), Some(*outcome), "row {at}: {found:#?}");
        let text = terminal(&found, usize::MAX);
        let (word, class) = match outcome {
            Gate::Passed => ("Passed: ", None),
            Gate::Regressed => ("Regressed: ", Some("regression")),
            Gate::CannotTell => ("Cannot tell: ", Some("cannot-tell")),
        };
        assert!(text.contains(word), "row {at}: {text}");
        let junit = render(&found, "junit");
        match class {
            None => assert!(!junit.contains("<failure"), "row {at}: {junit}"),
            Some(class) => {
                assert!(junit.contains(&format!(r#"type="{class}""#)), "row {at}");
            }
        }
    }
}
