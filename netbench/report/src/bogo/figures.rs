use netbench_model::coverage::{Coverage, Difference, DifferenceGroup, Tally};

use crate::figures::Rows;

/// Of the coverage table: a row for each shim, feature, half and outcome.
pub(crate) fn coverage(coverage: &Coverage, rows: &mut Rows) {
    for (column, shim) in coverage.shims.iter().enumerate() {
        let mut tally = |feature: &str, half: &str, tally: Tally| {
            rows.about("coverage", half, &shim.shim, "");
            let counts = [
                ("passed", tally.passed),
                ("failed", tally.failed),
                ("unsupported", tally.unsupported),
            ];
            for (outcome, tests) in counts {
                rows.value(feature, outcome, tests as f64, "tests");
            }
        };
        tally("all", "works", shim.works);
        tally("all", "refuses", shim.refuses);
        for row in &coverage.features {
            for (half, tallies) in [("works", &row.works), ("refuses", &row.refuses)] {
                let cell = tallies.get(column).copied().unwrap_or_default();
                tally(&row.feature, half, cell);
            }
        }
        for (test, line) in &shim.unexplained {
            rows.about("unexplained", "", &shim.shim, "");
            rows.text(test, "runner", line);
        }
    }
}

/// Of the difference view: rows for each test, with who passes it as `first` and who does not as `other`.
pub(crate) fn difference(difference: &Difference, rows: &mut Rows) {
    let (first, second) = (&difference.first, &difference.second);
    let halves = [
        (first, second, &difference.only_first),
        (second, first, &difference.only_second),
    ];
    for (passes, does_not, groups) in halves {
        for group in groups {
            let DifferenceGroup {
                feature,
                outcome,
                category,
                why,
                tests,
                ..
            } = group;
            rows.about("difference", feature, passes, does_not);
            for test in tests {
                rows.text(test, "outcome", outcome.name());
                if let Some(category) = category {
                    rows.text(test, "category", category.name());
                }
                rows.text(test, "why", why);
            }
        }
    }
}
