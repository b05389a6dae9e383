//! What every worker must get right: a table of connections that it makes to sites that it serves
//! itself; connections to nginx, and to and from the `openssl` command, which know nothing of
//! netbench; and the worker protocol's rules.
//!
//! For the tests of stacks and for nothing else; it must never know one stack from another but by
//! what its worker says of itself and its test declares ([`Exception`]). Start reading at [`conformance`]; `cases.rs` and
//! `cases/failing.rs` are the table, `lines.rs` holds the protocol's rules, `suite.rs` and its folder have
//! the in-memory suite; `plain.rs` is for the benchmarks of stacks.

mod asked;
mod bench;
mod cases;
mod documented;
mod exception;
mod foreign;
mod judge;
mod lines;
mod nginx;
pub mod plain;
mod steps;
mod suite;

use std::path::Path;

use bench::Bench;
pub use exception::{ComesTo, Exception};
use netbench_model::{HandshakeKind, LabProfile, ParallelWork, Scenario, Work};

/// Has the worker `program` serve and connect with `stack`, and says what it got wrong.
///
/// Every request has a time limit, and so has the table; all of it takes some seconds.
///
/// # Panics
/// The worker does not start or serve, or got anything wrong.
pub fn conformance(program: &Path, stack: &str) {
    conformance_but(program, stack, &[]);
}

/// As [`conformance`], but for failures that come to something else with this library.
///
/// # Panics
/// As [`conformance`], and for an exception that fits no case or was not needed.
pub fn conformance_but(program: &Path, stack: &str, exceptions: &[Exception]) {
    let ran = Bench::new(program, stack, |_| false).map(|mut bench| bench.run(exceptions));
    complain(stack, ran);
}

/// As [`conformance`], for a stack that must refuse to serve the sites that `lacks` says.
///
/// # Panics
/// As [`conformance`].
pub fn conformance_without(program: &Path, stack: &str, lacks: fn(&LabProfile) -> bool) {
    let ran = Bench::new(program, stack, lacks).map(|mut bench| bench.run(&[]));
    complain(stack, ran);
}

/// That the worker `program` keeps to the worker protocol: says what it and `stack` are, answers
/// what it cannot understand or do with an error and goes on, and ends when stdin does.
///
/// # Panics
/// As [`conformance`].
pub fn protocol(program: &Path, stack: &str) {
    let described = lines::description(program, stack).map(|()| Vec::new());
    complain(stack, described);
    complain(stack, lines::errors(program, stack));
    complain(stack, lines::end_of_stdin(program, stack));
}

/// That the worker `program` answers as in the session of `docs/WORKER-PROTOCOL.md`, which is with `stack`.
///
/// # Panics
/// As [`conformance`].
pub fn documented(program: &Path, stack: &str) {
    complain(stack, documented::run(program, stack));
}

/// That the worker `program` does the in-memory suite with `stack`: every kind of scenario runs and is
/// what was asked for, or is unsupported where it may be, with a reason; and nothing that is wrong
/// ends the worker.
///
/// # Panics
/// As [`conformance`].
pub fn suite(program: &Path, stack: &str) {
    complain(stack, suite::run(program, stack, |_| false));
}

/// As [`suite`], for a stack that must refuse the scenarios that `lacks` says: each must be unsupported, with a reason.
///
/// # Panics
/// As [`conformance`].
pub fn suite_without(program: &Path, stack: &str, lacks: fn(&Scenario) -> bool) {
    complain(stack, suite::run(program, stack, lacks));
}

/// Whether sessions of `scenario` resume by tickets of the server: for [`suite_without`].
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

/// That the worker `program` takes the steps of `stack`'s set-up before a connection, and says what each took.
///
/// # Panics
/// As [`conformance`].
pub fn set_up(program: &Path, stack: &str) {
    complain(stack, steps::run(program, stack));
}

/// Has `stack` connect to `openssl s_server`, with a certificate and a path of its own too, and `openssl s_client` to
/// `stack`, and says what went wrong.
///
/// # Panics
/// As [`conformance`], and without the `openssl` command.
pub fn openssl_command(program: &Path, stack: &str) {
    complain(stack, foreign::run(program, stack));
    complain(stack, asked::run(program, stack));
}

/// Has `stack` connect to nginx, and says what went wrong.
///
/// # Panics
/// As [`conformance`], and without nginx.
pub fn nginx(program: &Path, stack: &str) {
    let nginx = netbench_testing::program("nginx").expect("nginx is installed");
    complain(stack, nginx::run(&nginx, program, stack));
}

fn complain(stack: &str, found: Result<Vec<String>, String>) {
    let wrong = found.unwrap_or_else(|error| vec![error]);
    assert!(
        wrong.is_empty(),
        "{stack}: {} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
