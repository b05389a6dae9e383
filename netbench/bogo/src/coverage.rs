use std::collections::BTreeMap;

use netbench_model::coverage::{
    Category, Coverage, Ending, FeatureRow, RunnerId, ShimSummary, Tally, TestOutcome,
};

use crate::{
    BogoError, Catalog, Expects, FEATURES, Features, Results, ShimConfig, TestResult,
    feature::OTHER,
};

/// The results of one shim, a column of the coverage table.
#[derive(Debug, Clone, Copy)]
pub struct ShimResults<'a> {
    /// The shim's name.
    pub shim: &'a str,
    /// The shim's configuration, which has the reasons for its failures.
    pub config: &'a ShimConfig,
    /// The outcomes of its tests.
    pub results: &'a Results,
}

/// Summarizes the results of shims by feature; with `only`, those of one feature.
///
/// # Errors
/// Returns an error if there are results of tests that are not in the catalog: they are of another runner.
pub fn coverage_of(
    runner: &RunnerId,
    catalog: &Catalog,
    shims: &[ShimResults<'_>],
    only: Option<&str>,
) -> Result<Coverage, BogoError> {
    let mut rows: Vec<FeatureRow> = FEATURES
        .iter()
        .map(|feature| feature.name)
        .chain([OTHER])
        .map(|name| FeatureRow {
            feature: name.to_owned(),
            works: vec![Tally::default(); shims.len()],
            refuses: vec![Tally::default(); shims.len()],
        })
        .collect();
    let mut summaries = Vec::new();
    for (column, shim) in shims.iter().enumerate() {
        summaries.push(sum_up(catalog, *shim, only, column, &mut rows)?);
    }
    rows.retain(|row| {
        let mut tallies = row.works.iter().chain(&row.refuses);
        only.is_none_or(|only| row.feature == only) && tallies.any(|tally| tally.total() > 0)
    });
    Ok(Coverage {
        runner: runner.clone(),
        tests: catalog.len(),
        floor: catalog.floor(),
        pattern: None,
        shims: summaries,
        features: rows,
        warnings: Vec::new(),
    })
}

fn sum_up(
    catalog: &Catalog,
    ShimResults {
        shim,
        config,
        results,
    }: ShimResults<'_>,
    only: Option<&str>,
    column: usize,
    rows: &mut [FeatureRow],
) -> Result<ShimSummary, BogoError> {
    let mut summary = ShimSummary {
        shim: shim.to_owned(),
        passed_with_floor: 0,
        works: Tally::default(),
        passed_less_diagnosis: 0,
        refuses: Tally::default(),
        explained: BTreeMap::new(),
        unexplained: BTreeMap::new(),
        crashed: BTreeMap::new(),
    };
    let features = Features::all();
    for (name, result) in &results.tests {
        let Some(expects) = catalog.expects(name) else {
            let why = format!("there are results of {name:?}, which this runner does not have");
            return Err(BogoError::bad(shim, why));
        };
        let about = features.of(name);
        if only.is_some_and(|only| !features.is_about(name, only)) {
            continue;
        }
        let outcome = counted(config, name, result.outcome);
        summary.passed_with_floor += usize::from(result.outcome == TestOutcome::Passed);
        if result.outcome == TestOutcome::Failed {
            explain(&mut summary, config, name, result);
        }
        let less = catalog.about(name).is_some_and(|about| {
            about
                .flags
                .iter()
                .any(|flag| is_ignored_diagnosis(shim, flag))
        });
        if less && expects == Expects::Success && outcome == TestOutcome::Passed {
            summary.passed_less_diagnosis += 1;
        }
        let other = [FEATURES.len()];
        let about = if about.is_empty() { &other[..] } else { &about };
        match expects {
            Expects::Success => {
                summary.works.add(outcome);
                for row in about {
                    rows[*row].works[column].add(outcome);
                }
            }
            Expects::Failure => {
                summary.refuses.add(outcome);
                for row in about {
                    rows[*row].refuses[column].add(outcome);
                }
            }
            Expects::NothingProved => {}
        }
    }
    Ok(summary)
}

/// The flags that shims may ignore: flag, kind, shims, reason.
const IGNORED: &str = include_str!("../../../bogo-shims/configs/ignored.tsv");

/// Returns whether a shim ignores a flag that expects a diagnosis.
fn is_ignored_diagnosis(shim: &str, flag: &str) -> bool {
    IGNORED.lines().any(|line| {
        let mut columns = line.split('\t');
        columns.next() == Some(flag)
            && columns.next() == Some("diagnostic")
            && columns
                .next()
                .is_some_and(|shims| shims == "*" || shims.split(',').any(|name| name == shim))
            && shim != "boringssl"
    })
}

/// Returns the outcome that is counted: a test that fails because the library lacks a feature counts as
/// unsupported, and so does one that is about BoringSSL itself or that the runner cannot run.
pub(crate) fn counted(config: &ShimConfig, test: &str, outcome: TestOutcome) -> TestOutcome {
    match (outcome, config.reason(test)) {
        (
            TestOutcome::Failed,
            Some((Category::Missing | Category::Boringssl | Category::Runner, _)),
        ) => TestOutcome::Unsupported,
        _ => outcome,
    }
}

fn explain(summary: &mut ShimSummary, config: &ShimConfig, name: &str, result: &TestResult) {
    let ending = result.ending();
    if ending != Ending::Exited {
        summary.crashed.insert(name.to_owned(), ending);
    }
    match config.reason(name) {
        Some((category, _)) => *summary.explained.entry(category).or_default() += 1,
        None => {
            summary.unexplained.insert(name.to_owned(), result.line());
        }
    }
}
