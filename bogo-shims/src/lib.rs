//! The common parts of the BoGo shims: options of the BoringSSL runner, its transports, and the course of
//! every connection.
//!
//! The runner starts a shim for each test, and the shim connects to it. A shim must never claim features that
//! it cannot express: a flag that it does not know, or cannot pass to its library, ends with
//! [`Failure::Unsupported`], exit code 89. It must not do a library's work either: where the library lacks a
//! call, the answer is 89, not an implementation of TLS in the shim.
//!
//! Start reading at [`run`], then [`exchange::connection`]; the stacks are in the modules `shim_*`.

pub mod exchange;
pub mod expected;
pub mod flags;
pub mod named;
#[cfg(feature = "of-rustls")]
pub mod of_rustls;
pub mod options;
pub mod packeted;
pub mod quic;
pub mod reported;
pub mod socket;

pub mod shim_go;
#[cfg(feature = "libssl")]
pub mod shim_openssl;
#[cfg(feature = "rustls")]
pub mod shim_rustls;

mod failure;

pub use failure::Failure;
pub use named::Lacking;
pub use options::{OptionSets, Options};

use std::process::ExitCode;

/// Reads the command line and calls `connections`, which makes all connections of the test.
///
/// `shim` is the name in the table of [`flags`], `lacking` are the protocols that its library does not have.
pub fn run(
    shim: &str,
    lacking: &[Lacking],
    connections: impl FnOnce(&OptionSets) -> Result<(), Failure>,
) -> ExitCode {
    // The runner may have closed its end; that must be an error of a write, and not end the process. SAFETY:
    // SIG_IGN is a valid disposition, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    if args.iter().any(|arg| arg == "-is-handshaker-supported") {
        say_no_handshaker();
        return ExitCode::SUCCESS;
    }
    let named = std::env::var(named::VARIABLE).ok();
    let result = OptionSets::parse(args, shim).and_then(|sets| {
        named::refuse(named.as_deref(), lacking)?;
        let result = connections(&sets);
        credit(&sets, result)
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Returns the result, unless the test had a flag that no code has read: the result would prove nothing.
fn credit(sets: &OptionSets, result: Result<(), Failure>) -> Result<(), Failure> {
    if matches!(result, Err(Failure::Unsupported(_))) {
        return result;
    }
    let server = sets.initial.on("-server");
    let unread = sets.unread().into_iter().find(|flag| {
        let later = result.is_err() && flags::is_for_later(flag);
        !(flags::is_ignored(flag) || flags::is_of_other_role(flag, server) || later)
    });
    match unread {
        Some(flag) => Err(Failure::unsupported(format!(
            "flag {flag}, which nothing read"
        ))),
        None => result,
    }
}

/// Answers the runner's question whether there is a second program that does handshakes.
#[expect(
    clippy::print_stdout,
    reason = "the runner reads the answer from stdout"
)]
pub fn say_no_handshaker() {
    println!("No");
}
