//! What the BoGo shims share: options of the BoringSSL runner, its transports, and the loop that
//! every connection goes through.
//!
//! The runner starts a shim for each test, and the shim connects to it. A shim must never claim what
//! it cannot express: a flag that it does not know, or cannot give its library, ends with
//! [`Failure::Unsupported`], exit code 89. It must not do a library's work either: where the library
//! lacks a call, the answer is 89, not a piece of TLS in the shim.
//!
//! Start reading at [`run`], then [`exchange::connection`]; the stacks are in the modules `shim_*`.

pub mod exchange;
pub mod flags;
pub mod options;
pub mod packeted;
pub mod quic;
pub mod socket;

#[cfg(feature = "openssl")]
pub mod shim_openssl;
#[cfg(feature = "rustls")]
pub mod shim_rustls;

mod failure;

pub use failure::Failure;
pub use options::{OptionSets, Options};

use std::process::ExitCode;

/// Reads the command line and calls `connections`, which makes all connections of the test.
///
/// `supported` are the lists of flags that this shim can give its library.
pub fn run(
    supported: &[&[&str]],
    connections: impl FnOnce(&OptionSets) -> Result<(), Failure>,
) -> ExitCode {
    // The runner may have closed its end; that is an error of a write, not of the process.
    // SAFETY: SIG_IGN is a valid disposition, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    if args.iter().any(|arg| arg == "-is-handshaker-supported") {
        say_no_handshaker();
        return ExitCode::SUCCESS;
    }
    let result = OptionSets::parse(args, supported).and_then(|sets| connections(&sets));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
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
