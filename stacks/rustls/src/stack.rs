use std::{error::Error, sync::Arc};

use netbench_model::{CipherSuite, ClientSettings, Group, WorkerRecord};
use netbench_protocol::{ServeSite, StackDescription};
use netbench_worker::{
    Accept, Explained, Fetch, InMemory, Probe, SetupError, Stack, build_facts, locked_version,
};
use rustls::{
    crypto::{CryptoProvider, SupportedKxGroup},
    server::ProducesTickets,
};

use crate::{client, explain, server};

/// Which cryptography rustls is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// ring.
    Ring,
    /// AWS-LC.
    AwsLc,
}

/// rustls with one provider.
pub struct Rustls {
    provider: Provider,
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

    /// The provider as the library itself gives it.
    pub(crate) fn library_default(&self) -> CryptoProvider {
        match self.provider {
            Provider::Ring => rustls::crypto::ring::default_provider(),
            Provider::AwsLc => rustls::crypto::aws_lc_rs::default_provider(),
        }
    }

    /// The provider held to `suites` and `groups`, in that order.
    pub(crate) fn held_to(
        &self,
        suites: &[CipherSuite],
        groups: &[Group],
    ) -> Result<CryptoProvider, SetupError> {
        let mut provider = self.library_default();
        let offered = provider.cipher_suites.clone();
        provider.cipher_suites = suites
            .iter()
            .map(|suite| {
                let found = offered.iter().find(|s| u16::from(s.suite()) == suite.0);
                found
                    .copied()
                    .ok_or_else(|| SetupError::Unsupported(format!("no {suite} in rustls")))
            })
            .collect::<Result<_, _>>()?;
        provider.kx_groups = groups
            .iter()
            .map(|group| self.group(*group))
            .collect::<Result<_, _>>()?;
        Ok(provider)
    }

    /// What makes a server's tickets.
    pub(crate) fn ticketer(&self) -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        match self.provider {
            Provider::Ring => rustls::crypto::ring::Ticketer::new(),
            Provider::AwsLc => rustls::crypto::aws_lc_rs::Ticketer::new(),
        }
    }

    fn group(&self, group: Group) -> Result<&'static dyn SupportedKxGroup, SetupError> {
        let all = match self.provider {
            Provider::Ring => rustls::crypto::ring::ALL_KX_GROUPS,
            Provider::AwsLc => rustls::crypto::aws_lc_rs::ALL_KX_GROUPS,
        };
        all.iter()
            .copied()
            .find(|kx| u16::from(kx.name()) == group.0)
            .ok_or_else(|| SetupError::Unsupported(format!("no group {group} in {}", self.name())))
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
        match self.provider {
            Provider::Ring => "rustls-ring",
            Provider::AwsLc => "rustls-aws-lc",
        }
    }

    fn describe(&self) -> StackDescription {
        let groups = Group::OFFERED
            .iter()
            .copied()
            .filter(|group| self.group(*group).is_ok());
        StackDescription {
            record: self.record(),
            operations: ["connect", "serve", "suite"].map(str::to_owned).to_vec(),
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
        client::connector(self, settings, roots_pem, probe)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(self, site)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        error.downcast_ref::<rustls::Error>().map(explain::explain)
    }
}
