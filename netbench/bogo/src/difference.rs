use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Catalog, Category, Expects, Features, Outcome, coverage::Column};

/// What one stack passes and another does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// One shim.
    pub first: String,
    /// The other.
    pub second: String,
    /// Tests that both pass, the floor left out.
    pub both: usize,
    /// Tests that neither passes.
    pub neither: usize,
    /// What only the first passes, and why the second does not.
    pub only_first: Vec<DifferenceGroup>,
    /// What only the second passes, and why the first does not.
    pub only_second: Vec<DifferenceGroup>,
}

/// Tests of one feature that one stack does not pass, all for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceGroup {
    /// The feature.
    pub feature: String,
    /// Whether the stack failed, or has no way to do it.
    pub outcome: Outcome,
    /// What kind of reason it is, where the shim's configuration gives one.
    pub category: Option<Category>,
    /// The reason, or the runner's words in one line.
    pub why: String,
    /// How many of the tests expect success.
    pub expect_success: usize,
    /// The tests.
    pub tests: Vec<String>,
}

impl Difference {
    /// Between two shims. `only` keeps one feature.
    pub fn between(
        catalog: &Catalog,
        first: (&str, &crate::ShimConfig, &crate::Results),
        second: (&str, &crate::ShimConfig, &crate::Results),
        only: Option<&str>,
    ) -> Self {
        let mut difference = Self {
            first: first.0.to_owned(),
            second: second.0.to_owned(),
            both: 0,
            neither: 0,
            only_first: Vec::new(),
            only_second: Vec::new(),
        };
        let (mut lacks_first, mut lacks_second) = (Groups::default(), Groups::default());
        for (name, one) in &first.2.tests {
            let expects = catalog.expects(name);
            let (Some(other), Some(Expects::Success | Expects::Failure)) =
                (second.2.tests.get(name), expects)
            else {
                continue;
            };
            let feature = Features::all().first_of(name);
            if only.is_some_and(|only| only != feature) {
                continue;
            }
            match (
                one.outcome == Outcome::Passed,
                other.outcome == Outcome::Passed,
            ) {
                (true, true) => difference.both += 1,
                (false, false) => difference.neither += 1,
                (true, false) => lacks_second.add(feature, name, expects, second),
                (false, true) => lacks_first.add(feature, name, expects, first),
            }
        }
        difference.only_first = lacks_second.sorted();
        difference.only_second = lacks_first.sorted();
        difference
    }
}

/// Feature, outcome, category, reason; and then how many expect success, and the tests.
type Key = (&'static str, Outcome, Option<Category>, String);

#[derive(Default)]
struct Groups(BTreeMap<Key, (usize, Vec<String>)>);

impl Groups {
    fn add(
        &mut self,
        feature: &'static str,
        name: &str,
        expects: Option<Expects>,
        (_, config, results): Column<'_>,
    ) {
        let Some(result) = results.tests.get(name) else {
            return;
        };
        let outcome = crate::coverage::counted(config, name, result.outcome);
        let (category, why) = match config.reason(name) {
            _ if result.outcome == Outcome::Unsupported => (
                None,
                "the library's interface has no way to do it".to_owned(),
            ),
            Some((category, reason)) => (Some(category), reason.to_owned()),
            None => (None, result.line()),
        };
        let group = self.0.entry((feature, outcome, category, why)).or_default();
        group.0 += usize::from(expects == Some(Expects::Success));
        group.1.push(name.to_owned());
    }

    /// Defects first, then what is unexplained, then what is missing or worded otherwise; the
    /// largest group of each first.
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
        let weight = |group: &DifferenceGroup| match (group.outcome, group.category) {
            (_, Some(Category::Defect)) => 0,
            (Outcome::Failed, None) => 1,
            (_, Some(Category::Choice)) => 2,
            (_, Some(Category::Missing)) | (Outcome::Unsupported, None) => 3,
            (_, Some(Category::Wording)) => 4,
            (_, Some(Category::Boringssl | Category::Chance | Category::Runner))
            | (Outcome::Passed, None) => 5,
        };
        groups.sort_by_key(|group| (weight(group), std::cmp::Reverse(group.tests.len())));
        groups
    }
}
