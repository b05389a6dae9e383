use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Format, Needs, Options};
use crate::{
    document::{Check, Checked, Document},
    text::plain,
};

pub(super) const FORMAT: Format = Format {
    needs: Needs::Checks,
    ..Format::new(
        "junit",
        "xml",
        "Tests that pass or fail, for test services",
        render,
    )
};

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut report = Report::new(format!("netbench {}", document.kind));
    report.add_test_suites(document.checks.iter().map(|checks| {
        let mut suite = TestSuite::new(plain(&checks.name));
        suite.add_test_cases(checks.checks.iter().map(test));
        suite
    }));
    let mut text = report.to_string().unwrap_or_default();
    text.push('\n');
    text.into_bytes()
}

fn test(check: &Check) -> TestCase {
    let status = match &check.outcome {
        Checked::Passed => TestCaseStatus::success(),
        Checked::Failed { why, class } => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(plain(why)).set_type(plain(class));
            status
        }
        Checked::Skipped { why } => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(plain(why));
            status
        }
    };
    let mut test = TestCase::new(plain(&check.name), status);
    if let Some(class) = &check.class {
        test.set_classname(plain(class));
    }
    if let Some(said) = &check.said {
        test.set_system_out(plain(said));
    }
    test
}
