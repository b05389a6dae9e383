//! Cases of the suite over time.

use netbench_model::{SuiteManifest, SuiteSample};
use netbench_report::{HistoryCase, SuiteHistory, history_of_suite};
use netbench_stats::Verdict;

use crate::support::{
    formats::{assert_json, render, terminal},
    suite_made::Fixture,
};

/// Returns a run of a day, in which the second stack takes `ratio` times as long as the first.
fn of_day(day: u32, ratio: f64) -> (SuiteManifest, Vec<SuiteSample>) {
    let fixture = Fixture {
        ratio,
        rounds: 20,
        disturbed: 0,
        ..Fixture::default()
    };
    let mut manifest = fixture.manifest();
    manifest.name = format!("day-{day}");
    manifest.started = format!("2026-03-{day:02}T00:00:00Z");
    (manifest, fixture.samples())
}

fn client(history: &SuiteHistory) -> &HistoryCase {
    let mut cases = history.cases.iter();
    cases.find(|case| case.name.ends_with("_client")).unwrap()
}

#[test]
fn a_case_moves_if_its_intervals_have_no_value_in_common() {
    use Verdict::{Faster, Slower, Undecided};
    // Runs are put in the order of their dates.
    let runs = vec![
        of_day(3, 0.6),
        of_day(1, 0.5),
        of_day(2, 0.5),
        of_day(4, 0.5),
    ];
    let history = history_of_suite(runs, Vec::new());
    let case = client(&history);
    let steps: Vec<_> = case.figures.iter().map(|figure| figure.step).collect();
    assert_eq!(steps, [None, Some(Undecided), Some(Slower), Some(Faster)]);
    let names = case.figures.iter().map(|figure| figure.run.as_str());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["day-1", "day-2", "day-3", "day-4"]
    );
}

#[test]
fn runs_on_different_processors_are_followed_and_not_compared() {
    let mut other = of_day(2, 0.8);
    let facts = &mut other.0.environment.facts;
    facts.insert("cpu_model".to_owned(), "B Processor".to_owned());
    let history = history_of_suite(vec![of_day(1, 0.5), other], Vec::new());
    let newest = client(&history).figures.last().unwrap();
    assert_eq!(newest.step, None);
    assert_eq!(newest.differs, ["cpu_model: A Processor → B Processor"]);
}

#[test]
fn the_report_has_the_moves_and_what_differs() {
    let mut newer = of_day(2, 0.6);
    newer.0.workers[1].library = "rustls-ring 2.0".to_owned();
    let left_out = vec!["runs/x is left out: damaged".to_owned()];
    let history = history_of_suite(vec![of_day(1, 0.5), newer], left_out);
    insta::assert_snapshot!("suite_history", terminal(&history, 200));
    assert_json(&history, "suite-history.json");
    for format in ["csv", "html", "markdown", "junit", "sarif", "svg"] {
        assert!(!render(&history, format).is_empty(), "{format}");
    }
    let alone = history_of_suite(vec![of_day(1, 0.5)], Vec::new());
    assert!(alone.cases.is_empty());
}
