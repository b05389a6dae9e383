use std::{error::Error, sync::Arc};

use netbench_protocol::{ClientIdentity, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, ClientSettings, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{Accept, Explained, Fetch, InMemory, Probe, SetupError, Stack, build_facts};

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
        let version = |package| format!("{package} {}", locked(package));
        let operations = ["connect", "serve", "suite", "request", "client-certificate"];
        let able = |group: &Group| policy::group(*group).is_ok();
        let verifies = |scheme: &SignatureScheme| policy::scheme(*scheme).is_ok();
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
            groups: Group::OFFERED.iter().copied().filter(able).collect(),
            suites: CipherSuite::SERVED
                .iter()
                .copied()
                .filter(|suite| policy::suite(*suite).is_ok())
                .collect(),
            signatures: SignatureScheme::OFFERED
                .iter()
                .copied()
                .filter(verifies)
                .collect(),
        }
    }

    fn connector(
        &self,
        settings: &ClientSettings,
        roots_pem: &str,
        identity: Option<&ClientIdentity>,
        probe: &Probe,
    ) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(settings, roots_pem, identity, probe)
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
