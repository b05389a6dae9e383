use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::Tool;

pub use libtest_mimic::Failed;

/// The variable that names the tools without which tests fail: `all`, or names separated by commas.
const REQUIRE: &str = "NETBENCH_REQUIRE";

/// A test and its requirements of the machine.
pub struct Test {
    name: String,
    missing: Vec<Missing>,
    run: Box<dyn FnOnce() -> Result<(), Failed> + Send>,
}

#[derive(Clone)]
struct Missing {
    what: String,
    why: String,
}

impl Test {
    /// Makes a test that fails by an error or by panicking.
    pub fn new(
        name: impl Into<String>,
        run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            missing: Vec::new(),
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
        self.needs_that(tool.name(), tool.missing())
    }

    /// Makes the test ignored where `what` is missing. `missing` is the reason, or `None` where
    /// `what` is present.
    pub fn needs_that(mut self, what: &str, missing: Option<String>) -> Self {
        let what = what.to_owned();
        self.missing
            .extend(missing.map(|why| Missing { what, why }));
        self
    }

    fn trial(self, required: &Required) -> Trial {
        let decision = self.decide(required);
        let Self { name, run, .. } = self;
        match decision {
            Decision::Run => Trial::test(name, run),
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
        let missing = self.missing.iter();
        // A missing tool that is required, if there is one, makes the test fail.
        let first = missing.max_by_key(|missing| required.has(&missing.what));
        match first.cloned() {
            None => Decision::Run,
            Some(Missing { what, why }) if required.has(&what) => Decision::Fail { what, why },
            Some(Missing { what, why }) => Decision::Ignore { what, why },
        }
    }
}

/// The decision on a test.
#[derive(Debug, PartialEq, Eq)]
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
    let trials = tests.into_iter().map(|test| test.trial(&required));
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
            let tool = Tool::ALL.into_iter().find(|tool| tool.name() == name);
            tools.push(tool.ok_or_else(|| {
                let names = Tool::ALL.map(Tool::name).join(", ");
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
        let these = |tools: &[Tool]| Ok(Required::These(tools.to_vec()));
        assert_eq!(Required::read(""), these(&[]));
        assert_eq!(Required::read("all"), Ok(Required::All));
        assert_eq!(
            Required::read("go, nginx,"),
            these(&[Tool::Go, Tool::Nginx])
        );
        assert!(Required::read("apache").is_err_and(|wrong| wrong.contains("\"apache\"")));
    }

    #[test]
    fn a_missing_tool_ignores_and_where_it_is_required_fails() {
        let ignore = |what: &str| Decision::Ignore {
            what: what.to_owned(),
            why: "absent".to_owned(),
        };
        let fail = |what: &str| Decision::Fail {
            what: what.to_owned(),
            why: "absent".to_owned(),
        };
        let cases: [(&[&str], &str, Decision); 8] = [
            (&[], "", Decision::Run),
            (&[], "all", Decision::Run),
            (&["go"], "", ignore("go")),
            (&["go"], "nginx", ignore("go")),
            (&["go"], "go", fail("go")),
            (&["go"], "all", fail("go")),
            (&["go", "nginx"], "go", fail("go")),
            (&["go", "nginx"], "nginx", fail("nginx")),
        ];
        for (missing, required, expected) in cases {
            let absent = || Some("absent".to_owned());
            let test = missing.iter().fold(
                Test::of("t", || {}).needs_that("root", None),
                |test, what| test.needs_that(what, absent()),
            );
            let required = Required::read(required).expect("a list of tools");
            assert_eq!(
                test.decide(&required),
                expected,
                "{missing:?}, {required:?}"
            );
        }
    }
}
