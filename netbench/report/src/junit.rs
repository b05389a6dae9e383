//! JUnit's XML, which test services of every kind read. Of a comparison there is a test for each case,
//! which fails if the case regressed; of a run one for each site or case and stack, which fails if the
//! stack failed there.

use std::collections::{BTreeMap, BTreeSet};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::{
    CompareSummary, ComparedCase, ConnectSummary, FailureRow, Regression, SuiteSummary,
    text::{change, interval, plain},
};

/// The comparison as one XML document.
pub fn render(summary: &CompareSummary) -> Vec<u8> {
    let name = format!("{} against {}", summary.other.run, summary.first.run);
    let mut suite = TestSuite::new(plain(&name));
    suite.add_test_cases(summary.cases.iter().map(test));
    for name in &summary.missing {
        let mut status = TestCaseStatus::skipped();
        status.set_message("only one side has figures");
        suite.add_test_case(TestCase::new(plain(name), status));
    }
    xml("netbench compare", std::iter::once(suite))
}

/// A `connect` run as one XML document: a suite for each condition and stack, with a test for each
/// site.
pub fn connect(summary: &ConnectSummary) -> Vec<u8> {
    let mut failed: BTreeMap<_, Vec<&FailureRow>> = BTreeMap::new();
    for row in &summary.failures {
        let key = (row.condition, row.stack.as_str(), row.site.as_str());
        failed.entry(key).or_default().push(row);
    }
    let mut skipped = BTreeMap::new();
    for row in &summary.unsupported {
        for site in &row.sites {
            let key = (row.condition, row.stack.as_str(), site.as_str());
            skipped.insert(key, row.reason.as_str());
        }
    }
    let compared = summary.comparisons.iter().flat_map(|comparison| {
        let stacks = [&comparison.first, &comparison.other];
        let rows = comparison.sites.rows.iter();
        rows.flat_map(move |row| {
            stacks.map(|stack| (comparison.condition, stack.as_str(), row.site.as_str()))
        })
    });
    let mut tests: BTreeSet<_> = compared.collect();
    tests.extend(failed.keys());
    tests.extend(skipped.keys());
    let mut suites: BTreeMap<_, TestSuite> = BTreeMap::new();
    for key in tests {
        let (condition, stack, site) = key;
        let status = match (failed.get(&key), skipped.get(&key)) {
            (Some(rows), _) => failure(rows),
            (None, Some(reason)) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(plain(reason));
                status
            }
            (None, None) => TestCaseStatus::success(),
        };
        let mut test = TestCase::new(plain(site), status);
        test.set_classname(format!("{condition}.{stack}"));
        suites
            .entry((condition, stack))
            .or_insert_with(|| TestSuite::new(format!("{condition} {stack}")))
            .add_test_case(test);
    }
    xml("netbench connect", suites.into_values())
}

fn failure(rows: &[&FailureRow]) -> TestCaseStatus {
    let words: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} of {}: {}: {}",
                row.failed,
                row.trials,
                row.class,
                plain(&row.reason)
            )
        })
        .collect();
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let class = rows.first().map(|row| row.class.to_string());
    status
        .set_message(words.join("; "))
        .set_type(class.unwrap_or_default());
    status
}

/// A run of the suite as one XML document: a suite for each stack, with a test for each case.
pub fn suite(summary: &SuiteSummary) -> Vec<u8> {
    let suites = summary.run.stacks.iter().map(|(stack, _)| {
        let mut suite = TestSuite::new(stack.as_str());
        for case in &summary.cases {
            if let Some(figures) = case.stacks.iter().find(|f| f.stack == *stack) {
                let mut test = TestCase::new(case.name.clone(), TestCaseStatus::success());
                let verdict = case.verdicts.iter().find(|v| v.other == *stack);
                test.set_classname(stack.as_str());
                test.set_system_out(match verdict {
                    Some(verdict) => format!(
                        "{} ({})",
                        change(verdict.paired.ratio),
                        interval(verdict.paired.interval)
                    ),
                    None => format!("{} rounds", figures.rounds),
                });
                suite.add_test_case(test);
            }
        }
        for row in summary.failures.iter().filter(|row| row.stack == *stack) {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_message(plain(&row.reason))
                .set_type(row.class.clone().unwrap_or_default());
            suite.add_test_case(TestCase::new(plain(&row.scenario), status));
        }
        for row in summary.unsupported.iter().filter(|row| row.stack == *stack) {
            let mut status = TestCaseStatus::skipped();
            status.set_message(plain(&row.reason));
            suite.add_test_case(TestCase::new(plain(&row.scenario), status));
        }
        suite
    });
    xml("netbench suite", suites)
}

fn xml(name: &str, suites: impl Iterator<Item = TestSuite>) -> Vec<u8> {
    let mut report = Report::new(name);
    report.add_test_suites(suites);
    let mut text = report.to_string().unwrap_or_default();
    text.push('\n');
    text.into_bytes()
}

fn test(case: &ComparedCase) -> TestCase {
    let words = format!(
        "{}: {} ({})",
        case.verdict,
        change(case.ratio),
        interval(case.interval)
    );
    let status = if case.regression == Regression::Regressed {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(words.clone()).set_type("regression");
        status
    } else {
        TestCaseStatus::success()
    };
    let mut test = TestCase::new(case.name.clone(), status);
    test.set_classname(case.other_stack.as_str());
    test.set_system_out(words);
    test
}
