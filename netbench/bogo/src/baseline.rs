use std::{borrow::Cow, collections::BTreeMap, fs, path::Path};

use netbench_model::coverage::{Category, RunnerId, TestOutcome};

use crate::{
    BogoError, Catalog, KnownShim, Results, ShimConfig, TestResult,
    outcomes_file::{Base, OutcomesFile, to_text},
    runner::short_hash,
};

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Departure {
    /// A test passed, and no longer does.
    #[error("{test} passed before and is {} now: {}", now.name(), line.escape_debug())]
    NoLongerPasses {
        /// The test.
        test: String,
        /// The new outcome.
        now: TestOutcome,
        /// The runner's message in one line.
        line: String,
    },
    /// A test fails that was unsupported, or that is not stored and has no reason for its failure.
    #[error(
        "{test} was {} before and fails now: {}",
        before.map_or("not stored", TestOutcome::name),
        line.escape_debug()
    )]
    NewFailure {
        /// The test.
        test: String,
        /// The earlier outcome, where it is stored.
        before: Option<TestOutcome>,
        /// The runner's message in one line.
        line: String,
    },
    /// A test is known to fail, and passes.
    #[error("{test} passes, although the configuration says that it does not: {reason}")]
    DisabledTestPasses {
        /// The test.
        test: String,
        /// The reason for its known failure.
        reason: String,
    },
    /// A pattern of the shim's configuration matches no test of the runner.
    #[error("the pattern {pattern} of the configuration matches no test of the runner")]
    IdlePattern {
        /// The pattern.
        pattern: String,
    },
    /// The baseline is of another runner.
    #[error("the stored outcomes are of another runner ({stored}); --accept stores new ones")]
    OtherRunner {
        /// The runner of the baseline.
        stored: String,
    },
}

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

    /// Formats the outcomes of all tests.
    pub fn to_text(&self) -> String {
        let tests = self.tests.iter().map(|(name, test)| (name, Some(test)));
        to_text(self, None, tests.collect())
    }

    /// Formats the outcomes that differ from those of the shim `base`.
    pub fn differences_to_text(&self, base: &str, of_base: &Self) -> String {
        let names = self.tests.keys().chain(of_base.tests.keys());
        let differing = names
            .map(|name| (name, self.tests.get(name)))
            .filter(|(name, test)| of_base.tests.get(*name) != *test);
        let base = Base {
            shim: base.to_owned(),
            checksum: self.checksum(),
        };
        to_text(self, Some(base), differing.collect())
    }

    fn checksum(&self) -> String {
        short_hash(&[&self.to_text()])
    }

    /// Reads a file in the format of [`Self::to_text`] or [`Self::differences_to_text`]; in the second case
    /// also the file of the other shim, which is in the same folder.
    ///
    /// # Errors
    /// Returns an error if a file does not exist or has another format, or if the other shim's outcomes have
    /// changed since.
    pub fn read(path: &Path) -> Result<Self, BogoError> {
        let text = fs::read_to_string(path).map_err(BogoError::io(path))?;
        Self::of_text(path, &text, |base| {
            let text = fs::read_to_string(base).map_err(BogoError::io(base))?;
            Ok(text.into())
        })
    }

    /// Parses the text of the file `path`; `read` returns the text of another file.
    pub(crate) fn of_text(
        path: &Path,
        text: &str,
        read: impl FnOnce(&Path) -> Result<Cow<'static, str>, BogoError>,
    ) -> Result<Self, BogoError> {
        let file = OutcomesFile::parse(text).map_err(|why| BogoError::bad(path, why))?;
        let line = if file.library.is_some() { 3 } else { 2 };
        let Some(Base { shim, checksum }) = &file.base else {
            return Ok(Self::whole(file));
        };
        if KnownShim::named(shim).is_none() {
            let shim = shim.escape_debug();
            return Err(BogoError::bad(
                path,
                format!("line {line}: there is no shim {shim}"),
            ));
        }
        let path_of_base = path.with_file_name(format!("{shim}.tsv"));
        let base = OutcomesFile::parse(&read(&path_of_base)?)
            .map_err(|why| BogoError::bad(&path_of_base, why))?;
        if base.base.is_some() {
            let why = format!("line {line}: {shim} has differences itself");
            return Err(BogoError::bad(path, why));
        }
        let checksum = checksum.clone();
        let all = Self::whole(OutcomesFile {
            base: None,
            tests: base.tests.into_iter().chain(file.tests).collect(),
            ..file
        });
        if all.checksum() != checksum {
            let why = format!(
                "line {line}: the outcomes are not those that were stored: a line was lost or changed, here or \
                 in {}",
                path_of_base.display()
            );
            return Err(BogoError::bad(path, why));
        }
        Ok(all)
    }

    fn whole(file: OutcomesFile) -> Self {
        let tests = file.tests.into_iter();
        Self {
            runner: file.runner,
            library: file.library,
            tests: tests
                .filter_map(|(name, test)| Some((name, test?)))
                .collect(),
        }
    }

    /// Returns the tests with worse outcomes, and the parts of the configuration that are no longer true.
    pub fn departures(
        &self,
        runner: &RunnerId,
        catalog: &Catalog,
        config: &ShimConfig,
        results: &Results,
    ) -> Vec<Departure> {
        if self.runner != words(runner) {
            return vec![Departure::OtherRunner {
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
                    test: name.clone(),
                    before,
                    line: test.line(),
                });
            }
            if let (TestOutcome::Passed, Some((_, reason))) = (test.outcome, reason) {
                departures.push(Departure::DisabledTestPasses {
                    test: name.clone(),
                    reason: reason.to_owned(),
                });
            }
        }
        let idle = config.idle_patterns(catalog).into_iter();
        departures.extend(idle.map(|pattern| Departure::IdlePattern {
            pattern: pattern.to_owned(),
        }));
        departures
    }
}

fn words(runner: &RunnerId) -> String {
    format!("{} {} {}", runner.package, runner.version, runner.checksum)
}
