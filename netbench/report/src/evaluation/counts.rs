//! Evaluations by earlier versions, which stored counts of BoringSSL's protocol tests and no matrix of features:
//! the tests were run, and the results of the counts are still reported.

use itertools::Itertools;
use netbench_model::coverage::{Category, Coverage, Ending, FeatureRow};

use super::{findings::Findings, question::Question};
use crate::text::percent;

/// Adds the results of the counts for features, and states that they do not distinguish roles or versions.
pub(super) fn features(question: &mut Question, coverage: &Coverage, findings: &mut Findings) {
    if let [first, second, ..] = coverage.shims.as_slice() {
        let [before, after] = [first, second]
            .map(|shim| percent(shim.works.passed as f64, shim.works.total() as f64));
        question.figure(
            format!("{after} (before: {before})"),
            "of BoringSSL's tests that expect success (many are of its own features)",
        );
    }
    for row in lacking(coverage) {
        findings.lacks(&row.feature, row.feature.clone());
    }
    question.missing.push(
        "features by role and version: an earlier version stored counts of the protocol tests, which were all run"
            .to_owned(),
    );
}

/// Returns the features of which the first column passes tests that expect success, and the second passes none. A
/// feature that a library has and implements differently passes some of them.
pub(super) fn lacking(coverage: &Coverage) -> Vec<&FeatureRow> {
    let lacking = coverage.features.iter().filter(|row| {
        let tests = row.works.as_slice();
        matches!(tests, [first, second, ..] if first.passed > 0 && second.passed == 0)
    });
    lacking.collect()
}

/// Adds the results of the counts for defects; returns a sentence if the new stack has more of them.
pub(super) fn defects(
    question: &mut Question,
    coverage: &Coverage,
    findings: &mut Findings,
) -> Option<String> {
    let [first, second, ..] = coverage.shims.as_slice() else {
        return None;
    };
    let [before, after] = [first, second].map(|shim| {
        let defects = shim.explained.get(&Category::Defect).copied();
        defects.unwrap_or(0) + shim.unexplained.len()
    });
    question.figure(
        format!("{after} (before: {before})"),
        "protocol tests that fail for a defect, or for no known reason",
    );
    question.missing.push(
        "defects by cause, in tests that both run: an earlier version stored counts of the protocol tests alone"
            .to_owned(),
    );
    // A hang that the shim's configuration explains is not a crash.
    let [crashed_before, crashed] = [first, second].map(|shim| {
        let crashed = shim.crashed.iter();
        crashed
            .filter(|(_, how)| matches!(how, Ending::Crashed(_)))
            .collect_vec()
    });
    for (test, _) in &crashed {
        if crashed_before.iter().all(|(before, _)| before != test) {
            findings.crash(test);
        }
    }
    let is_worse = after > before || crashed.len() > crashed_before.len();
    is_worse.then(|| {
        format!(
            "By BoringSSL's tests it is the worse of the two: {after} fail for a defect or for no known reason, against \
             {before}, and {} crash, against {}.",
            crashed.len(),
            crashed_before.len()
        )
    })
}
