use std::{collections::BTreeMap, fs, path::Path};

use netbench_model::coverage::Category;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{BogoError, Catalog, TestPatterns};

/// A shim's configuration: the runner's file, and the exceptions of a stack that shares it.
#[derive(Debug, Clone, Default)]
pub struct ShimConfig {
    /// Patterns of the tests that are known to fail, with the reason of each.
    disabled: TestPatterns,
    reasons: Vec<Reason>,
    /// Tests that pass although they are disabled; the runner does not have this list.
    passing: TestPatterns,
    /// Tests that must not be run, because the runner crashes.
    fatal: TestPatterns,
    /// The rest of the configuration that changes outcomes, as text.
    rest: String,
}

/// The reason for a known failure: in the file, a [`Category`], a colon and words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Reason {
    category: Category,
    words: String,
}

/// The configuration file, in the runner's format.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct ConfigFile {
    #[serde(default)]
    disabled_tests: BTreeMap<String, Reason>,
    /// The library's errors for each of BoringSSL's.
    #[serde(default)]
    error_map: BTreeMap<String, Vec<String>>,
    /// Number of tickets that the library sends before its half-RTT data.
    #[serde(default, rename = "HalfRTTTickets")]
    half_rtt_tickets: Option<u32>,
    /// Number of records that the library acknowledges at once (DTLS 1.3).
    #[serde(default, rename = "MaxACKBuffer")]
    max_ack_buffer: Option<u32>,
}

/// The exceptions of a stack that shares the configuration of another, such as one library with other
/// cryptography.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct ExceptionsFile {
    #[serde(default)]
    disabled_tests: BTreeMap<String, Reason>,
    #[serde(default)]
    passing_tests: Vec<String>,
}

impl ShimConfig {
    /// Reads a configuration. A file of exceptions adds `DisabledTests`, and has in `PassingTests` the tests
    /// that pass despite the configuration.
    ///
    /// # Errors
    /// Returns an error if a file has another format, a reason has no category, or a pattern is invalid.
    pub fn read(path: &Path, exceptions: Option<&Path>) -> Result<Self, BogoError> {
        let of_exceptions = exceptions.map(text_of).transpose()?;
        let exceptions = exceptions.zip(of_exceptions.as_deref());
        Self::of_texts((path, &text_of(path)?), exceptions)
    }

    /// Parses the texts of these files.
    pub(crate) fn of_texts(
        config: (&Path, &str),
        exceptions: Option<(&Path, &str)>,
    ) -> Result<Self, BogoError> {
        let exceptions = exceptions.map(parsed).transpose()?;
        Self::of(parsed(config)?, exceptions.unwrap_or_default())
    }

    fn of(mut file: ConfigFile, exceptions: ExceptionsFile) -> Result<Self, BogoError> {
        file.disabled_tests.extend(exceptions.disabled_tests);
        let fatal = file.disabled_tests.iter();
        let fatal = fatal.filter(|(_, reason)| reason.category == Category::Runner);
        let fatal = TestPatterns::new(fatal.map(|(pattern, _)| pattern))?;
        let rest = (&file.error_map, file.half_rtt_tickets, file.max_ack_buffer);
        let rest = format!("{rest:?}");
        let (disabled, reasons): (Vec<_>, _) = file.disabled_tests.into_iter().unzip();
        Ok(Self {
            disabled: TestPatterns::new(disabled)?,
            reasons,
            passing: TestPatterns::new(exceptions.passing_tests)?,
            fatal,
            rest,
        })
    }

    /// Returns a text that is the same for two configurations under which tests have the same outcomes,
    /// whatever their reasons.
    pub fn effect(&self) -> String {
        let fatal: Vec<_> = self.fatal.iter().collect();
        format!("{fatal:?} {}", self.rest)
    }

    /// Returns the reason for a test's known failure.
    pub fn reason(&self, test: &str) -> Option<(Category, &str)> {
        if self.passing.matches(test) {
            return None;
        }
        let reason = &self.reasons[self.disabled.first_match(test)?];
        Some((reason.category, &reason.words))
    }

    /// Returns the pattern whose reason a test has.
    pub fn pattern(&self, test: &str) -> Option<&str> {
        self.reason(test)?;
        self.disabled.iter().nth(self.disabled.first_match(test)?)
    }

