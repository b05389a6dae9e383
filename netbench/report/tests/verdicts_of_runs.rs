//! Made-up runs of one command, each with the one right answer: `connect`, `suite`, `compat`, and two stacks of a run of the
//! suite that `compare` compares.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/forms.rs"]
mod forms;
#[path = "support/made.rs"]
#[expect(dead_code, reason = "contradictions.rs uses the rest")]
mod made;
#[path = "support/made_parts.rs"]
mod made_parts;
#[path = "support/manifest.rs"]
mod manifest;
#[path = "support/suite_made.rs"]
#[expect(dead_code, reason = "suite.rs uses the rest")]
mod suite_made;
#[path = "support/mod.rs"]
mod support;
#[path = "support/whole.rs"]
mod whole;

use std::sync::Arc;

use forms::{render, terminal};
use netbench_model::{Condition, IdleReference, Outcome, Phase, StackName, compat::Judgement};
use netbench_report::{
    Answer::{self, No, Open, WithLosses, Yes},
    ConnectReport, Extent, Found, Gate, Judged, Report, SuiteReport, SuiteSummary,
    compare_runs_of_connect, compare_runs_of_suite, compare_stacks_of_suite, evaluation,
};
use netbench_stats::{
    Rng, RoundsNeeded, UndecidedReason,
    Verdict::{self, Faster, NotJudged, Same, Slower, Undecided},
};
use support::Fixture;
use whole::MadeCase;

/// The answers on the page of a run, each of which is in its words on the page.
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

const CLEAN: &[Condition] = &[Condition::Clean];
const COLD: &[Condition] = &[Condition::Cold];
const TWO: &[Condition] = &[Condition::Clean, Condition::Resumed];

/// Rounds, noise of a round, the new stack's time in percent of the old one's, conditions, the verdict on the total of
/// each condition, and the answer to the last question: whether it is fast enough.
type Row = (
    u32,
    f64,
    f64,
    &'static [Condition],
    &'static [Verdict],
    Answer,
);

const CONNECT: &[Row] = &[
    (20, 0.001, 100.0, CLEAN, &[Same], Yes),
    (20, 0.001, 80.0, CLEAN, &[Faster], Yes),
    (20, 0.001, 103.0, CLEAN, &[Slower], Yes),
    (20, 0.001, 120.0, CLEAN, &[Slower], No),
    (20, 0.02, 100.5, CLEAN, &[Undecided], Yes),
    (20, 0.5, 100.0, CLEAN, &[Undecided], Open),
    (20, 0.5, 105.0, CLEAN, &[Undecided], Open),
    (2, 0.001, 100.0, CLEAN, &[NotJudged], Open),
    (2, 0.001, 300.0, CLEAN, &[NotJudged], Open),
    (20, 0.001, 120.0, TWO, &[Slower, Slower], No),
    (20, 0.5, 100.0, TWO, &[Undecided, Undecided], Open),
    (20, 0.001, 100.0, COLD, &[Same], Open),
    (20, 0.5, 100.0, COLD, &[Undecided], Open),
];

fn connect(row: &Row, sites: &[&str], seed: u64) -> ConnectReport {
    let (rounds, noise, percent, conditions, ..) = *row;
    let fixture = Fixture {
        rounds,
        conditions: conditions.to_vec(),
        ..Fixture::default()
    };
    let mut rng = Rng::new(seed);
    let (mut manifest, mut samples) = (fixture.manifest(), fixture.samples());
    let kept = |name: &str| sites.contains(&name);
    manifest.plan.sites.retain(|site| kept(&site.name()));
    samples.retain(|sample| kept(&sample.site));
    for sample in &mut samples {
        let Outcome::Ok(measured) = &mut sample.outcome else {
            panic!("{sample:?}");
        };
        let factor = match sample.stack.as_str() {
            "openssl" => 1.0,
            _ => percent / 100.0,
        };
        measured.phases.total_ns = whole_ns(50e6 * factor * (noise * rng.normal()).exp());
    }
    ConnectReport::new(manifest, samples)
}

