//! The worker of `s2n-tls-openssl`: that of `s2n-tls` with OpenSSL's libcrypto in place of AWS-LC.
//!
//! This package must never differ from `stacks/s2n-tls` in anything else. `libcrypto/` brings OpenSSL to s2n-tls-sys.

use std::process::ExitCode;

use libcrypto::{RELEASE, facts};
use netbench_stack_s2n_tls::{Libcrypto, work};

fn main() -> ExitCode {
    let libcrypto = Libcrypto::OpenSsl {
        release: RELEASE,
        facts,
    };
    work(env!("CARGO_BIN_NAME"), libcrypto)
}

#[cfg(test)]
mod tests {
    use netbench_worker::locked_version;

    const OWN: &str = include_str!("../Cargo.lock");
    const COMMON: &str = include_str!("../../../Cargo.lock");

    /// Checks that `s2n-tls-openssl` and `s2n-tls` differ only in the libcrypto.
    #[test]
    fn what_times_depend_on_is_as_in_netbenchs_other_workers() {
        let crates = [
            "errno",
            "h2",
            "http",
            "hyper",
            "hyper-util",
            "s2n-tls",
            "s2n-tls-hyper",
            "s2n-tls-sys",
            "s2n-tls-tokio",
            "tokio",
        ];
        for package in crates {
            let version = locked_version(OWN, package);
            assert!(version.is_some(), "{package}");
            assert_eq!(version, locked_version(COMMON, package), "{package}");
        }
    }
}
