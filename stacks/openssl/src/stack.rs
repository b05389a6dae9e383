use std::{error::Error, sync::Arc};

use netbench_model::{CipherSuite, ClientSettings, Group, WorkerRecord};
use netbench_protocol::{ServeSite, StackDescription};
use netbench_worker::{
    Accept, Explained, Fetch, InMemory, Probe, SetUpAction, SetupError, Stack, build_facts,
    locked_version,
};

use crate::{client, explain, server, set_up, settings::can_group};

/// Which libssl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// Built from source.
    Vendored,
    /// The system's.
    System,
}

/// OpenSSL as it is linked.
pub(crate) struct OpenSsl {
    library: Library,
    executable: &'static str,
}

impl OpenSsl {
    pub(crate) fn new(library: Library, executable: &'static str) -> Self {
        Self {
            library,
            executable,
        }
    }
}

impl Stack for OpenSsl {
    fn name(&self) -> &'static str {
        match self.library {
            Library::Vendored => "openssl",
            Library::System => "openssl-system",
        }
    }

    fn describe(&self) -> StackDescription {
        let version = locked_version(include_str!("../../../Cargo.lock"), "hyper-openssl");
        let mut build = build_facts();
        // `compiler: gcc -fPIC …`, as the library was built.
        build.insert(
            "library_compiler".to_owned(),
            openssl::version::c_flags().to_owned(),
        );
        StackDescription {
            record: WorkerRecord {
                executable: self.executable.to_owned(),
                stack: self.name().to_owned(),
                library: openssl::version::version().to_owned(),
                provider: None,
                connector: format!("hyper-openssl {}", version.unwrap_or_default()),
                build,
            },
            operations: ["connect", "serve", "suite", "set-up"]
                .map(str::to_owned)
                .to_vec(),
            groups: Group::OFFERED
                .iter()
                .copied()
                .filter(|group| can_group(*group))
                .collect(),
            suites: CipherSuite::SERVED.to_vec(),
        }
    }

    fn connector(
        &self,
        settings: &ClientSettings,
        roots_pem: &str,
        probe: &Probe,
    ) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(settings, roots_pem, probe)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(site)
    }

    fn set_up_actions<'a>(
        &'a self,
        settings: &'a ClientSettings,
        roots_pem: &'a str,
    ) -> Vec<SetUpAction<'a>> {
        set_up::actions(settings, roots_pem)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        explain::explain(error)
    }
}
