//! The rules as functions that panic, for the tests of stacks.

use std::path::Path;

use netbench_model::{HandshakeKind, LabProfile, ParallelWork, Scenario, TlsVersion, Work};

use crate::{
    Exception, Findings, Rules, bench::Bench, check, documented as session, suite as scenarios,
};

/// Defines the `main` of a target with the conformance tests of a worker's stack: functions such as [`conformance`], each with
/// the tools that it needs, as in `netbench_testing::tests!`.
#[macro_export]
macro_rules! tests {
    ($program:expr, $stack:expr; $($test:ident $(: $tool:ident)?;)+) => {
        fn main() -> ::std::process::ExitCode {
            ::netbench_testing::no_lost_tests(file!());
            ::netbench_testing::run([
                $(::netbench_testing::Test::new(stringify!($test), || {
                    $test(::std::path::Path::new($program), $stack);
                    Ok(())
                })
                $(.needs(::netbench_testing::Tool::$tool))?),+
            ])
        }
    };
}

/// Tests a worker against [`Rules::Connections`].
///
/// # Panics
/// The worker does not start or serve, or violates a rule.
pub fn conformance(program: &Path, stack: &str) {
    conformance_but(program, stack, &[]);
}

/// Tests a worker as [`conformance`] does, except for failures that have another outcome with this library.
///
/// # Panics
/// Panics as [`conformance`] does, and for an exception that matches no case or was not needed.
pub fn conformance_but(program: &Path, stack: &str, exceptions: &[Exception]) {
    let bench = Bench::new(&program.into(), stack, |_| false);
    complain(stack, bench.map(|mut bench| bench.run(exceptions)));
}

/// Tests a worker as [`conformance`] does, for a stack that must refuse to serve the sites for which `lacks` is true.
///
/// # Panics
/// Panics as [`conformance`] does.
pub fn conformance_without(program: &Path, stack: &str, lacks: fn(&LabProfile) -> bool) {
    let bench = Bench::new(&program.into(), stack, lacks);
    complain(stack, bench.map(|mut bench| bench.run(&[])));
}

/// Defines functions that test a worker against rules. They panic as [`conformance`] does, and where a tool of the rules is
/// missing.
macro_rules! checks {
    ($($name:ident: $rules:ident;)+) => {
        $(
            #[doc = concat!("Tests a worker against [`Rules::", stringify!($rules), "`].")]
            pub fn $name(program: &Path, stack: &str) {
                complain(stack, check(Rules::$rules, &program.into(), stack, None));
            }
        )+
    };
}

checks! {
    protocol: Protocol;
    suite: Suite;
    set_up: SetUp;
    verify: Verify;
    ech: Ech;
    openssl_command: OpensslCommand;
}

/// Tests that the worker `program` answers as in the session of `docs/WORKER-PROTOCOL.md`, which uses `stack`.
///
/// # Panics
/// Panics as [`conformance`] does.
pub fn documented(program: &Path, stack: &str) {
    complain(stack, session::run(&program.into(), stack));
}

/// Tests a worker as [`suite`] does, for a stack that must refuse the scenarios for which `lacks` is true: each must be
/// unsupported, with a reason.
///
/// # Panics
/// Panics as [`conformance`] does.
pub fn suite_without(program: &Path, stack: &str, lacks: fn(&Scenario) -> bool) {
    complain(stack, scenarios::run(&program.into(), stack, lacks));
}

/// Returns whether sessions of `scenario` resume by tickets of the server, for [`suite_without`].
pub fn resumes_by_ticket(scenario: &Scenario) -> bool {
    let (Work::Handshake { kind, .. }
    | Work::Threads {
        work: ParallelWork::Handshake(kind),
        ..
    }) = scenario.work
    else {
        return false;
    };
    kind == HandshakeKind::Ticket
}

/// Returns whether sessions of `scenario` resume in TLS 1.3 without a ticket, for [`suite_without`]: many servers keep no
/// sessions of this version.
pub fn resumes_by_id_in_tls13(scenario: &Scenario) -> bool {
    let (Work::Handshake { kind, settings }
    | Work::Threads {
        work: ParallelWork::Handshake(kind),
        settings,
        ..
    }) = scenario.work
    else {
        return false;
    };
    kind == HandshakeKind::SessionId && settings.version == TlsVersion::Tls13
}

/// Tests a worker against [`Rules::Nginx`].
///
/// # Panics
/// Panics as [`conformance`] does, and without nginx.
pub fn nginx(program: &Path, stack: &str) {
    let nginx = netbench_testing::program("nginx").expect("nginx is installed");
    complain(
        stack,
        check(Rules::Nginx, &program.into(), stack, Some(&nginx)),
    );
}

/// Tests a worker against a table of rules in which some cases are `unsupported`: each item of `lacks` is a part of the
/// names of such cases, and a part of the worker's reason.
///
/// # Panics
/// Panics as [`conformance`] does, for an unsupported case that is not in `lacks`, and for an item of `lacks` that matches no case.
pub fn lacks_only(rules: Rules, program: &Path, stack: &str, lacks: &[(&str, &str)]) {
    let found = check(rules, &program.into(), stack, None).expect("it runs");
    assert!(found.wrong.is_empty(), "{:#?}", found.wrong);
    let mut met = vec![0; lacks.len()];
    for lack in &found.lacks {
        let known = lacks.iter().position(|(word, _)| lack.case.contains(word));
        let known = known.unwrap_or_else(|| panic!("{lack:?}"));
        assert!(lack.reason.contains(lacks[known].1), "{lack:?}");
        met[known] += 1;
    }
    for ((word, why), cases) in lacks.iter().zip(met) {
        eprintln!("{cases} findings in cases with {word}: {why}");
        assert!(cases > 0, "no case with {word} lacks anything");
    }
}

fn complain(stack: &str, found: Result<impl Into<Findings>, String>) {
    let wrong = found.map_or_else(|error| vec![error], |found| found.into().all());
    assert!(
        wrong.is_empty(),
        "{stack}: {} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