fn whole_ns(ns: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time"
    )]
    let whole = ns as u64;
    whole
}

#[test]
fn each_run_of_connect_has_one_verdict_in_all_of_its_parts() {
    for sites in [&["near.example"][..], &["near.example", "middle.example"]] {
        for (at, row) in CONNECT.iter().enumerate() {
            let report = connect(row, sites, u64::try_from(at).unwrap());
            let name = format!("row {at}, {} sites", sites.len());
            let comparisons = &report.summary.comparisons;
            let totals: Vec<_> = comparisons
                .iter()
                .map(|comparison| {
                    let mut phases = comparison.phases.iter();
                    phases.find(|row| row.phase == Phase::Total).unwrap()
                })
                .collect();
            let verdicts: Vec<Verdict> = totals.iter().map(|row| row.paired.verdict).collect();
            assert_eq!(verdicts, row.4, "{name}: {totals:#?}");
            assert_eq!(answers(&report).last(), Some(&row.5), "{name}");
            let text = terminal(&report, usize::MAX);
            for (comparison, total) in comparisons.iter().zip(&totals) {
                let rows = &comparison.sites.rows;
                if let ([site], 1) = (rows.as_slice(), sites.len()) {
                    let total = total.paired;
                    assert_eq!(site.paired.verdict, total.verdict, "{name}");
                    assert_eq!(site.paired.interval, total.interval, "{name}");
                    assert!((site.paired.ratio - total.ratio).abs() < 1e-12, "{name}");
                }
                let phases = comparison.phases.iter();
                let phases = phases.map(|row| (row.paired.verdict, row.rounds_needed));
                let sites = rows
                    .iter()
                    .map(|row| (row.paired.verdict, row.rounds_needed));
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
                    let word = match total.paired.verdict {
                        Faster => "is faster than",
                        Slower => "is slower than",
                        Same => "take the same time",
                        Undecided => "it is undecided whether",
                        NotJudged => "too few rounds for a verdict",
                    };
                    assert!(text.contains(word), "{name}: {text}");
                }
            }
            let undecided = totals.iter().any(|row| row.paired.verdict == Undecided);
            assert!(!undecided || text.contains("would decide"), "{name}");
        }
    }
}

/// Milliseconds of wall clock that the first connection of a process takes more with the new stack than with the old one,
/// rounds, the answer to the last question, and its words.
const FIRST: [(f64, u32, Answer, &str); 7] = [
    (0.0, 20, Yes, "takes the same time"),
    (0.4, 20, Yes, "takes 400 µs longer"),
    (-2.0, 20, Yes, "takes 2.00 ms less"),
    (64.0, 20, Yes, "takes 64.0 ms longer"),
    (100.0, 20, Yes, "takes 100 ms longer"),
    (150.0, 20, WithLosses, "takes 150 ms longer"),
    (64.0, 5, Open, "takes 64.0 ms longer"),
];

