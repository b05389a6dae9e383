//! The worker of `rustls-openssl`: rustls with the cryptography of OpenSSL.

use std::{process::ExitCode, sync::Arc};

use netbench_stack_openssl::{can_group, library_facts};
use netbench_stack_rustls::{Provider, Rustls, package_version};
use netbench_tls::Group;
use openssl::version::version;
use rustls::{
    SupportedCipherSuite,
    crypto::{CryptoProvider, SupportedKxGroup},
};

fn main() -> ExitCode {
    let stack = Rustls::new(&OpenSsl, env!("CARGO_BIN_NAME"));
    netbench_worker::run(vec![Arc::new(stack)])
}

/// The provider by OpenSSL, which has no ticket producer.
struct OpenSsl;

impl Provider for OpenSsl {
    fn stack(&self) -> &'static str {
        "rustls-openssl"
    }

    fn library(&self) -> String {
        [package_version("rustls-openssl").as_str(), version()].join(", ")
    }

    fn build(&self) -> Vec<(&'static str, String)> {
        library_facts().into()
    }

    /// Returns the default provider, which tests each group by making a key.
    fn library_default(&self) -> CryptoProvider {
        rustls_openssl::default_provider()
    }

    /// Returns a provider with these suites and groups, without such tests.
    fn custom(
        &self,
        cipher_suites: Vec<SupportedCipherSuite>,
        kx_groups: Vec<&'static dyn SupportedKxGroup>,
    ) -> CryptoProvider {
        rustls_openssl::custom_provider(cipher_suites, kx_groups)
    }

    fn suites(&self) -> Vec<SupportedCipherSuite> {
        rustls_openssl::ALL_CIPHER_SUITES.to_vec()
    }

    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
        let mut groups = rustls_openssl::kx_group::ALL_KX_GROUPS.to_vec();
        groups.retain(|group| can_group(Group(group.name().into())));
        groups
    }
}
