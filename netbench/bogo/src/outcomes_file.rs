use std::{collections::BTreeMap, fmt::Write};

use netbench_model::coverage::TestOutcome;

use crate::{Baseline, TestResult, capability::UNSUPPORTED};

/// A file of stored outcomes: those of all tests, or those that differ from another shim's.
///
/// A version of a shim has nearly the outcomes of its library's other versions. Stored as differences, a column takes a
/// few kilobytes instead of 700.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutcomesFile {
    /// The runner's package, version and checksum.
    pub(crate) runner: String,
    /// The library's version, where the shim is not built from a source that fixes it.
    pub(crate) library: Option<String>,
    /// The outcomes from which these differ, or `None` if the file has all tests.
    pub(crate) base: Option<Base>,
    /// The tests by name; `None` for a test of the base that this shim does not have.
    pub(crate) tests: BTreeMap<String, Option<TestResult>>,
}

/// The outcomes that a file of differences adds to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// The other shim.
    pub(crate) shim: String,
    /// The checksum of all outcomes that the base and the differences make. It differs if the base was changed, or if a
    /// line was lost.
    pub(crate) checksum: String,
}

const HEADER: &str = "# runner: ";
const LIBRARY: &str = "# library: ";
const BASE: &str = "# differences from: ";

/// The word in place of an outcome for a test of the base that the shim does not have.
const ABSENT: &str = "absent";

/// Formats these outcomes of a baseline, `None` for a test of the base that it lacks: a line for the runner, one for the
/// library where its version is known, one for the base, then a line per test.
pub(crate) fn to_text(
    of: &Baseline,
    base: Option<Base>,
    tests: BTreeMap<&String, Option<&TestResult>>,
) -> String {
    let mut text = format!("{HEADER}{}\n", of.runner);
    if let Some(library) = &of.library {
        text.push_str(&format!("{LIBRARY}{library}\n"));
    }
    if let Some(Base { shim, checksum }) = base {
        text.push_str(&format!("{BASE}{shim} {checksum}\n"));
    }
    for (name, test) in tests {
        let (word, line) = match test {
            None => (ABSENT, ""),
            Some(TestResult { outcome, error }) => (outcome.name(), shortened(*outcome, error)),
        };
        // Writing to a string does not fail.
        let _written = match line {
            "" => writeln!(text, "{name}\t{word}"),
            line => writeln!(text, "{name}\t{word}\t{line}"),
        };
    }
    text
}

impl OutcomesFile {
    /// Parses a file in the format of [`to_text`]; returns the reason if it has another one.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().zip(1..).peekable();
        let first = lines.next().and_then(|(line, _)| line.strip_prefix(HEADER));
        let runner = first
            .ok_or("the first line does not name the runner")?
            .to_owned();
        if !text.ends_with('\n') {
            return Err("it was cut short: the last line has no end".to_owned());
        }
        let library = lines.next_if(|(line, _)| line.starts_with(LIBRARY));
        let library = library.and_then(|(line, _)| line.strip_prefix(LIBRARY));
        let base = lines.next_if(|(line, _)| line.starts_with(BASE));
        let base = base.map(|(line, number)| {
            let words = line
                .strip_prefix(BASE)
                .and_then(|words| words.split_once(' '));
            words.ok_or_else(|| format!("line {number}: expected a shim and a checksum"))
        });
        let base = base.transpose()?.map(|(shim, checksum)| Base {
            shim: shim.to_owned(),
            checksum: checksum.to_owned(),
        });
        let mut tests = BTreeMap::new();
        for (line, number) in lines {
            let (name, test) = test_of(line, base.as_ref())
                .ok_or_else(|| format!("line {number}: expected a test and its outcome"))?;
            if tests.insert(name.to_owned(), test).is_some() {
                let name = name.escape_debug();
                return Err(format!("line {number}: {name} is there twice"));
            }
        }
        Ok(Self {
            runner,
            library: library.map(str::to_owned),
            base,
            tests,
        })
    }
}

/// Parses the line of a test.
fn test_of<'a>(line: &'a str, base: Option<&Base>) -> Option<(&'a str, Option<TestResult>)> {
    let (name, rest) = line.split_once('\t')?;
    if base.is_some() && rest == ABSENT {
        return Some((name, None));
    }
    let (word, line) = rest.split_once('\t').unwrap_or((rest, ""));
    let outcome = word.parse().ok()?;
    let error = lengthened(outcome, line);
    Some((name, Some(TestResult { outcome, error })))
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