#[test]
fn each_run_of_connect_judges_first_connections_by_wall_clock() {
    const CONDITIONS: &[Condition] = &[Condition::Clean, Condition::Cold];
    for (more_ms, rounds, answer, words) in FIRST {
        let row = (rounds, 0.001, 100.0, CONDITIONS, &[][..], answer);
        let mut report = connect(&row, &["near.example"], 3);
        for sample in &mut report.samples {
            let Outcome::Ok(measured) = &mut sample.outcome else {
                panic!("{sample:?}");
            };
            let is_first = sample.condition == Condition::Cold;
            // Without noise, so that the clause is exact.
            let more_ms = match sample.stack.as_str() {
                "rustls-ring" if is_first => 10.0 + more_ms,
                _ if is_first => 10.0,
                _ => 0.0,
            };
            measured.phases.connector_ns = Some(1_000_000);
            measured.phases.total_ns = whole_ns(50e6 + more_ms * 1e6);
        }
        let report = ConnectReport::new(report.manifest, report.samples);
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
    let fast = || MadeCase::handshake(0.5, 0.52);
    let slow = || MadeCase::handshake(1.2, 1.3);
    let receive = || MadeCase::receive(0.9, 0.92);
    let never = |case: MadeCase| case.held_back(UndecidedReason::NeverQuiet);
    let few = |case: MadeCase| case.held_back(UndecidedReason::FewQuietTurns);
    let send = || MadeCase::send(0.9, 0.92);
    let rows: &[(Vec<MadeCase>, Answer, &str)] = &[
        (vec![fast()], Yes, "In no part"),
        (vec![fast(), send(), receive()], Yes, "In no part"),
        (vec![slow()], No, "handshake +25 %"),
        (vec![slow(), receive()], No, "handshake +25 %"),
        (
            vec![fast(), MadeCase::verify(1.2, 1.3)],
            WithLosses,
            "verify +25 %",
        ),
        (
            vec![slow(), MadeCase::receive(1.2, 1.3)],
            No,
            "handshake +25 %, bulk received +25 %",
        ),
        // The sending cases have a mean as the others do.
        (
            vec![fast(), MadeCase::send(1.2, 1.3), receive()],
            No,
            "old: bulk sent +25 %.",
        ),
        (
            vec![fast(), MadeCase::send(0.0, 1.7), receive()],
            Open,
            "Not decided: sending of data in memory: 1 case with too few rounds",
        ),
        (
            vec![fast(), send(), never(MadeCase::send(1.5, 1.9)), receive()],
            Open,
            "Not decided: sending of data in memory: 1 case on a machine that was never quiet, which more rounds do not change",
        ),
        (
            vec![never(fast())],
            Open,
            "No case was decided: 1 case on a machine that was never quiet, which more rounds do not change.",
        ),
        (
            vec![few(fast())],
            Open,
            "No case was decided: 1 case with too few quiet turns",
        ),
        (
            vec![never(fast()), few(receive()), MadeCase::send(0.0, 0.5)],
            Open,
            "decided: 1 case on a machine that was never quiet, which more rounds do not change; 1 case with too few quiet \
             turns: more rounds on a quieter machine add to them; 1 case with too few rounds: more rounds decide.",
        ),
        (
            vec![never(slow()), receive()],
            Open,
            "Not decided: client's side of a handshake in memory: 1 case on a machine that was never quiet",
        ),
        (
            vec![never(slow()), receive(), never(receive())],
            Open,
            "No part of the suite has figures of all cases: 2 cases on a machine that was never quiet",
        ),
        (
            vec![MadeCase::handshake(0.9, 1.2)],
            Open,
            "No case was decided: 1 case with a wide interval: more rounds decide.",
        ),
        (
            vec![MadeCase::handshake(0.0, 0.5)],
            Open,
            "No case was decided: 1 case with too few rounds: more rounds decide.",
        ),
    ];
    for (at, (cases, answer, words)) in rows.iter().enumerate() {
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
    let sentence = |suite: &SuiteSummary| {
        let found = Found {
            suites: vec![Arc::new(suite.clone())],
            ..Found::default()
        };
        evaluation(whole::run(&[]), found).sentence
    };
    let apart = "; heap of a client's session 16.0 kB → 8.00 kB, of a server's 4.00 kB → 2.00 kB.";
    assert!(sentence(&suite).contains(apart), "{}", sentence(&suite));
    suite.cases.retain(|row| !row.case.is_of_one_side());
    let together = "; memory per session (half of a client's and a server's together) ";
    assert!(sentence(&suite).contains(together), "{}", sentence(&suite));
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
            let is_undecided = verdict.paired.verdict == Undecided;
            assert_eq!(is_undecided, verdict.rounds_needed.is_some(), "{verdict:?}");
            let words = match verdict.rounds_needed {
                None => continue,
                Some(RoundsNeeded::Rounds(rounds)) => {
                    assert!(rounds > verdict.paired.blocks, "{verdict:?}");
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
        let fixture = suite_made::Fixture {
            seed,
            rounds: 4,
            disturbed: 0,
            ..suite_made::Fixture::default()
        };
        let at = |ratio: f64, seed: u64| suite_made::Fixture {
            seed,
            ratio,
            ..fixture
        };
        let (one, two) = (at(1.004, seed), at(1.0, 100 + seed));
        let (manifest, samples) = (one.manifest(), one.samples());
        for limit in [None, Some(0.5)] {
            let stacks = compare_stacks_of_suite(&manifest, &samples, &old, &new, limit);
            let first = (&manifest, &samples[..]);
            let runs = compare_runs_of_suite(first, (&two.manifest(), &two.samples()), None, limit);
            for found in [&stacks, &runs] {
                let rows = found.cases.iter();
                let rows = rows.map(|row| (row.verdict, row.judged));
                undecided += says_rounds(found, rows);
            }
            // Rounds that vary by 2 %: some rows are undecided.
            let noisy = |seed| connect(&(9, 0.02, 101.0, TWO, &[], Open), &["near.example"], seed);
            let (one, two) = (noisy(seed), noisy(100 + seed));
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

/// Checks that the undecided rows of a comparison, and no others, say how many rounds would decide, and counts them.
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

/// What the new stack does with a second server; whether both do the same, and how many tests fail.
const COMPAT: [(Judgement, bool, usize); 5] = [
    (Judgement::Right, true, 0),
    (Judgement::Lost, false, 1),
    (Judgement::Unwarned, false, 1),
    (Judgement::Crashed, false, 1),
    (Judgement::Hung, false, 1),
];

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

/// The new stack's time as a ratio of the old one's, rounds, share of disturbed turns, threshold, outcome.
const STACKS: &[(f64, u32, u32, f64, Gate)] = &[
    (1.0, 12, 0, 0.05, Gate::Passed),
    (0.5, 12, 0, 0.05, Gate::Passed),
    (1.02, 12, 0, 0.05, Gate::Passed),
    (1.2, 12, 0, 0.05, Gate::Regressed),
    (2.0, 12, 0, 0.05, Gate::Regressed),
    (1.2, 12, 0, 0.5, Gate::Passed),
    (1.0, 1, 0, 0.05, Gate::CannotTell),
    (0.5, 1, 0, 0.05, Gate::CannotTell),
    // Never quiet: nothing that was measured says what a quiet machine would.
    (0.5, 12, 100, 0.05, Gate::CannotTell),
];

#[test]
fn two_stacks_of_a_run_of_the_suite_have_one_outcome_at_the_gate() {
    let [old, new] = ["openssl", "rustls-ring"].map(StackName::new);
    for (at, (ratio, rounds, disturbed, threshold, outcome)) in STACKS.iter().enumerate() {
        let fixture = suite_made::Fixture {
            ratio: *ratio,
            rounds: *rounds,
            disturbed: *disturbed,
            ..suite_made::Fixture::default()
        };
        let (manifest, samples) = (fixture.manifest(), fixture.samples());
        // Trials that fail or are unsupported are not the question here.
        let is_kept = |name: &str| name.starts_with("bulk") || name.starts_with("handshake");
        let mut manifest = manifest;
        manifest.plan.idle = Some(IdleReference {
            integer_ns: 2_600.0,
            aes_ns: 2_100.0,
            memory_ns: 1_500.0,
        });
        let scenarios = &mut manifest.plan.scenarios;
        scenarios.retain(|scenario| is_kept(&scenario.to_string()));
        let mut samples = samples;
        samples.retain(|sample| is_kept(&sample.name));
        let found = compare_stacks_of_suite(&manifest, &samples, &old, &new, Some(*threshold));
        assert_eq!(found.gate(), Some(*outcome), "row {at}: {found:#?}");
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
