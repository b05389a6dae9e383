use netbench_bogo::{Coverage, Difference, DifferenceGroup, FeatureRow, Half, Tally};

use crate::text::plain;

/// Of the coverage table: shim, feature, half, how it went, tests.
pub(crate) fn coverage_rows(coverage: &Coverage) -> Vec<Vec<String>> {
    let mut rows = vec![
        ["shim", "feature", "half", "outcome", "tests"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (column, shim) in coverage.shims.iter().enumerate() {
        let mut tally = |feature: &str, half: &str, tally: Tally| {
            let counts = [
                ("passed", tally.passed),
                ("failed", tally.failed),
                ("unsupported", tally.unsupported),
            ];
            for (outcome, tests) in counts {
                let cells = [plain(&shim.shim), feature.to_owned(), half.to_owned()];
                let row = cells
                    .into_iter()
                    .chain([outcome.to_owned(), tests.to_string()]);
                rows.push(row.collect());
            }
        };
        tally("all", "works", shim.works);
        tally("all", "refuses", shim.refuses);
        for FeatureRow {
            feature,
            works,
            refuses,
        } in &coverage.features
        {
            for (half, tallies) in [(Half::Works, works), (Half::Refuses, refuses)] {
                let name = match half {
                    Half::Works => "works",
                    Half::Refuses => "refuses",
                };
                tally(
                    feature,
                    name,
                    tallies.get(column).copied().unwrap_or_default(),
                );
            }
        }
    }
    rows
}

/// Of the difference view: a row a test.
pub(crate) fn difference_rows(difference: &Difference) -> Vec<Vec<String>> {
    let columns = [
        "passed_by",
        "not_by",
        "feature",
        "outcome",
        "category",
        "why",
        "test",
    ];
    let mut rows = vec![columns.map(str::to_owned).to_vec()];
    let halves = [
        (
            &difference.first,
            &difference.second,
            &difference.only_first,
        ),
        (
            &difference.second,
            &difference.first,
            &difference.only_second,
        ),
    ];
    for (by, not_by, groups) in halves {
        for DifferenceGroup {
            feature,
            outcome,
            category,
            why,
            tests,
            ..
        } in groups
        {
            for test in tests {
                rows.push(vec![
                    plain(by),
                    plain(not_by),
                    feature.clone(),
                    outcome.name().to_owned(),
                    category
                        .map(|category| category.name().to_owned())
                        .unwrap_or_default(),
                    plain(why),
                    plain(test),
                ]);
            }
        }
    }
    rows
}
