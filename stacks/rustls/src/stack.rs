use std::{error::Error, sync::Arc};

use netbench_model::{CipherSuite, ClientSettings, Group, WorkerRecord};
use netbench_protocol::{ServeSite, StackDescription};
use netbench_worker::{
    Accept, Explained, Fetch, InMemory, Probe, SetUpAction, SetupError, Stack, build_facts,
    locked_version,
};

use crate::{client, explain, provider::Provider, server, set_up};

/// rustls with one provider.
pub struct Rustls {
    pub(crate) provider: Provider,
    executable: &'static str,
}

impl Rustls {
    /// rustls with `provider`, in the worker `executable`.
    pub fn new(provider: Provider, executable: &'static str) -> Self {
        Self {
            provider,
            executable,
        }
    }

    fn record(&self) -> WorkerRecord {
        let version = |package| {
            let version = locked_version(include_str!("../../../Cargo.lock"), package);
            format!("{package} {}", version.unwrap_or_default())
        };
        let provider = match self.provider {
            Provider::Ring => "ring",
            Provider::AwsLc => "aws-lc-rs",
        };
        WorkerRecord {
            executable: self.executable.to_owned(),
            stack: self.name().to_owned(),
            library: version("rustls"),
            provider: Some(version(provider)),
            connector: version("hyper-rustls"),
            build: build_facts(),
        }
    }
}

impl Stack for Rustls {
    fn name(&self) -> &'static str {
        self.provider.stack_name()
    }

    fn describe(&self) -> StackDescription {
        let groups = Group::OFFERED
            .iter()
            .copied()
            .filter(|group| self.provider.group(*group).is_ok());
        StackDescription {
            record: self.record(),
            operations: ["connect", "serve", "suite", "set-up"]
                .map(str::to_owned)
                .to_vec(),
            groups: groups.collect(),
            suites: CipherSuite::OFFERED.to_vec(),
        }
    }

    fn connector(
        &self,
        settings: &ClientSettings,
        roots_pem: &str,
        probe: &Probe,
    ) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(self.provider, settings, roots_pem, probe)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(self.provider, site)
    }

    fn set_up_actions<'a>(
        &'a self,
        settings: &'a ClientSettings,
        roots_pem: &'a str,
    ) -> Vec<SetUpAction<'a>> {
        set_up::actions(self.provider, settings, roots_pem)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        error.downcast_ref::<rustls::Error>().map(explain::explain)
    }
}
