//! OpenSSL as a stack: hyper-openssl as a client, tokio-openssl as a server.
//!
//! This crate must never load trust roots or settings other than the given ones. Start reading at `stack.rs`;
//! `client.rs`, `server.rs` and `suite.rs` set OpenSSL up, with the code of netbench-libssl that AWS-LC shares
//! and their common settings in `settings.rs`; `exchange.rs` and `records.rs` call its cryptography,
//! `line` has the differences between its lines, and `names.rs` and `negotiated.rs` translate. `watch.rs` is for
//! libraries on top of OpenSSL.

mod client;
#[cfg_attr(before_openssl_4, path = "ech_before_4.rs")]
mod ech;
mod exchange;
mod ffi;
#[cfg_attr(before_openssl_3, path = "openssl_1_1_1.rs")]
#[cfg_attr(not(before_openssl_3), path = "openssl_3.rs")]
mod line;
mod names;
pub mod native_tls;
mod negotiated;
mod plain_client;
mod records;
mod server;
mod set_up;
mod settings;
mod stack;
mod suite;
pub mod watch;

use std::{process::ExitCode, sync::Arc};

pub use settings::can_group;
use stack::Usage;
pub use stack::{Library, OpenSsl, library_facts};

/// The libssl with which this build is linked. Packages that are built together share one.
pub const LINKED: Library = if cfg!(libssl_from_source) {
    Library::Vendored
} else {
    Library::System
};

/// The release that this build was to build from source.
const RELEASE: &str = env!("OPENSSL_RELEASE");

/// Returns whether the library reports this release: `OpenSSL 3.0.8 7 Feb 2023`.
fn is_release(said: &str) -> bool {
    said.split_whitespace().nth(1) == Some(RELEASE)
}

/// Runs a worker's whole `main`, for the libssl with which it is linked.
pub fn work(library: Library, executable: &'static str) -> ExitCode {
    if library != LINKED {
        eprintln!(
            "{executable} would measure {} {}; build its package alone (`cargo build -p`), \
             without OPENSSL_NO_VENDOR",
            openssl::version::version(),
            match LINKED {
                Library::Vendored => "built from source",
                Library::System => "of the system",
            },
        );
        return ExitCode::FAILURE;
    }
    if library == Library::Vendored && !is_release(openssl::version::version()) {
        eprintln!(
            "{executable} was built to be OpenSSL {RELEASE}, and is linked with {}; build it again, \
             without OPENSSL_DIR and OPENSSL_NO_VENDOR",
            openssl::version::version(),
        );
        return ExitCode::FAILURE;
    }
    netbench_worker::run(vec![
        Arc::new(OpenSsl::new(library, Usage::Usual, executable)),
        Arc::new(OpenSsl::new(library, Usage::ReleasedBuffers, executable)),
        Arc::new(OpenSsl::new(library, Usage::MemoryBios, executable)),
        Arc::new(OpenSsl::new(library, Usage::Plain, executable)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_release_than_what_was_to_be_built_is_noticed() {
        assert!(is_release(&format!("OpenSSL {RELEASE} 1 Jan 2000")));
        for said in ["", "OpenSSL", &format!("OpenSSL {RELEASE}1 1 Jan 2000")] {
            assert!(!is_release(said), "{said}");
        }
        if LINKED == Library::Vendored {
            assert!(is_release(openssl::version::version()));
        }
    }
}