    /// Returns the tests that must not be run, because the runner crashes.
    pub fn fatal(&self) -> &TestPatterns {
        &self.fatal
    }

    /// Returns the patterns that match no test of the runner, which are mistakes or out of date.
    pub fn idle_patterns(&self, catalog: &Catalog) -> Vec<&str> {
        let mut idle = self.disabled.unmatched(catalog.names());
        idle.extend(self.passing.unmatched(catalog.names()));
        idle
    }
}

impl TryFrom<String> for Reason {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(word, words)| {
            let category = word.parse().ok()?;
            let words = words.trim().to_owned();
            Some(Self { category, words })
        });
        parsed.ok_or_else(|| {
            let names = Category::ALL
                .iter()
                .map(|c| c.name())
                .collect::<Vec<_>>()
                .join(", ");
            format!("the reason {text:?} does not begin with one of {names} and a colon")
        })
    }
}

fn text_of(path: &Path) -> Result<String, BogoError> {
    fs::read_to_string(path).map_err(BogoError::io(path))
}

fn parsed<T: DeserializeOwned>((path, text): (&Path, &str)) -> Result<T, BogoError> {
    serde_json::from_str(text).map_err(|e| BogoError::bad(path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> Option<(Category, String)> {
        let reason = Reason::try_from(text.to_owned()).ok()?;
        Some((reason.category, reason.words))
    }

    #[test]
    fn reasons_begin_with_a_category() {
        assert_eq!(
            reason("missing: TLS 1.0"),
            Some((Category::Missing, "TLS 1.0".to_owned()))
        );
        assert_eq!(reason("TLS 1.0"), None);
        assert_eq!(reason("because: no"), None);
    }

    #[test]
    fn a_broken_configuration_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole.json");
        fs::write(&whole, "{}").unwrap();
        let path = folder.path().join("shim.json");
        for text in [
            "",
            "{",
            r#"{"Disabled": {}}"#,
            r#"{"DisabledTests": {"A*": "no category"}}"#,
        ] {
            fs::write(&path, text).unwrap();
            let errors = [
                ShimConfig::read(&path, None),
                ShimConfig::read(&whole, Some(&path)),
            ];
            for error in errors {
                let error = error.unwrap_err().to_string();
                assert!(error.contains("shim.json"), "{error}");
            }
        }
        fs::write(&path, r#"{"DisabledTests": {"A[": "missing: a"}}"#).unwrap();
        let error = ShimConfig::read(&path, None).unwrap_err().to_string();
        assert!(error.contains("\"A[\""), "{error}");
    }

    #[test]
    fn exceptions_add_reasons_and_take_others_away() {
        let folder = tempfile::tempdir().unwrap();
        let [shared, other] = ["shared.json", "other.json"].map(|name| folder.path().join(name));
        let text = r#"{"DisabledTests": {"*-Verify-*": "choice: a"}}"#;
        fs::write(&shared, text).unwrap();
        let text = r#"{"DisabledTests": {"Hybrid*": "missing: b"}, "PassingTests": ["*-ML-*"]}"#;
        fs::write(&other, text).unwrap();
        let config = ShimConfig::read(&shared, Some(&other)).unwrap();
        assert_eq!(config.reason("C-Verify-RSA"), Some((Category::Choice, "a")));
        assert_eq!(config.reason("Hybrid"), Some((Category::Missing, "b")));
        assert_eq!(config.reason("C-Verify-ML-44"), None);
        assert!(
            ShimConfig::read(&other, None).is_err(),
            "the runner would refuse it"
        );
    }

    #[test]
    fn what_the_runner_crashes_of_changes_the_effect_and_other_reasons_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shim.json");
        let [none, missing, fatal, tickets] = [
            "{}",
            r#"{"DisabledTests": {"A*": "missing: a"}}"#,
            r#"{"DisabledTests": {"A*": "runner: a"}}"#,
            r#"{"HalfRTTTickets": 1}"#,
        ]
        .map(|text| {
            fs::write(&path, text).unwrap();
            ShimConfig::read(&path, None).unwrap()
        });
        assert_eq!(none.effect(), missing.effect());
        assert_ne!(none.effect(), fatal.effect());
        assert!(fatal.fatal().matches("ALPN") && !missing.fatal().matches("ALPN"));
        assert_ne!(none.effect(), tickets.effect());
    }
}
