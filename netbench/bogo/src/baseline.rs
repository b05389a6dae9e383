use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use netbench_model::coverage::{Category, RunnerId, TestOutcome};

use crate::{BogoError, Catalog, Results, ShimConfig, TestResult, capability::UNSUPPORTED};

/// The stored outcomes of every test of one shim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The runner's package, version and checksum.
    pub runner: String,
    /// The library's version, where the shim is not built from a source that fixes it.
    pub library: Option<String>,
    /// The tests by name, each with the runner's message in one line, where it failed.
    pub tests: BTreeMap<String, TestResult>,
}

/// A difference of results from a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Departure {
    /// A test passed, and no longer does.
    NoLongerPasses {
        /// The shim.
        shim: String,
        /// The test.
        test: String,
        /// The new outcome.
        now: TestOutcome,
        /// The runner's message in one line.
        line: String,
    },
    /// A test fails that was unsupported, or that is not stored and has no reason for its failure.
    NewFailure {
        /// The shim.
        shim: String,
        /// The test.
        test: String,
        /// The earlier outcome, where it is stored.
        before: Option<TestOutcome>,
        /// The runner's message in one line.
        line: String,
    },
    /// A test is known to fail, and passes.
    DisabledTestPasses {
        /// The shim.
        shim: String,
        /// The test.
        test: String,
        /// The reason for its known failure.
        reason: String,
    },
    /// A pattern of the shim's configuration matches no test of the runner.
    IdlePattern {
        /// The shim.
        shim: String,
        /// The pattern.
        pattern: String,
    },
    /// The baseline is of another runner.
    OtherRunner {
        /// The shim.
        shim: String,
        /// The runner of the baseline.
        stored: String,
    },
}

const HEADER: &str = "# runner: ";
const LIBRARY: &str = "# library: ";

impl Baseline {
    /// Makes a baseline of results with a library, whose version is given where the shim's source does not
    /// fix it.
    pub fn of(runner: &RunnerId, library: Option<&str>, results: &Results) -> Self {
        let tests = results.tests.iter().map(|(name, test)| {
            let stored = TestResult {
                outcome: test.outcome,
                error: netbench_model::sanitize(&test.line()),
            };
            (name.clone(), stored)
        });
        Self {
            runner: words(runner),
            library: library.map(str::to_owned),
            tests: tests.collect(),
        }
    }

    /// Returns the identity of the baseline's runner.
    pub fn runner_id(&self) -> Option<RunnerId> {
        let mut words = self.runner.split(' ').map(str::to_owned);
        let id = RunnerId {
            package: words.next()?,
            version: words.next()?,
            checksum: words.next()?,
        };
        words.next().is_none().then_some(id)
    }

    /// Returns the outcomes as results, for summaries or comparisons.
    pub fn results(&self) -> Results {
        Results {
            tests: self.tests.clone(),
        }
    }

    /// Formats the baseline: a line for the runner, one for the library where its version is known, then a
    /// line per test.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}{}\n", self.runner);
        if let Some(library) = &self.library {
            text.push_str(&format!("{LIBRARY}{library}\n"));
        }
        for (name, TestResult { outcome, error }) in &self.tests {
            let word = outcome.name();
            // Writing to a string does not fail.
            let _written = match shortened(*outcome, error) {
                "" => writeln!(text, "{name}\t{word}"),
                line => writeln!(text, "{name}\t{word}\t{line}"),
            };
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
        Self::parse(text).map_err(|why| BogoError::bad(path, why))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| line.strip_prefix(HEADER));
        let runner = first
            .ok_or("the first line does not name the runner")?
            .to_owned();
        if !text.ends_with('\n') {
            return Err("it was cut short: the last line has no end".to_owned());
        }
        let mut lines = lines.enumerate().peekable();
        let library = lines.next_if(|(_, line)| line.starts_with(LIBRARY));
        let library = library.and_then(|(_, line)| line.strip_prefix(LIBRARY));
        let mut tests = BTreeMap::new();
        for (number, line) in lines {
            let parsed = line.split_once('\t').and_then(|(name, rest)| {
                let (word, line) = rest.split_once('\t').unwrap_or((rest, ""));
                let outcome = word.parse().ok()?;
                let error = lengthened(outcome, line);
                Some((name, TestResult { outcome, error }))
            });
            let (name, test) = parsed
                .ok_or_else(|| format!("line {}: expected a test and its outcome", number + 2))?;
            tests.insert(name.to_owned(), test);
        }
        Ok(Self {
            runner,
            library: library.map(str::to_owned),
            tests,
        })
    }

    /// Returns the tests with worse outcomes, and the parts of the configuration that are no longer true.
    pub fn departures(
        &self,
        shim: &str,
        runner: &RunnerId,
        catalog: &Catalog,
        config: &ShimConfig,
        results: &Results,
    ) -> Vec<Departure> {
        let shim = shim.to_owned();
        if self.runner != words(runner) {
            return vec![Departure::OtherRunner {
                shim,
                stored: self.runner.clone(),
            }];
        }
        let mut departures = Vec::new();
        for (name, test) in &results.tests {
            let reason = config.reason(name);
            if matches!(reason, Some((Category::Chance, _))) {
                continue;
            }
            let before = self.tests.get(name).map(|stored| stored.outcome);
            if before == Some(TestOutcome::Passed) && test.outcome != TestOutcome::Passed {
                departures.push(Departure::NoLongerPasses {
                    shim: shim.clone(),
                    test: name.clone(),
                    now: test.outcome,
                    line: test.line(),
                });
            }
            let is_new = match before {
                Some(before) => before == TestOutcome::Unsupported,
                None => reason.is_none(),
            };
            if is_new && test.outcome == TestOutcome::Failed {
                departures.push(Departure::NewFailure {
                    shim: shim.clone(),
                    test: name.clone(),
                    before,
                    line: test.line(),
                });
            }
            if let (TestOutcome::Passed, Some((_, reason))) = (test.outcome, reason) {
                departures.push(Departure::DisabledTestPasses {
                    shim: shim.clone(),
                    test: name.clone(),
                    reason: reason.to_owned(),
                });
            }
        }
        for pattern in config.idle_patterns(catalog) {
            let pattern = pattern.to_owned();
            departures.push(Departure::IdlePattern {
                shim: shim.clone(),
                pattern,
            });
        }
        departures
    }
}

fn words(runner: &RunnerId) -> String {
    format!("{} {} {}", runner.package, runner.version, runner.checksum)
}
/// Returns the message of a test without the word that the outcome repeats.
fn shortened(outcome: TestOutcome, error: &str) -> &str {
    match outcome {
        TestOutcome::Unsupported => error.strip_prefix(UNSUPPORTED).unwrap_or(error),
        _ => error,
    }
}

/// Returns the message that [`shortened`] has shortened.
fn lengthened(outcome: TestOutcome, line: &str) -> String {
    match outcome {
        TestOutcome::Unsupported if !line.is_empty() => format!("{UNSUPPORTED}{line}"),
        _ => line.to_owned(),
    }
}
