//! What every worker must get right: a table of connections that it makes to sites that it serves
//! itself; connections to nginx, and to and from the `openssl` command, which know nothing of
//! netbench; and the worker protocol's rules.
//!
//! For the tests of stacks, and for `netbench stacks check`. It must never know one stack from another but by
//! what its worker says of itself and its test declares ([`Exception`]). Start reading at [`check`]; `cases.rs` and
//! `cases/failing.rs` are the table of connections, `lines.rs` holds the protocol's rules, `suite.rs` and its folder have
//! the in-memory suite. What panics is behind the feature `tests`: [`conformance`] and its like for the tests of
//! stacks, `plain.rs` for their benchmarks.

mod asked;
mod bench;
mod cases;
#[cfg(feature = "tests")]
mod documented;
mod exception;
mod findings;
mod foreign;
mod judge;
mod lines;
mod nginx;
#[cfg(feature = "tests")]
pub mod plain;
mod steps;
mod suite;
#[cfg(feature = "tests")]
mod tests;
mod verify;

use std::path::Path;

use bench::Bench;
pub use exception::{ComesTo, Exception};
pub use findings::{Findings, Lack};
use netbench_runner::WorkerProgram;
#[cfg(feature = "tests")]
pub use tests::{
    conformance, conformance_but, conformance_without, documented, lacks_only, nginx,
    openssl_command, protocol, resumes_by_ticket, set_up, suite, suite_without, verify,
};

/// Rules that a worker must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// It keeps to the worker protocol: says what it and its stack are, answers what it cannot understand or do with
    /// an error and goes on, and ends when stdin does.
    Protocol,
    /// A table of connections that it makes to sites that it serves itself.
    Connections,
    /// Every kind of scenario of the in-memory suite runs and is what was asked for, or is unsupported where it may
    /// be, with a reason; and nothing that is wrong ends the worker.
    Suite,
    /// It takes the steps of a library's set-up before a connection, and says what each took.
    SetUp,
    /// It verifies chains without a connection, each by itself, and says what is wrong in the words of every worker.
    Verify,
    /// Connections to `openssl s_server`, also with a client certificate and another path, and from `openssl s_client`.
    OpensslCommand,
    /// Connections to nginx.
    Nginx,
}

impl Rules {
    /// All of them, the quickest first.
    pub const ALL: &[Self] = &[
        Self::Protocol,
        Self::Connections,
        Self::Suite,
        Self::SetUp,
        Self::Verify,
        Self::OpensslCommand,
        Self::Nginx,
    ];

    /// What they are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Connections => "connections",
            Self::Suite => "suite",
            Self::SetUp => "set-up",
            Self::Verify => "verify",
            Self::OpensslCommand => "openssl-command",
            Self::Nginx => "nginx",
        }
    }

    /// Returns the operations that a stack must name for these to apply to it.
    pub fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Protocol => &[],
            Self::Suite => &["suite"],
            Self::SetUp => &["set-up"],
            Self::Verify => &["verify"],
            // The first two have the worker as a server too, and all hold clients to settings that the lab's servers need.
            Self::Connections | Self::OpensslCommand | Self::Nginx => &["connect", "serve"],
        }
    }

    /// The program that they need.
    pub fn tool(self) -> Option<&'static str> {
        match self {
            Self::OpensslCommand => Some("openssl"),
            Self::Nginx => Some("nginx"),
            _ => None,
        }
    }
}

/// What the worker `program` gets wrong of `rules` with `stack`, and what it says that it cannot do of them. `tool` is where
/// their [`Rules::tool`] is, which is looked for in the path without it.
///
/// Every request has a time limit, and so has each set of rules; all of it takes some seconds, or minutes with a
/// worker that hangs.
///
/// # Errors
/// The worker does not start, describe itself or serve.
pub fn check(
    rules: Rules,
    program: &WorkerProgram,
    stack: &str,
    tool: Option<&Path>,
) -> Result<Findings, String> {
    let wrong = match rules {
        Rules::Protocol => {
            let own = lines::description(program, stack)?;
            let mut wrong = lines::errors(program, &own)?;
            if lines::connects(&own) {
                wrong.extend(lines::end_of_stdin(program, &own)?);
            }
            wrong
        }
        Rules::Connections => {
            return Bench::new(program, stack, |_| false).map(|mut bench| bench.run(&[]));
        }
        Rules::Suite => return suite::run(program, stack, |_| false),
        Rules::SetUp => steps::run(program, stack)?,
        Rules::Verify => verify::run(program, stack)?,
        Rules::OpensslCommand => {
            let mut wrong = foreign::run(program, stack)?;
            wrong.extend(asked::run(program, stack)?);
            wrong
        }
        Rules::Nginx => nginx::run(tool.unwrap_or(Path::new("nginx")), program, stack)?,
    };
    Ok(wrong.into())
}
