use std::{error::Error, ffi::c_int, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack,
    build_facts_with, locked_package, supported,
};

use crate::{chain, client, explain, server, settings};

/// BoringSSL as the crate boring-sys builds it.
pub(crate) struct BoringSsl;

impl Stack for BoringSsl {
    fn name(&self) -> &'static str {
        "boringssl"
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        const LOCK: &str = include_str!("../../../Cargo.lock");
        // BoringSSL has no releases. This number grows whenever its interface changes.
        let interface = boring_sys::BORINGSSL_API_VERSION.to_string();
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: format!("BoringSSL of {}", locked_package(LOCK, "boring-sys")),
                provider: None,
                connector: locked_package(LOCK, "hyper-boring"),
                build: build_facts_with([("library_api", interface)]),
            },
            operations: [
                Connect,
                Serve,
                Suite,
                Request,
                ClientCertificate,
                Verify,
                Ech,
                EchGrease,
                ServesEch,
            ]
            .into(),
            trust_sources: Vec::new(),
            groups: supported(Group::OFFERED, settings::can_group),
            suites: supported(CipherSuite::SERVED, settings::can_suite),
            signatures: SignatureScheme::known(),
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(site)
    }

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Ok(Box::new(chain::client_of_chains()?))
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    #[cfg(target_arch = "x86_64")]
    fn capabilities(&self) -> Option<u64> {
        // SAFETY: the function takes the number of a word, of which there are four.
        let [ebx, ecx] = [2, 3].map(|word| unsafe { capability_word(word) });
        Some(u64::from(ecx) << 32 | u64::from(ebx))
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        explain::explain(error)
    }
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    /// Returns a word of the processor's capabilities, without those that `OPENSSL_ia32cap` hides:
    /// `bssl::OPENSSL_get_ia32cap(int)` of `crypto/internal.h`. BoringSSL has no public function that reports them.
    #[link_name = "_ZN4bssl19OPENSSL_get_ia32capEi"]
    fn capability_word(word: c_int) -> u32;
}
