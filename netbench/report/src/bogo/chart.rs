use netbench_model::coverage::{Coverage, Half, Tally};

use crate::document::{Chart, Drawing, Item, Matrix};

/// What each stack passes of the protocol tests that expect success, feature by feature.
pub(super) fn coverage_chart(coverage: &Coverage) -> Item {
    let share = |tally: &Tally| {
        let total = tally.total();
        (total > 0).then(|| tally.passed as f64 / total as f64)
    };
    let rows = coverage.features.iter().map(|row| {
        let shares: Vec<_> = row.half(Half::Works).iter().map(share).collect();
        (row.feature.clone(), shares)
    });
    Item::Charts(vec![Chart {
        title: "What works, feature by feature".to_owned(),
        note: format!(
            "n = {} tests; a cell is the share that passed of the feature's tests that expect success, the \
             darker the more; a change is in percentage points. Counts and the tests that expect a refusal: in the tables. They are counts of \
             all tests, without an interval.",
            coverage.tests
        ),
        drawing: Drawing::Matrix(Matrix {
            columns: coverage
                .shims
                .iter()
                .map(|shim| shim.shim.clone())
                .collect(),
            against_first: (coverage.shims.len() == 2).then_some(1),
            rows: rows
                .filter(|(_, shares)| shares.iter().any(Option::is_some))
                .collect(),
        }),
    }])
}
