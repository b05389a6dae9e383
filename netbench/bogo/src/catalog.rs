use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use netbench_model::coverage::{Protocol, Role, TestOutcome, Transport};

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

/// What a test is about, as the runner has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Which side the library is.
    pub role: Role,
    /// The protocol and version of its name or its expectations, or else the highest that both sides permit.
    pub protocol: Option<Protocol>,
    transport: Transport,
    version: String,
    /// Flags of the shim, but for those that nearly every test has.
    pub flags: Vec<String>,
    /// The error that the runner wants of the shim, and of itself; empty where it wants success.
    pub error: String,
    /// What the runner does that a good peer would not, or not always, in the runner's own names.
    pub sends: String,
}

/// All tests of the runner, as a shim that does nothing but fail shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    tests: BTreeMap<String, (Expects, About)>,
}

impl Catalog {
    /// From the results of such a shim, taken without regard to its error's words: what it passes is the
    /// floor, and where its failure was not expected, the test expects success. `facts` is what the runner wrote
    /// down of each test meanwhile.
    ///
    /// # Errors
    /// When there is no fact of a test, or one is not in its form.
    pub fn from_null_shim(results: &Results, facts: &str) -> Result<Self, BogoError> {
        let expects = |result: &TestResult| match result.outcome {
            TestOutcome::Passed => Expects::NothingProved,
            _ if result.error.starts_with("unexpected failure") => Expects::Success,
            _ => Expects::Failure,
        };
        let wrong = |why| BogoError::bad("the runner's facts", why);
        let mut about = BTreeMap::new();
        for line in facts.lines() {
            let (name, rest) = line.split_once('\t').unwrap_or((line, ""));
            let fact = About::parse(rest).ok_or_else(|| wrong(format!("of {name:?}: {rest:?}")))?;
            about.insert(name, fact);
        }
        let test = |(name, result): (&String, &TestResult)| {
            let about = about.remove(name.as_str());
            let about = about.ok_or_else(|| wrong(format!("there are none of {name:?}")))?;
            Ok((name.clone(), (expects(result), about)))
        };
        Ok(Self {
            tests: results.tests.iter().map(test).collect::<Result<_, _>>()?,
        })
    }

    /// As text, a line a test.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, (expects, about)) in &self.tests {
            // Writing to a string does not fail.
            let _written = writeln!(text, "{name}\t{}\t{}", expects.name(), about.to_text());
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
            let (name, rest) = line.split_once('\t')?;
            let (word, about) = rest.split_once('\t')?;
            let all = [Expects::Success, Expects::Failure, Expects::NothingProved];
            let expects = all.into_iter().find(|expects| expects.name() == word)?;
            Some((name.to_owned(), (expects, About::parse(about)?)))
        };
        let mut tests = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let (name, test) = parse(line).ok_or_else(|| {
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

    /// The names of all tests, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tests.keys().map(String::as_str)
    }

    /// What a test expects; none where there is no such test.
    pub fn expects(&self, test: &str) -> Option<Expects> {
        self.tests.get(test).map(|(expects, _)| *expects)
    }

    /// What a test is about; none where there is no such test.
    pub fn about(&self, test: &str) -> Option<&About> {
        self.tests.get(test).map(|(_, about)| about)
    }

    /// All tests, in order, with what they expect and are about.
    pub fn tests(&self) -> impl Iterator<Item = (&str, Expects, &About)> {
        let tests = self.tests.iter();
        tests.map(|(name, (expects, about))| (name.as_str(), *expects, about))
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
            .filter(|(expects, _)| *expects == Expects::NothingProved)
            .count()
    }
}

impl About {
    /// From the columns of the runner's facts after the name.
    fn parse(text: &str) -> Option<Self> {
        let [role, transport, version, flags, error, sends] =
            <[&str; 6]>::try_from(text.split('\t').collect::<Vec<_>>()).ok()?;
        let transport: Transport = transport.parse().ok()?;
        Some(Self {
            role: role.parse().ok()?,
            protocol: Protocol::of(transport, version),
            transport,
            version: version.to_owned(),
            flags: flags
                .split(' ')
                .filter(|f| !f.is_empty())
                .map(str::to_owned)
                .collect(),
            error: error.to_owned(),
            sends: sends.to_owned(),
        })
    }

    fn to_text(&self) -> String {
        let Self {
            role,
            transport,
            version,
            flags,
            error,
            sends,
            ..
        } = self;
        let (role, transport, flags) = (role.name(), transport.name(), flags.join(" "));
        format!("{role}\t{transport}\t{version}\t{flags}\t{error}\t{sends}")
    }
}
