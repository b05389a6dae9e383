use netbench_model::coverage::{Coverage, FeatureRow};

/// Features of which the first column passes tests that expect success, and the second not one. A
/// feature that a library has and does in its own way passes some of them.
pub fn lacking(coverage: &Coverage) -> Vec<&FeatureRow> {
    let lacks = |row: &&FeatureRow| match row.works.as_slice() {
        [first, second, ..] => first.passed > 0 && second.passed == 0,
        _ => false,
    };
    coverage.features.iter().filter(lacks).collect()
}
