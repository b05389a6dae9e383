use std::{error::Error, sync::Arc};

use netbench_model::{CipherSuite, ClientSettings, Group, SignatureScheme, WorkerRecord};
use netbench_protocol::{ClientIdentity, ServeSite, StackDescription};
use netbench_worker::{
    Accept, Explained, Fetch, InMemory, Probe, SetUpAction, SetupError, Stack, build_facts,
    locked_version,
};

use crate::{
    client, explain,
    provider::{Provider, WITHOUT_JITTER_ENTROPY},
    server, set_up,
};

/// Which of its interfaces rustls is driven through in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// Records go through the library's own buffers (`ClientConnection`), as with tokio-rustls.
    Buffered,
    /// Records are read and written in place (`UnbufferedClientConnection`). For the suite alone: the
    /// connectors do not use it.
    Unbuffered,
}

/// rustls with one provider.
pub struct Rustls {
    pub(crate) provider: Provider,
    pub(crate) interface: Interface,
    executable: &'static str,
}

impl Rustls {
    /// rustls with `provider`, in the worker `executable`.
    pub fn new(provider: Provider, executable: &'static str) -> Self {
        Self {
            provider,
            interface: Interface::Buffered,
            executable,
        }
    }

    /// The same, driven through `interface`.
    #[must_use]
    pub fn through(self, interface: Interface) -> Self {
        Self { interface, ..self }
    }

    /// Refuses what a variant for the suite does not do.
    fn beyond_the_suite(&self) -> Result<(), SetupError> {
        match self.interface {
            Interface::Buffered => Ok(()),
            Interface::Unbuffered => Err(SetupError::Unsupported(
                "it is for the suite; hyper-rustls and tokio-rustls use the interface with buffers"
                    .to_owned(),
            )),
        }
    }

    fn record(&self) -> WorkerRecord {
        let version = |package| {
            let version = locked_version(include_str!("../../../Cargo.lock"), package);
            format!("{package} {}", version.unwrap_or_default())
        };
        let provider = match self.provider {
            Provider::Ring => version("ring"),
            Provider::AwsLc if WITHOUT_JITTER_ENTROPY => {
                format!("{} without CPU jitter entropy", version("aws-lc-rs"))
            }
            Provider::AwsLc => version("aws-lc-rs"),
        };
        WorkerRecord {
            executable: self.executable.to_owned(),
            stack: self.name().to_owned(),
            library: version("rustls"),
            provider: Some(provider),
            connector: version("hyper-rustls"),
            build: build_facts(),
        }
    }
}

impl Stack for Rustls {
    fn name(&self) -> &'static str {
        match (self.interface, self.provider) {
            (Interface::Buffered, provider) => provider.stack_name(),
            (Interface::Unbuffered, Provider::Ring) => "rustls-ring+unbuffered",
            (Interface::Unbuffered, Provider::AwsLc) => "rustls-aws-lc+unbuffered",
        }
    }

    fn describe(&self) -> StackDescription {
        let groups = Group::OFFERED
            .iter()
            .copied()
            .filter(|group| self.provider.group(*group).is_ok());
        let operations: &[&str] = match self.interface {
            Interface::Buffered => &[
                "connect",
                "serve",
                "suite",
                "set-up",
                "request",
                "client-certificate",
            ],
            Interface::Unbuffered => &["suite"],
        };
        StackDescription {
            record: self.record(),
            operations: operations.iter().map(|op| (*op).to_owned()).collect(),
            groups: groups.collect(),
            suites: CipherSuite::OFFERED.to_vec(),
            signatures: SignatureScheme::OFFERED.to_vec(),
        }
    }

    fn connector(
        &self,
        settings: &ClientSettings,
        roots_pem: &str,
        identity: Option<&ClientIdentity>,
        probe: &Probe,
    ) -> Result<Box<dyn Fetch>, SetupError> {
        self.beyond_the_suite()?;
        client::connector(self.provider, settings, roots_pem, identity, probe)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.beyond_the_suite()?;
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
