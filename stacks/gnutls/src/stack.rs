use std::{error::Error as StdError, ptr, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts,
    supported,
};

use crate::{
    chain, client, explain, ffi, server,
    session::Error,
    settings::{has_group, has_scheme, has_suite},
};

/// The system's GnuTLS.
pub(crate) struct GnuTls;

impl Stack for GnuTls {
    fn name(&self) -> &'static str {
        "gnutls"
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        // SAFETY: without a required version, the library returns its own.
        let version = unsafe { ffi::gnutls_check_version(ptr::null()) };
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: format!("GnuTLS {}", version.get().unwrap_or_default()),
                provider: ffi::nettle_version()
                    .map(|(major, minor)| format!("nettle {major}.{minor}")),
                connector: concat!("netbench's own ", env!("CARGO_PKG_VERSION")).to_owned(),
                build: build_facts(),
            },
            operations: [
                Connect,
                Serve,
                Suite,
                Request,
                ClientCertificate,
                ClientFile,
                Verify,
            ]
            .into(),
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
        Ok(Box::new(chain::verifier()))
    }

    fn explain(&self, error: &(dyn StdError + 'static)) -> Option<Explained> {
        error.downcast_ref::<Error>().map(explain::explain)
    }
}
