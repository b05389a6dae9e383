use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use netbench_model::{
    coverage::{Protocol, Role, TestOutcome},
    tls::named::labels,
};

use crate::{BogoError, Results, TestResult};

labels!(
    /// A test's expectation of the library.
    Expects, {
        /// The connection works.
        Success = "success",
        /// The library refuses a message or a parameter.
        Failure = "failure",
        /// The library refuses, and a shim that does nothing looks the same to the runner.
        NothingProved = "nothing-proved",
    }
);

impl Expects {
    /// Returns the expectation of a test with this result of a shim that only fails.
    fn of_null_shim(result: &TestResult) -> Self {
        match result.outcome {
            TestOutcome::Passed => Self::NothingProved,
            _ if result.error.starts_with("unexpected failure") => Self::Success,
            _ => Self::Failure,
        }
    }
}

/// The subject of a test, according to the runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The role of the library.
    pub role: Role,
    /// The protocol and version of the test's name or expectations, or the highest that both sides permit.
    pub protocol: Option<Protocol>,
    /// The shim's flags, except those that nearly every test has.
    pub flags: Vec<String>,
    /// The error that the runner expects of the shim, and of itself; empty where it expects success.
    pub error: String,
    /// The deviations of the runner from a correct peer, or its optional behaviour, under the runner's names.
    pub sends: String,
    /// The columns of the runner's facts.
    columns: String,
}

/// All tests of the runner, derived from a shim that only fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    tests: BTreeMap<String, (Expects, About)>,
}

impl Catalog {
    /// Makes the catalog from the results of such a shim, without comparing its error messages: the tests
    /// that it passes are the floor, and where its failure was not expected, the test expects success.
    /// `facts` is the runner's record of each test in the same run.
    ///
    /// # Errors
    /// Returns an error if a test has no fact, or a fact has another format.
    pub fn from_null_shim(results: &Results, facts: &str) -> Result<Self, BogoError> {
        const FACTS: &str = "the runner's facts";
        let mut about = BTreeMap::new();
        for line in facts.lines() {
            let (name, rest) = line.split_once('\t').unwrap_or((line, ""));
            let fact = About::parse(rest);
            let fact =
                fact.ok_or_else(|| BogoError::bad(FACTS, format!("of {name:?}: {rest:?}")))?;
            about.insert(name, fact);
        }
        let mut tests = BTreeMap::new();
        for (name, result) in &results.tests {
            let about = about
                .remove(name.as_str())
                .ok_or_else(|| BogoError::bad(FACTS, format!("there are none of {name:?}")))?;
            tests.insert(name.clone(), (Expects::of_null_shim(result), about));
        }
        Ok(Self { tests })
    }

    /// Formats the catalog, a line per test.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, (expects, about)) in &self.tests {
            // Writing to a string does not fail.
            let _written = writeln!(text, "{name}\t{}\t{}", expects.name(), about.columns);
        }
        text
    }

    /// Reads a file in the format of [`Self::to_text`].
    ///
    /// # Errors
    /// Returns an error if the file does not exist, or has another format.
    pub fn read(path: &Path) -> Result<Self, BogoError> {
        let text = fs::read_to_string(path).map_err(BogoError::io(path))?;
        Self::of_text(path, &text)
    }

    /// Parses the text of the file `path`.
    pub(crate) fn of_text(path: &Path, text: &str) -> Result<Self, BogoError> {
        let mut tests = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let (name, test) = parse_test(line).ok_or_else(|| {
                let why = format!(
                    "line {}: expected a test, what it expects and what it is about",
                    number + 1
                );
                BogoError::bad(path, why)
            })?;
            tests.insert(name, test);
        }
        if tests.is_empty() || !text.ends_with('\n') {
            return Err(BogoError::bad(path, "it was cut short"));
        }
        Ok(Self { tests })
    }

    /// Returns the names of all tests, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tests.keys().map(String::as_str)
    }

    /// Returns a test's expectation, or `None` where there is no such test.
    pub fn expects(&self, test: &str) -> Option<Expects> {
        self.tests.get(test).map(|(expects, _)| *expects)
    }

    /// Returns the subject of a test, or `None` where there is no such test.
    pub fn about(&self, test: &str) -> Option<&About> {
        self.tests.get(test).map(|(_, about)| about)
    }

    /// Returns all tests, in order, with their expectations and subjects.
    pub fn tests(&self) -> impl Iterator<Item = (&str, Expects, &About)> {
        let tests = self.tests.iter();
        tests.map(|(name, (expects, about))| (name.as_str(), *expects, about))
    }

    /// Returns the number of tests.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Returns whether the catalog is empty.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Returns the number of tests that a shim passes without doing anything.
    pub fn floor(&self) -> usize {
        self.tests
            .values()
            .filter(|(expects, _)| *expects == Expects::NothingProved)
            .count()
    }
}

fn parse_test(line: &str) -> Option<(String, (Expects, About))> {
    let (name, rest) = line.split_once('\t')?;
    let (word, about) = rest.split_once('\t')?;
    let expects = Expects::ALL.iter().find(|expects| expects.name() == word)?;
    Some((name.to_owned(), (*expects, About::parse(about)?)))
}

impl About {
    /// Parses the columns of the runner's facts after the name.
    fn parse(text: &str) -> Option<Self> {
        let [role, transport, version, flags, error, sends] =
            <[&str; 6]>::try_from(text.split('\t').collect::<Vec<_>>()).ok()?;
        Some(Self {
            role: role.parse().ok()?,
            protocol: Protocol::of(transport.parse().ok()?, version),
            flags: flags
                .split(' ')
                .filter(|f| !f.is_empty())
                .map(str::to_owned)
                .collect(),
            error: error.to_owned(),
            sends: sends.to_owned(),
            columns: text.to_owned(),
        })
    }
}
