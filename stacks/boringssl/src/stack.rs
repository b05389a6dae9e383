use std::{error::Error, sync::Arc};

use netbench_protocol::{ClientIdentity, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, ClientSettings, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, Explained, Fetch, InMemory, Probe, SetupError, Stack, build_facts,
    locked_version,
};

use crate::{chain, client, explain, server, settings};

/// BoringSSL as the crate boring-sys builds it.
pub(crate) struct BoringSsl;

impl Stack for BoringSsl {
    fn name(&self) -> &'static str {
        "boringssl"
    }

    fn describe(&self) -> StackDescription {
        let locked = |package| {
            let version = locked_version(include_str!("../../../Cargo.lock"), package);
            format!("{package} {}", version.unwrap_or_default())
        };
        let mut build = build_facts();
        // BoringSSL has no releases. This number grows whenever its interface changes.
        build.insert(
            "library_api".to_owned(),
            boring_sys::BORINGSSL_API_VERSION.to_string(),
        );
        let operations = [
            "connect",
            "serve",
            "suite",
            "request",
            "client-certificate",
            "verify",
        ];
        let able = |group: &Group| settings::can_group(*group);
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: format!("BoringSSL of {}", locked("boring-sys")),
                provider: None,
                connector: locked("hyper-boring"),
                build,
            },
            operations: operations.map(str::to_owned).to_vec(),
            trust_sources: Vec::new(),
            groups: Group::OFFERED.iter().copied().filter(able).collect(),
            suites: CipherSuite::SERVED
                .iter()
                .copied()
                .filter(|suite| settings::can_suite(*suite))
                .collect(),
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
        client::connector(settings, roots_pem, identity, probe)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(site)
    }

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Ok(Box::new(chain::ClientOfChains::new()?))
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        explain::explain(error)
    }
}
