use std::{error::Error, sync::Arc};

use netbench_protocol::{ServeSite, StackDescription};
use netbench_tls::WorkerRecord;
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts,
    locked_version,
};

use crate::{chain, client, explain, server, settings};

/// The supported operations, by their names in the protocol.
const OPERATIONS: [&str; 8] = [
    "connect",
    "serve",
    "suite",
    "request",
    "client-certificate",
    "client-file",
    "early-data",
    "verify",
];

/// The next line of rustls, named by the version that Cargo has locked.
pub(crate) struct NextLine {
    name: &'static str,
}

impl NextLine {
    pub(crate) fn new() -> Self {
        Self {
            // The name is allocated once per process.
            name: line(&locked("rustls")).leak(),
        }
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
        self.name
    }

    fn describe(&self) -> StackDescription {
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name.to_owned(),
                library: format!("rustls {}", locked("rustls")),
                provider: Some(format!("ring {}", locked("ring"))),
                connector: concat!("netbench's own ", env!("CARGO_PKG_VERSION")).to_owned(),
                build: build_facts(),
            },
            operations: OPERATIONS.map(str::to_owned).to_vec(),
            trust_sources: Vec::new(),
            groups: settings::can_groups(),
            suites: settings::can_suites(),
            signatures: settings::can_signatures(),
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

/// Returns the version of a package with which this worker is built.
fn locked(package: &str) -> String {
    locked_version(include_str!("../Cargo.lock"), package).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_named_by_its_line_and_stage() {
        assert_eq!(line("0.24.0-dev.2"), "rustls@0.24-dev");
        assert_eq!(line(&locked("rustls")), "rustls@0.24-dev");
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
                locked_version(include_str!("../Cargo.lock"), package),
                locked_version(include_str!("../../../Cargo.lock"), package),
                "{package}"
            );
        }
    }
}
