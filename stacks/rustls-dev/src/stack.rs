use std::{error::Error, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts,
    locked_package, locked_version, supported,
};

use crate::{
    chain, client, explain, server,
    settings::{group, held_to, scheme},
};

/// The versions with which this worker is built.
const LOCK: &str = include_str!("../Cargo.lock");

/// The next line of rustls, by the name of the version that Cargo has locked.
pub(crate) struct NextLine(&'static str);

impl NextLine {
    pub(crate) fn new() -> Self {
        let version = locked_version(LOCK, "rustls").unwrap_or_default();
        // The name is allocated once per process.
        Self(line(&version).leak())
    }
}

/// Returns the name of a version's stack; the version may be any before the line's release.
fn line(version: &str) -> String {
    let (numbers, before) = version.split_once('-').unwrap_or((version, ""));
    let numbers: Vec<&str> = numbers.split('.').take(2).collect();
    let stage = before.split('.').next().unwrap_or_default();
    format!("rustls@{}-{stage}", numbers.join("."))
}

impl Stack for NextLine {
    fn name(&self) -> &'static str {
        self.0
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.0.to_owned(),
                library: locked_package(LOCK, "rustls"),
                provider: Some(locked_package(LOCK, "ring")),
                connector: concat!("netbench's own ", env!("CARGO_PKG_VERSION")).to_owned(),
                build: build_facts(),
            },
            operations: [
                Connect,
                Serve,
                Suite,
                Request,
                ClientCertificate,
                ClientFile,
                EarlyData,
                Verify,
            ]
            .into(),
            trust_sources: Vec::new(),
            groups: supported(Group::OFFERED, |it| group(it).is_ok()),
            suites: supported(CipherSuite::SERVED, |it| held_to(&[], &[it], &[]).is_ok()),
            signatures: supported(SignatureScheme::OFFERED, |it| scheme(it).is_some()),
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(site)
    }

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Ok(Box::new(chain::verify))
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        error.downcast_ref::<rustls::Error>().map(explain::explain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_named_by_its_line_and_stage() {
        assert_eq!(line("0.24.0-dev.2"), "rustls@0.24-dev");
        assert_eq!(NextLine::new().name(), "rustls@0.24-dev");
    }

    /// Checks that this and other versions of rustls differ only in rustls.
    #[test]
    fn what_times_depend_on_is_as_in_netbenchs_other_workers() {
        let crates = [
            "h2",
            "hyper",
            "hyper-util",
            "ring",
            "rustls-pki-types",
            "tokio",
            "zeroize",
        ];
        for package in crates {
            assert_eq!(
                locked_version(LOCK, package),
                locked_version(include_str!("../../../Cargo.lock"), package),
                "{package}"
            );
        }
    }
}
