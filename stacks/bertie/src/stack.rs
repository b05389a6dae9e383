use std::{error::Error, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::WorkerRecord;
use netbench_worker::{
    Accept, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts_with,
    locked_package,
};

use crate::settings;

/// Bertie with libcrux.
pub(crate) struct BertieStack;

/// The reason for the lack of connections.
const NO_CONNECTIONS: &str =
    "Bertie verifies no certificates and has no HTTP client: its worker does the suite alone";

impl Stack for BertieStack {
    fn name(&self) -> &'static str {
        "bertie"
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        const LOCK: &str = include_str!("../../../Cargo.lock");
        let verifier = (WorkerRecord::VERIFIER, WorkerRecord::NO_VERIFIER.to_owned());
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: locked_package(LOCK, "bertie"),
                provider: Some(locked_package(LOCK, "libcrux")),
                connector: "none".to_owned(),
                build: build_facts_with([verifier]),
            },
            operations: [Suite].into(),
            trust_sources: Vec::new(),
            groups: settings::GROUPS.map(|(group, _)| group).to_vec(),
            suites: settings::suites(),
            signatures: settings::SIGNATURES.map(|(scheme, _)| scheme).to_vec(),
        }
    }

    fn connector(&self, _: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        Err(SetupError::unsupported(NO_CONNECTIONS))
    }

    fn acceptor(&self, _: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        Err(SetupError::unsupported(NO_CONNECTIONS))
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, _: &(dyn Error + 'static)) -> Option<Explained> {
        None
    }
}
