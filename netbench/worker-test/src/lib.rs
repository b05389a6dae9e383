//! The conformance tests of workers: a table of connections between a worker's client and server; connections to nginx,
//! and to and from the `openssl` command, which are independent of netbench; and the rules of the worker protocol.
//!
//! For the tests of stacks, and for `netbench stacks check`. This crate must never distinguish stacks other than by the
//! worker's description and the exceptions that a test declares ([`Exception`]). Start reading at [`check`]; `cases.rs`
//! and `cases/failing.rs` are the table of connections, `lines.rs` contains the rules of the protocol, `suite.rs` and
//! its folder contain the in-memory suite. Functions that panic are behind the feature `tests`: [`conformance`] and
//! similar functions for the tests of stacks, `plain.rs` for their benchmarks.

mod asked;
mod bench;
mod cases;
#[cfg(feature = "tests")]
mod documented;
mod ech;
mod exception;
mod findings;
mod foreign;
mod judge;
mod lines;
mod nginx;
#[cfg(feature = "tests")]
pub mod plain;
mod site;
mod steps;
mod suite;
mod talk;
#[cfg(feature = "tests")]
mod tests;
mod verify;

use std::path::Path;

use bench::Bench;
pub use exception::{ComesTo, Exception};
pub use findings::{Findings, Lack};
use netbench_model::tls::named::labels;
use netbench_protocol::Operation;
use netbench_runner::WorkerProgram;
#[cfg(feature = "tests")]
pub use tests::{
    conformance, conformance_but, conformance_without, documented, ech, lacks_only, nginx,
    openssl_command, protocol, resumes_by_id_in_tls13, resumes_by_ticket, set_up, suite,
    suite_without, verify,
};

labels!(
    /// Rules that a worker must keep, the fastest to check first.
    Rules, {
        /// The worker follows the protocol: it describes itself and its stack, answers a request that it cannot parse or
        /// execute with an error and continues, and ends when stdin ends.
        Protocol = "protocol",
        /// A table of connections of the worker to sites that the worker itself serves.
        Connections = "connections",
        /// Every kind of scenario of the in-memory suite runs as requested, or is unsupported if permitted, with a reason;
        /// no invalid request ends the worker.
        Suite = "suite",
        /// The worker executes the steps of a library's set-up before a connection, and reports the cost of each.
        SetUp = "set-up",
        /// The worker verifies chains without a connection, each independently, and reports faults in the common words.
        Verify = "verify",
        /// Connections with Encrypted ClientHello to sites that the worker itself serves: accepted and rejected, with GREASE,
        /// and to servers that break on the extension.
        Ech = "ech",
        /// Connections to `openssl s_server`, also with a client certificate and another path, and from `openssl s_client`.
        OpensslCommand = "openssl-command",
        /// Connections to nginx.
        Nginx = "nginx",
    }
);

impl Rules {
    /// Returns the operations that a stack must list for the rules to apply.
    pub fn operations(self) -> &'static [Operation] {
        match self {
            Self::Protocol => &[],
            Self::Suite => &[Operation::Suite],
            Self::SetUp => &[Operation::SetUp],
            Self::Verify => &[Operation::Verify],
            Self::Ech => &[Operation::Connect, Operation::Ech, Operation::ServesEch],
            // `Connections` and `OpensslCommand` test the worker as a server too, and all three use client settings
            // that the lab's servers need.
            Self::Connections | Self::OpensslCommand | Self::Nginx => {
                &[Operation::Connect, Operation::Serve]
            }
        }
    }

    /// Returns the program that the rules need.
    pub fn tool(self) -> Option<&'static str> {
        match self {
            Self::OpensslCommand => Some("openssl"),
            Self::Nginx => Some("nginx"),
            _ => None,
        }
    }
}

/// Checks the worker `program` with `stack` against `rules`, and returns its errors and unsupported cases. `tool` is
/// the path of the rules' [`Rules::tool`]; without it, the tool is searched for in `PATH`.
///
/// Every request and each set of rules has a time limit. A check takes some seconds, or minutes with a worker that
/// hangs.
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
            if own.does(Operation::Connect) {
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
        Rules::Ech => ech::run(program, stack)?,
        Rules::OpensslCommand => {
            let mut wrong = foreign::run(program, stack)?;
            wrong.extend(asked::run(program, stack)?);
            wrong
        }
        Rules::Nginx => nginx::run(tool.unwrap_or(Path::new("nginx")), program, stack)?,
    };
    Ok(wrong.into())
}
