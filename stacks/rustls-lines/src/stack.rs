use std::{error::Error, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts,
    locked_versions, supported,
};

use crate::{common, line};

/// The supported by their names in the protocol.
const OPERATIONS: &[Operation] = if cfg!(feature = "connect") {
    &[
        Operation::Connect,
        Operation::Serve,
        Operation::Suite,
        Operation::Request,
        Operation::ClientCertificate,
        Operation::ClientFile,
        Operation::EarlyData,
        Operation::Verify,
    ]
} else {
    &[Operation::Suite]
};

/// The crate of the cryptography.
const PROVIDER: &str = if cfg!(feature = "aws-lc") {
    "aws-lc-rs"
} else {
    "ring"
};

/// rustls before 0.23, named by the version that Cargo has locked.
pub(crate) struct Line {
    name: &'static str,
    library: String,
}

impl Line {
    pub(crate) fn new() -> Self {
        let version = locked("rustls");
        Self {
            // The name is allocated once per process.
            name: name(&version).leak(),
            library: format!("rustls {version}"),
        }
    }

    #[cfg(not(feature = "connect"))]
    fn for_the_suite<T>(&self) -> Result<T, SetupError> {
        Err(SetupError::Unsupported(format!(
            "the worker of {} does the suite alone",
            self.name
        )))
    }
}

impl Stack for Line {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> StackDescription {
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name.to_owned(),
                library: self.library.clone(),
                provider: Some(format!("{PROVIDER} {}", locked(PROVIDER))),
                connector: connector(),
                build: build_facts(),
            },
            operations: OPERATIONS.iter().copied().collect(),
            trust_sources: Vec::new(),
            groups: supported(Group::OFFERED, line::has_group),
            suites: common::suites(),
            signatures: supported(SignatureScheme::OFFERED, line::verifies),
        }
    }

    #[cfg(feature = "connect")]
    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        crate::client::connector(setup)
    }

    #[cfg(not(feature = "connect"))]
    fn connector(&self, _: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        self.for_the_suite()
    }

    #[cfg(feature = "connect")]
    fn chain_verifier(&self) -> Result<Box<dyn netbench_worker::ChainVerifier + '_>, SetupError> {
        Ok(Box::new(line::verify))
    }

    #[cfg(feature = "connect")]
    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        crate::server::acceptor(site)
    }

    #[cfg(not(feature = "connect"))]
    fn acceptor(&self, _: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.for_the_suite()
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    #[cfg(feature = "connect")]
    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        let error = error.downcast_ref::<rustls::Error>();
        error.map(crate::explain::explain)
    }

    #[cfg(not(feature = "connect"))]
    fn explain(&self, _: &(dyn Error + 'static)) -> Option<Explained> {
        None
    }
}

/// Returns the name of the stack with this version of rustls: that of the line, or of the provider beside rustls 0.22.0.
fn name(version: &str) -> String {
    match version.rsplit_once('.') {
        Some((line, patch)) if patch != "0" => format!("rustls@{line}"),
        _ => format!("{PROVIDER}@{}", locked(PROVIDER)),
    }
}

fn connector() -> String {
    if cfg!(feature = "connect") {
        format!("tokio-rustls {}", locked("tokio-rustls"))
    } else {
        "none".to_owned()
    }
}

/// Returns the version of a package with which this worker is built: the oldest, where workers of newer ones
/// have the same lock file.
fn locked(package: &str) -> String {
    let mut versions = locked_versions(include_str!("../../../Cargo.lock"), package);
    versions.next().unwrap_or_default()
}
