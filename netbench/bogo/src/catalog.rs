use std::collections::BTreeMap;

use crate::{Outcome, Results};

/// What a test expects of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expects {
    /// That the connection works.
    Success,
    /// That the library refuses something.
    Failure,
    /// That the library refuses something, and doing nothing looks the same to the runner.
    NothingProved,
}

/// All tests of the runner, as a shim that does nothing but fail shows them.
#[derive(Debug, Clone)]
pub struct Catalog {
    tests: BTreeMap<String, Expects>,
}

impl Catalog {
    /// From the results of such a shim, taken without regard to its error's words: what it passes is the
    /// floor, and where its failure was not expected, the test expects success.
    pub fn from_null_shim(results: &Results) -> Self {
        let expects = |result: &crate::TestResult| match result.outcome {
            Outcome::Passed => Expects::NothingProved,
            _ if result.error.starts_with("unexpected failure") => Expects::Success,
            _ => Expects::Failure,
        };
        let tests = results
            .tests
            .iter()
            .map(|(name, result)| (name.clone(), expects(result)));
        Self {
            tests: tests.collect(),
        }
    }

    /// The names of all tests, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tests.keys().map(String::as_str)
    }

    /// What a test expects; none where there is no such test.
    pub fn expects(&self, test: &str) -> Option<Expects> {
        self.tests.get(test).copied()
    }

    /// How many tests there are.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// How many tests a shim passes by doing nothing.
    pub fn floor(&self) -> usize {
        self.tests
            .values()
            .filter(|expects| **expects == Expects::NothingProved)
            .count()
    }
}
