//! The worker of `rustls-rustcrypto`: rustls with the algorithms of the RustCrypto project.

use std::{process::ExitCode, sync::Arc};

use netbench_stack_rustls::{Provider, Rustls, package_version};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};

fn main() -> ExitCode {
    let stack = Rustls::new(&RustCrypto, env!("CARGO_BIN_NAME"));
    netbench_worker::run(vec![Arc::new(stack)])
}

/// The provider by RustCrypto, which has no hybrid group and no ticket producer.
struct RustCrypto;

impl Provider for RustCrypto {
    fn stack(&self) -> &'static str {
        "rustls-rustcrypto"
    }

    fn library(&self) -> String {
        package_version("rustls-rustcrypto")
    }

    fn library_default(&self) -> CryptoProvider {
        rustls_rustcrypto::provider()
    }

    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
        self.library_default().kx_groups
    }
}
