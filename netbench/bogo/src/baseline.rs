use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{BogoError, Catalog, Category, Outcome, Results, RunnerId, ShimConfig, TestResult};

/// The outcome of every test of one shim, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The runner's package, version and checksum.
    pub runner: String,
    /// By the test's name.
    pub tests: BTreeMap<String, KeptTest>,
}

/// One test, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTest {
    /// How it went.
    pub outcome: Outcome,
    /// The runner's words in one line, where it failed; empty otherwise.
    pub line: String,
}

/// How results depart from what is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Departure {
    /// A test passed, and no longer does.
    NoLongerPasses {
        /// The shim.
        shim: String,
        /// The test.
        test: String,
        /// How it went now.
        now: Outcome,
        /// The runner's words in one line.
        line: String,
    },
    /// A test is known not to pass, and passes.
    DisabledTestPasses {
        /// The shim.
        shim: String,
        /// The test.
        test: String,
        /// Why it was known not to.
        reason: String,
    },
    /// A pattern of the shim's configuration matches no test of the runner.
    IdlePattern {
        /// The shim.
        shim: String,
        /// The pattern.
        pattern: String,
    },
    /// What is kept is of another runner.
    OtherRunner {
        /// The shim.
        shim: String,
        /// The runner of what is kept.
        kept: String,
    },
}

const HEADER: &str = "# runner: ";

impl Baseline {
    /// From results.
    pub fn of(runner: &RunnerId, results: &Results) -> Self {
        let tests = results.tests.iter().map(|(name, test)| {
            let outcome = test.outcome;
            let line = test.line().escape_debug().to_string();
            (name.clone(), KeptTest { outcome, line })
        });
        Self {
            runner: words(runner),
            tests: tests.collect(),
        }
    }

    /// Which runner that was.
    pub fn runner_id(&self) -> Option<RunnerId> {
        let mut words = self.runner.split(' ').map(str::to_owned);
        let id = RunnerId {
            package: words.next()?,
            version: words.next()?,
            checksum: words.next()?,
        };
        words.next().is_none().then_some(id)
    }

    /// What is kept, as results from which coverage and differences can be made again.
    pub fn results(&self) -> Results {
        let test = |(name, kept): (&String, &KeptTest)| {
            let result = TestResult {
                outcome: kept.outcome,
                error: kept.line.clone(),
            };
            (name.clone(), result)
        };
        Results {
            tests: self.tests.iter().map(test).collect(),
        }
    }

    /// As text: a line for the runner, then a line a test.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}{}\n", self.runner);
        for (name, KeptTest { outcome, line }) in &self.tests {
            // Writing to a string does not fail.
            let _written = match line.as_str() {
                "" => writeln!(text, "{name}\t{}", outcome.name()),
                line => writeln!(text, "{name}\t{}\t{line}", outcome.name()),
            };
        }
        text
    }

    /// Reads what was kept.
    ///
    /// # Errors
    /// When it is not there, or not in that form.
    pub fn read(path: &Path) -> Result<Self, BogoError> {
        let text = fs::read_to_string(path).map_err(BogoError::io(path))?;
        Self::parse(&text).map_err(|why| BogoError::bad(path, why))
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
        let mut tests = BTreeMap::new();
        for (number, line) in lines.enumerate() {
            let outcome = |word: &str| {
                let all = [Outcome::Passed, Outcome::Failed, Outcome::Unsupported];
                all.into_iter().find(|outcome| outcome.name() == word)
            };
            let parsed = line.split_once('\t').and_then(|(name, rest)| {
                let (word, line) = rest.split_once('\t').unwrap_or((rest, ""));
                let outcome = outcome(word)?;
                let line = line.to_owned();
                Some((name, KeptTest { outcome, line }))
            });
            let (name, test) = parsed
                .ok_or_else(|| format!("line {}: expected a test and its outcome", number + 2))?;
            tests.insert(name.to_owned(), test);
        }
        Ok(Self { runner, tests })
    }

    /// What has become worse since, and what the configuration says that is no longer so.
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
                kept: self.runner.clone(),
            }];
        }
        let mut departures = Vec::new();
        for (name, test) in &results.tests {
            let reason = config.reason(name);
            if matches!(reason, Some((Category::Chance, _))) {
                continue;
            }
            let before = self.tests.get(name).map(|kept| kept.outcome);
            if before == Some(Outcome::Passed) && test.outcome != Outcome::Passed {
                departures.push(Departure::NoLongerPasses {
                    shim: shim.clone(),
                    test: name.clone(),
                    now: test.outcome,
                    line: test.line(),
                });
            }
            if let (Outcome::Passed, Some((_, reason))) = (test.outcome, reason) {
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
