use std::{cmp::Reverse, collections::BTreeMap};

use netbench_model::coverage::{Category, Difference, DifferenceGroup, TestOutcome};

use crate::{
    Catalog, Expects, Features,
    capability::in_words,
    coverage::{ShimResults, counted},
};

/// Compares two shims test by test; with `only`, on one feature.
pub fn difference_between(
    catalog: &Catalog,
    first: ShimResults<'_>,
    second: ShimResults<'_>,
    only: Option<&str>,
) -> Difference {
    let mut difference = Difference {
        first: first.shim.to_owned(),
        second: second.shim.to_owned(),
        both: 0,
        neither: 0,
        only_first: Vec::new(),
        only_second: Vec::new(),
    };
    let (mut lacks_first, mut lacks_second) = (Groups::default(), Groups::default());
    for (name, one) in &first.results.tests {
        let expects = catalog.expects(name);
        let (Some(other), Some(Expects::Success | Expects::Failure)) =
            (second.results.tests.get(name), expects)
        else {
            continue;
        };
        let feature = Features::all().first_of(name);
        if only.is_some_and(|only| only != feature) {
            continue;
        }
        match (one.outcome, other.outcome) {
            (TestOutcome::Passed, TestOutcome::Passed) => difference.both += 1,
            (TestOutcome::Passed, _) => lacks_second.add(feature, name, expects, second),
            (_, TestOutcome::Passed) => lacks_first.add(feature, name, expects, first),
            _ => difference.neither += 1,
        }
    }
    difference.only_first = lacks_second.sorted();
    difference.only_second = lacks_first.sorted();
    difference
}

/// Feature, outcome, category and reason. A group has the number of tests that expect success, and
/// all of its tests.
type Key = (&'static str, TestOutcome, Option<Category>, String);

#[derive(Default)]
struct Groups(BTreeMap<Key, (usize, Vec<String>)>);

impl Groups {
    fn add(
        &mut self,
        feature: &'static str,
        name: &str,
        expects: Option<Expects>,
        ShimResults {
            config, results, ..
        }: ShimResults<'_>,
    ) {
        let Some(result) = results.tests.get(name) else {
            return;
        };
        let outcome = counted(config, name, result.outcome);
        let (category, why) = match config.reason(name) {
            // BoringSSL's own shim does not report the reason.
            _ if result.outcome == TestOutcome::Unsupported && result.error.is_empty() => (
                None,
                "the library's interface has no way to do it".to_owned(),
            ),
            _ if result.outcome == TestOutcome::Unsupported => (None, in_words(result.line())),
            Some((category, reason)) => (Some(category), reason.to_owned()),
            None => (None, result.line()),
        };
        let group = self.0.entry((feature, outcome, category, why)).or_default();
        group.0 += usize::from(expects == Some(Expects::Success));
        group.1.push(name.to_owned());
    }

    /// Sorts the groups: defects first, then unexplained failures, then missing features and
    /// different errors; the largest group of each first.
    fn sorted(self) -> Vec<DifferenceGroup> {
        let mut groups: Vec<_> = self
            .0
            .into_iter()
            .map(
                |((feature, outcome, category, why), (expect_success, tests))| DifferenceGroup {
                    feature: feature.to_owned(),
                    outcome,
                    category,
                    why,
                    expect_success,
                    tests,
                },
            )
            .collect();
        groups.sort_by_key(|group| (weight(group), Reverse(group.tests.len())));
        groups
    }
}

/// Returns the place of a group's kind in the order.
fn weight(group: &DifferenceGroup) -> u8 {
    match (group.outcome, group.category) {
        (_, Some(Category::Defect)) => 0,
        (TestOutcome::Failed, None) => 1,
        (_, Some(Category::Choice)) => 2,
        (_, Some(Category::Missing)) | (TestOutcome::Unsupported, None) => 3,
        (_, Some(Category::Wording)) => 4,
        (_, Some(Category::Boringssl | Category::Chance | Category::Runner))
        | (TestOutcome::Passed, None) => 5,
    }
}
