use std::{error::Error as StdError, sync::Arc};

use netbench_protocol::{ClientIdentity, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, ClientSettings, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, Explained, Fetch, InMemory, Probe, SetupError, Stack, build_facts,
};

use crate::{
    chain::ClientOfChains,
    client, explain,
    library::{Error, version},
    server,
    settings::{has_group, has_scheme, has_suite},
};

/// The system's NSS.
pub(crate) struct Nss;

impl Stack for Nss {
    fn name(&self) -> &'static str {
        "nss"
    }

    fn describe(&self) -> StackDescription {
        let operations = [
            "connect",
            "serve",
            "suite",
            "request",
            "client-certificate",
            "verify",
        ];
        let suites = CipherSuite::SERVED.iter().copied();
        let groups = Group::OFFERED.iter().copied();
        let signatures = SignatureScheme::OFFERED.iter().copied();
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: format!("NSS {}", version()),
                provider: None,
                connector: concat!("netbench's own ", env!("CARGO_PKG_VERSION")).to_owned(),
                build: build_facts(),
            },
            operations: operations.map(str::to_owned).to_vec(),
            trust_sources: Vec::new(),
            groups: groups.filter(|group| has_group(*group)).collect(),
            suites: suites.filter(|suite| has_suite(*suite)).collect(),
            signatures: signatures.filter(|scheme| has_scheme(*scheme)).collect(),
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

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Ok(Box::new(ClientOfChains))
    }

    fn explain(&self, error: &(dyn StdError + 'static)) -> Option<Explained> {
        error.downcast_ref::<Error>().map(explain::explain)
    }
}
