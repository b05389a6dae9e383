use std::{collections::BTreeMap, fs, path::Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{BogoError, Catalog, glob_matches};

/// A shim's configuration, in the form that the runner reads.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ShimConfig {
    /// Why tests are known not to pass, by patterns of their names. A reason is a [`Category`], a colon
    /// and words.
    #[serde(default)]
    pub disabled_tests: BTreeMap<String, String>,
    /// The library's errors for BoringSSL's.
    #[serde(default)]
    pub error_map: BTreeMap<String, Vec<String>>,
    /// Tickets that the library sends before its half-RTT data.
    #[serde(default, rename = "HalfRTTTickets")]
    pub half_rtt_tickets: Option<u32>,
    /// Records that the library acknowledges at once (DTLS 1.3).
    #[serde(default, rename = "MaxACKBuffer")]
    pub max_ack_buffer: Option<u32>,
    /// Patterns of tests that pass, whatever is disabled: of [`ShimConfig::except`], and unknown to the runner.
    #[serde(skip)]
    pub passing_tests: Vec<String>,
}

/// What differs for a stack that shares the configuration of another, such as one library on other
/// cryptography.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Exceptions {
    #[serde(default)]
    disabled_tests: BTreeMap<String, String>,
    #[serde(default)]
    passing_tests: Vec<String>,
}

/// What kind of reason a test has not to pass.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The library has no such feature, and no flag tells the shim that the test needs it: counts as
    /// unsupported.
    Missing,
    /// The library does what it should not, or the other way round.
    Defect,
    /// The library decides otherwise, and may.
    Choice,
    /// The library refuses as it must, with another alert or error.
    Wording,
    /// The test is about BoringSSL itself: its defaults, its limits, its interface.
    Boringssl,
    /// The test passes or fails by chance: it shuffles what it sends.
    Chance,
    /// The runner itself dies of what the library does, so that the test is not run: counts as unsupported.
    Runner,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Missing,
        Self::Defect,
        Self::Choice,
        Self::Wording,
        Self::Boringssl,
        Self::Chance,
        Self::Runner,
    ];

    /// The word that begins a reason.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Defect => "defect",
            Self::Choice => "choice",
            Self::Wording => "wording",
            Self::Boringssl => "boringssl",
            Self::Chance => "chance",
            Self::Runner => "runner",
        }
    }
}

impl ShimConfig {
    /// Reads a configuration.
    ///
    /// # Errors
    /// When it is not in the runner's form, or a reason has no category.
    pub fn read(path: &Path) -> Result<Self, BogoError> {
        let config: Self = parsed(path)?;
        check(&config.disabled_tests, path)?;
        Ok(config)
    }

    /// The configuration but for what a file excepts: `DisabledTests` that come to these, and patterns of
    /// `PassingTests`, which these are wrong about.
    ///
    /// # Errors
    /// As for [`ShimConfig::read`].
    pub fn except(mut self, path: &Path) -> Result<Self, BogoError> {
        let exceptions: Exceptions = parsed(path)?;
        check(&exceptions.disabled_tests, path)?;
        self.disabled_tests.extend(exceptions.disabled_tests);
        self.passing_tests.extend(exceptions.passing_tests);
        Ok(self)
    }

    /// All of it that changes how tests go, as text that is equal where it is.
    pub fn effect(&self) -> String {
        let fatal: Vec<_> = self.fatal_patterns().collect();
        let rest = (&self.error_map, self.half_rtt_tickets, self.max_ack_buffer);
        format!("{fatal:?} {rest:?}")
    }

    /// Why a test is known not to pass.
    pub fn reason(&self, test: &str) -> Option<(Category, &str)> {
        let mut passing = self.passing_tests.iter();
        if passing.any(|pattern| glob_matches(pattern, test)) {
            return None;
        }
        let mut disabled = self.disabled_tests.iter();
        let (_, reason) = disabled.find(|(pattern, _)| glob_matches(pattern, test))?;
        parse(reason)
    }

    /// Patterns of the tests that must not be run, because the runner dies of them.
    pub fn fatal_patterns(&self) -> impl Iterator<Item = &str> {
        let fatal = |reason: &str| matches!(parse(reason), Some((Category::Runner, _)));
        let disabled = self.disabled_tests.iter();
        disabled
            .filter(move |(_, reason)| fatal(reason))
            .map(|(pattern, _)| pattern.as_str())
    }

    /// Patterns that no test of the runner matches, which are mistakes or out of date.
    pub fn idle_patterns(&self, catalog: &Catalog) -> Vec<&str> {
        let idle = |pattern: &&String| !catalog.names().any(|name| glob_matches(pattern, name));
        self.disabled_tests
            .keys()
            .chain(&self.passing_tests)
            .filter(idle)
            .map(String::as_str)
            .collect()
    }
}

fn parsed<T: DeserializeOwned>(path: &Path) -> Result<T, BogoError> {
    let text = fs::read_to_string(path).map_err(BogoError::io(path))?;
    serde_json::from_str(&text).map_err(|e| BogoError::bad(path, e))
}

fn check(reasons: &BTreeMap<String, String>, path: &Path) -> Result<(), BogoError> {
    let without = reasons.iter().find(|(_, reason)| parse(reason).is_none());
    let Some((pattern, _)) = without else {
        return Ok(());
    };
    let names = Category::ALL.map(Category::name).join(", ");
    let why = format!("the reason of {pattern} does not begin with one of {names} and a colon");
    Err(BogoError::bad(path, why))
}

fn parse(reason: &str) -> Option<(Category, &str)> {
    let (word, words) = reason.split_once(':')?;
    let category = Category::ALL
        .into_iter()
        .find(|category| category.name() == word)?;
    Some((category, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_begin_with_a_category() {
        assert_eq!(
            parse("missing: TLS 1.0"),
            Some((Category::Missing, "TLS 1.0"))
        );
        assert_eq!(parse("TLS 1.0"), None);
        assert_eq!(parse("because: no"), None);
    }

    #[test]
    fn a_broken_configuration_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shim.json");
        for text in [
            "",
            "{",
            r#"{"Disabled": {}}"#,
            r#"{"DisabledTests": {"A*": "no category"}}"#,
        ] {
            fs::write(&path, text).unwrap();
            let errors = [ShimConfig::read(&path), ShimConfig::default().except(&path)];
            for error in errors {
                let error = error.unwrap_err().to_string();
                assert!(error.contains("shim.json"), "{error}");
            }
        }
    }

    #[test]
    fn exceptions_add_reasons_and_take_others_away() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let shared = write(
            "shared.json",
            r#"{"DisabledTests": {"*-Verify-*": "choice: a"}}"#,
        );
        let other = write(
            "other.json",
            r#"{"DisabledTests": {"Hybrid*": "missing: b"}, "PassingTests": ["*-ML-*"]}"#,
        );
        let config = ShimConfig::read(&shared).unwrap().except(&other).unwrap();
        assert_eq!(config.reason("C-Verify-RSA"), Some((Category::Choice, "a")));
        assert_eq!(config.reason("Hybrid"), Some((Category::Missing, "b")));
        assert_eq!(config.reason("C-Verify-ML-44"), None);
        assert!(
            ShimConfig::read(&other).is_err(),
            "the runner would refuse it"
        );
    }
}
