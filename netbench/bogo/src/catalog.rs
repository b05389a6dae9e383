use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use netbench_model::coverage::TestOutcome;

use crate::{BogoError, Results, TestResult};

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

impl Expects {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::NothingProved => "nothing-proved",
        }
    }
}

/// All tests of the runner, as a shim that does nothing but fail shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    tests: BTreeMap<String, Expects>,
}

impl Catalog {
    /// From the results of such a shim, taken without regard to its error's words: what it passes is the
    /// floor, and where its failure was not expected, the test expects success.
    pub fn from_null_shim(results: &Results) -> Self {
        let expects = |result: &TestResult| match result.outcome {
            TestOutcome::Passed => Expects::NothingProved,
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

    /// As text, a line a test.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, expects) in &self.tests {
            // Writing to a string does not fail.
            let _written = writeln!(text, "{name}\t{}", expects.name());
        }
        text
    }

    /// Reads what [`Self::to_text`] gave.
    ///
    /// # Errors
    /// When it is not there, or not in that form.
    pub fn read(path: &Path) -> Result<Self, BogoError> {
        let text = fs::read_to_string(path).map_err(BogoError::io(path))?;
        Self::of_text(path, &text)
    }

    /// From the text of the file `path`.
    pub(crate) fn of_text(path: &Path, text: &str) -> Result<Self, BogoError> {
        let parse = |line: &str| {
            let (name, word) = line.split_once('\t')?;
            let all = [Expects::Success, Expects::Failure, Expects::NothingProved];
            let expects = all.into_iter().find(|expects| expects.name() == word)?;
            Some((name.to_owned(), expects))
        };
        let mut tests = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let (name, expects) = parse(line).ok_or_else(|| {
                let why = format!("line {}: expected a test and what it expects", number + 1);
                BogoError::bad(path, why)
            })?;
            tests.insert(name, expects);
        }
        if tests.is_empty() || !text.ends_with('\n') {
            return Err(BogoError::bad(path, "it was cut short"));
        }
        Ok(Self { tests })
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
