use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::Tool;

pub use libtest_mimic::Failed;

/// The variable that names the tools without which tests fail: `all`, or names separated by commas.
const REQUIRE: &str = "NETBENCH_REQUIRE";

/// A test and its requirements of the machine.
pub struct Test {
    name: String,
    requirements: Vec<Requirement>,
    run: Box<dyn FnOnce() -> Result<(), Failed> + Send>,
}

struct Requirement {
    what: String,
    missing: Box<dyn Fn() -> Option<String> + Send>,
}

impl Test {
    /// Makes a test that fails by an error or by panicking.
    pub fn new(
        name: impl Into<String>,
        run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            requirements: Vec::new(),
            run: Box::new(run),
        }
    }

    /// Makes a test that fails by panicking.
    pub fn of(name: &str, run: fn()) -> Self {
        Self::new(name, move || {
            run();
            Ok(())
        })
    }

    /// Makes the test ignored where the tool is missing.
    pub fn needs(self, tool: Tool) -> Self {
        self.needs_that(tool.name(), move || tool.missing())
    }

    /// Makes the test ignored where `what` is missing. `missing` returns the reason, or `None` where
    /// `what` is present; it is called if the test is selected.
    pub fn needs_that(
        mut self,
        what: &str,
        missing: impl Fn() -> Option<String> + Send + 'static,
    ) -> Self {
        self.requirements.push(Requirement {
            what: what.to_owned(),
            missing: Box::new(missing),
        });
        self
    }

    /// Adds the name of a module before the test's name.
    #[must_use]
    pub fn in_module(mut self, module: &str) -> Self {
        self.name = format!("{module}::{}", self.name);
        self
    }

    /// Returns the test as the harness runs or lists it.
    fn trial(self, arguments: &Arguments, required: &Required) -> Trial {
        let decision = if selects(arguments, &self.name) {
            self.decide(required)
        } else {
            Decision::Run
        };
        let Self { name, run, .. } = self;
        match decision {
            Decision::Run => Trial::test(name, run),
            // A list has names alone, which cargo-nextest reads.
            Decision::Ignore { .. } if arguments.list => {
                Trial::test(name, run).with_ignored_flag(true)
            }
            Decision::Ignore { what, why } => {
                println!("ignored, needs {what}: {name}: {why}");
                Trial::test(name, run)
                    .with_kind(format!("needs {what}"))
                    .with_ignored_flag(true)
            }
            Decision::Fail { what, why } => Trial::test(name, move || {
                Err(format!("needs {what}, which {REQUIRE} requires: {why}").into())
            }),
        }
    }

    fn decide(&self, required: &Required) -> Decision {
        let missing = self.requirements.iter().filter_map(|requirement| {
            let why = (requirement.missing)()?;
            Some((requirement.what.clone(), why))
        });
        // A missing tool that is required, if there is one, makes the test fail.
        match missing.max_by_key(|(what, _)| required.has(what)) {
            None => Decision::Run,
            Some((what, why)) if required.has(&what) => Decision::Fail { what, why },
            Some((what, why)) => Decision::Ignore { what, why },
        }
    }
}

/// Returns whether the arguments select the test of this name.
fn selects(arguments: &Arguments, name: &str) -> bool {
    let mut wanted = arguments.filter.iter();
    let mut skipped = arguments.skip.iter();
    if arguments.exact {
        wanted.all(|pattern| name == pattern) && skipped.all(|pattern| name != pattern)
    } else {
        wanted.all(|pattern| name.contains(pattern))
            && !skipped.any(|pattern| name.contains(pattern))
    }
}

/// The decision on a test.
enum Decision {
    Run,
    Ignore { what: String, why: String },
    Fail { what: String, why: String },
}

/// Runs the tests as the standard harness would, with its arguments.
///
/// # Panics
/// Panics if `NETBENCH_REQUIRE` has a name that is no tool's.
pub fn run(tests: impl IntoIterator<Item = Test>) -> ExitCode {
    let arguments = Arguments::from_args();
    let required = Required::read(&std::env::var(REQUIRE).unwrap_or_default())
        .unwrap_or_else(|wrong| panic!("{REQUIRE}: {wrong}"));
    let trials = tests
        .into_iter()
        .map(|test| test.trial(&arguments, &required));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The tools that must not be missing.
#[derive(Debug, PartialEq, Eq)]
enum Required {
    All,
    These(Vec<Tool>),
}

impl Required {
    fn read(text: &str) -> Result<Self, String> {
        let mut tools = Vec::new();
        for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            if name == "all" {
                return Ok(Self::All);
            }
            let tool = Tool::ALL.iter().find(|tool| tool.name() == name);
            tools.push(*tool.ok_or_else(|| {
                let names: Vec<_> = Tool::ALL.iter().map(|tool| tool.name()).collect();
                let names = names.join(", ");
                format!("{name:?} is no tool; there are all, {names}")
            })?);
        }
        Ok(Self::These(tools))
    }

    fn has(&self, what: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(tools) => tools.iter().any(|tool| tool.name() == what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_tools() {
        for (text, expected) in [
            ("", Required::These(vec![])),
            ("all", Required::All),
            ("go, nginx,", Required::These(vec![Tool::Go, Tool::Nginx])),
        ] {
            assert_eq!(Required::read(text), Ok(expected));
        }
        assert!(Required::read("apache").is_err_and(|wrong| wrong.contains("\"apache\"")));
    }

    #[test]
    fn arguments_select_tests_as_the_standard_harness_does() {
        for (line, selected) in [
            ("", true),
            ("scan::", true),
            ("--exact scan::it", true),
            ("--exact scan::", false),
            ("scan:: --skip re_scan::", true),
            ("scan:: --skip it", false),
            ("other", false),
        ] {
            let arguments =
                Arguments::from_iter(["test"].into_iter().chain(line.split_whitespace()));
            assert_eq!(selects(&arguments, "scan::it"), selected, "{line}");
        }
    }

    #[test]
    fn a_list_has_no_notes_and_an_ignored_test_has_its_plain_name() {
        let arguments = Arguments::from_iter(["test", "--list"]);
        let test = Test::of("it", || {}).needs_that("go", || Some("absent".to_owned()));
        let listed = test
            .in_module("scan")
            .trial(&arguments, &Required::These(Vec::new()));
        assert_eq!((listed.name(), listed.kind()), ("scan::it", ""));
        assert!(listed.has_ignored_flag());
    }

    #[test]
    fn a_missing_tool_ignores_and_where_it_is_required_fails() {
        let cases: [(&[&str], &str, &str); 8] = [
            (&[], "", "run"),
            (&[], "all", "run"),
            (&["go"], "", "ignore go: absent"),
            (&["go"], "nginx", "ignore go: absent"),
            (&["go"], "go", "fail go: absent"),
            (&["go"], "all", "fail go: absent"),
            (&["go", "nginx"], "go", "fail go: absent"),
            (&["go", "nginx"], "nginx", "fail nginx: absent"),
        ];
        for (missing, required, expected) in cases {
            let test = missing.iter().fold(
                Test::of("t", || {}).needs_that("root", || None),
                |test, what| test.needs_that(what, || Some("absent".to_owned())),
            );
            let required = Required::read(required).expect("a list of tools");
            let decision = match test.decide(&required) {
                Decision::Run => "run".to_owned(),
                Decision::Ignore { what, why } => format!("ignore {what}: {why}"),
                Decision::Fail { what, why } => format!("fail {what}: {why}"),
            };
            assert_eq!(decision, expected, "{missing:?}, {required:?}");
        }
    }
}
