use std::{collections::BTreeSet, error::Error as StdError, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts,
    supported,
};

use crate::{
    chain, client, ech, explain,
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
        use Operation::*;

        let mut operations: BTreeSet<_> =
            [Connect, Serve, Suite, Request, ClientCertificate, Verify].into();
        if ech::is_supported() {
            operations.extend([Ech, EchGrease]);
        }
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: format!("NSS {}", version()),
                provider: None,
                connector: concat!("netbench's own ", env!("CARGO_PKG_VERSION")).to_owned(),
                build: build_facts(),
            },
            operations,
            trust_sources: Vec::new(),
            groups: supported(Group::OFFERED, has_group),
            suites: supported(CipherSuite::SERVED, has_suite),
            signatures: supported(SignatureScheme::OFFERED, has_scheme),
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

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Ok(Box::new(chain::verify_as_client))
    }

    fn explain(&self, error: &(dyn StdError + 'static)) -> Option<Explained> {
        error.downcast_ref::<Error>().map(explain::explain)
    }
}
