//! JUnit's XML, which test services of every kind read: a test for each case, which fails if the case
//! regressed.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::{
    CompareSummary, ComparedCase, Regression,
    text::{change, interval, plain},
};

/// The comparison as one XML document.
pub fn render(summary: &CompareSummary) -> Vec<u8> {
    let mut report = Report::new("netbench compare");
    let name = format!("{} against {}", summary.other.run, summary.first.run);
    let mut suite = TestSuite::new(plain(&name));
    suite.add_test_cases(summary.cases.iter().map(test));
    for name in &summary.missing {
        let mut status = TestCaseStatus::skipped();
        status.set_message("only one side has figures");
        suite.add_test_case(TestCase::new(plain(name), status));
    }
    report.add_test_suite(suite);
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
