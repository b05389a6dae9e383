use std::{error::Error, sync::Arc};

use netbench_protocol::{ServeSite, StackDescription};
use netbench_tls::{CipherSuite, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts, supported,
};

use crate::{client, explain, ffi::locked, fips, policy, server};

/// The package of which this worker is built with another version.
const VERSION_OF: Option<&str> = option_env!("NETBENCH_VERSION_OF");

/// s2n-tls with AWS-LC.
pub(crate) struct S2n {
    name: &'static str,
}

impl S2n {
    /// Makes the stack, named by the version where it is built with another one.
    pub(crate) fn new() -> Self {
        Self {
            name: match VERSION_OF {
                // The name is allocated once per process.
                Some(library) => format!("{library}@{}", locked(library)).leak(),
                None => "s2n-tls",
            },
        }
    }
}

impl Stack for S2n {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> StackDescription {
        let operations = ["connect", "serve", "suite", "request", "client-certificate"];
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: version("s2n-tls"),
                provider: Some(if cfg!(feature = "fips") {
                    format!("{} with {}", version("aws-lc-rs"), fips::module_version())
                } else {
                    version("aws-lc-rs")
                }),
                connector: version("s2n-tls-hyper"),
                build: build_facts(),
            },
            operations: operations.map(str::to_owned).to_vec(),
            trust_sources: Vec::new(),
            groups: supported(Group::OFFERED, |group| policy::group(group).is_ok()),
            suites: supported(CipherSuite::SERVED, |suite| policy::suite(suite).is_ok()),
            signatures: supported(&SignatureScheme::known(), |scheme| {
                policy::scheme(scheme).is_ok()
            }),
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(site)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn fips(&self) -> Option<String> {
        fips::module()
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        explain::explain(error.downcast_ref()?)
    }
}

/// Returns a package with its version.
fn version(package: &str) -> String {
    format!("{package} {}", locked(package))
}
