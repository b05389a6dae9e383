use std::{collections::BTreeMap, fs, path::Path};

use netbench_model::coverage::{Ending, TestOutcome};
use serde::Deserialize;

use crate::BogoError;

const CRASHED: &str = "; shim crashed: ";
const HUNG: &str = "; shim hung";

/// The maximum length of the message of the shim, and of that of the runner, in characters.
const LONGEST: usize = 300;

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// The outcome.
    pub outcome: TestOutcome,
    /// The runner's report of a failure, or the message of a shim that does not implement the test; empty
    /// otherwise.
    pub error: String,
}

impl TestResult {
    /// Returns the ending of the shim's process.
    pub fn ending(&self) -> Ending {
        match self.part("child: ").as_deref() {
            Some("signal: killed") => Ending::Hung,
            Some(child) => match child.strip_prefix("signal: ") {
                Some(signal) => Ending::Crashed(signal.to_owned()),
                None => Ending::Exited,
            },
            // A stored error is the line that [`Self::line`] makes.
            None if self.error.ends_with(HUNG) => Ending::Hung,
            None => match self.error.rsplit_once(CRASHED) {
                Some((_, signal)) => Ending::Crashed(signal.to_owned()),
                None => Ending::Exited,
            },
        }
    }

    /// Returns the runner's report in one line: the error, the shim's first line, the runner's own error.
    pub fn line(&self) -> String {
        if self.error.is_empty() {
            return String::new();
        }
        let mut line = self.error.lines().next().unwrap_or_default().to_owned();
        let after = self
            .error
            .split_once("stderr:\n")
            .map_or("", |(_, after)| after);
        let said = after.split("\tlocal:").next().unwrap_or_default();
        let said = said.lines().map(str::trim).find(|line| !line.is_empty());
        if let Some(said) = said {
            line.push_str(&format!("; shim: {}", shortened(said)));
        }
        if let Some(local) = self.part("local: ").filter(|local| local != "none") {
            line.push_str(&format!("; runner: {}", shortened(&local)));
        }
        match self.ending() {
            _ if line == self.error => {}
            Ending::Exited => {}
            Ending::Crashed(signal) => line.push_str(&format!("{CRASHED}{signal}")),
            Ending::Hung => line.push_str(HUNG),
        }
        line
    }

    /// Returns the value of a line in the part of the report with the actual results.
    fn part(&self, name: &str) -> Option<String> {
        let got = self.error.split("\nwant:").next().unwrap_or_default();
        let value = got
            .lines()
            .rev()
            .find_map(|line| line.trim_start().strip_prefix(name))?;
        let value = value.trim();
        // Go's quoting is the same as JSON's, except for characters that no error of the runner has.
        Some(serde_json::from_str(value).unwrap_or_else(|_| value.trim_matches('"').to_owned()))
    }
}

/// Returns the first [`LONGEST`] characters of a message. Some messages contain certificates, which differ in each run.
fn shortened(said: &str) -> String {
    netbench_model::sanitize_prefix(said, LONGEST)
}

/// The results of one run of one shim.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The tests by name.
    pub tests: BTreeMap<String, TestResult>,
}

#[derive(Deserialize)]
struct Raw {
    tests: BTreeMap<String, RawTest>,
}

#[derive(Deserialize)]
struct RawTest {
    actual: String,
    #[serde(default)]
    error: String,
}

impl Results {
    /// Reads the output of the runner's `-json-output`.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, is truncated, or is not the runner's.
    pub fn read(path: &Path) -> Result<Self, BogoError> {
        let bytes = fs::read(path).map_err(BogoError::io(path))?;
        let raw: Raw = serde_json::from_slice(&bytes).map_err(|error| {
            let cut = if error.is_eof() {
                "the file was cut short: "
            } else {
                ""
            };
            BogoError::bad(path, format!("not the runner's results: {cut}{error}"))
        })?;
        let mut tests = BTreeMap::new();
        for (name, test) in raw.tests {
            let outcome = match test.actual.as_str() {
                "PASS" => TestOutcome::Passed,
                "FAIL" => TestOutcome::Failed,
                "SKIP" => TestOutcome::Unsupported,
                other => {
                    let why = format!("not the runner's results: {name} is {other:?}");
                    return Err(BogoError::bad(path, why));
                }
            };
            tests.insert(
                name,
                TestResult {
                    outcome,
                    error: test.error,
                },
            );
        }
        Ok(Self { tests })
    }

    /// Adds the tests that must not be run, as failures with that reason.
    pub fn add_skipped<'a>(&mut self, tests: impl IntoIterator<Item = &'a str>) {
        for name in tests {
            let error = "not run: the runner dies of it".to_owned();
            let result = TestResult {
                outcome: TestOutcome::Failed,
                error,
            };
            self.tests.entry(name.to_owned()).or_insert(result);
        }
    }

    /// Returns the number of tests with an outcome.
    pub fn count(&self, outcome: TestOutcome) -> usize {
        self.tests
            .values()
            .filter(|test| test.outcome == outcome)
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(child: &str) -> TestResult {
        let error = format!(
            "unexpected error\ngot:\n\tstderr:\n\t\tDecryptError\n\n\tlocal: \"remote error: bad MAC\"\n\t\
             child: \"{child}\"\n\tstdout: \n\nwant:\n\tlocal: \"\"\n\tremote: \":X:\"\n"
        );
        TestResult {
            outcome: TestOutcome::Failed,
            error,
        }
    }

    #[test]
    fn a_signal_is_a_crash_and_a_kill_is_the_runners() {
        assert_eq!(failed("exit status 1").ending(), Ending::Exited);
        assert_eq!(failed("signal: killed").ending(), Ending::Hung);
        let crash = failed("signal: segmentation fault (core dumped)");
        assert_eq!(
            crash.ending(),
            Ending::Crashed("segmentation fault (core dumped)".to_owned())
        );
    }

    #[test]
    fn a_failure_in_one_line() {
        insta::assert_snapshot!(failed("exit status 1").line(), @"unexpected error; shim: DecryptError; runner: remote error: bad MAC");
        insta::assert_snapshot!(failed("signal: killed").line(), @"unexpected error; shim: DecryptError; runner: remote error: bad MAC; shim hung");
    }

    #[test]
    fn a_file_that_is_cut_short_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let whole =
            r#"{"tests": {"A": {"actual": "PASS"}, "B": {"actual": "FAIL", "error": "x"}}}"#;
        fs::write(&path, whole).unwrap();
        assert_eq!(Results::read(&path).unwrap().count(TestOutcome::Passed), 1);
        for length in [0, 1, 20, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            let error = Results::read(&path).unwrap_err().to_string();
            assert!(error.contains("cut short"), "{length}: {error}");
        }
        fs::write(&path, r#"{"tests": {"A": {"actual": "\u001b[31m"}}}"#).unwrap();
        let error = Results::read(&path).unwrap_err().to_string();
        assert!(!error.contains('\x1b'), "{error}");
    }
}
