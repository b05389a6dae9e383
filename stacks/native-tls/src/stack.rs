use std::{error::Error, sync::Arc};

use netbench_protocol::{ServeSite, StackDescription};
use netbench_stack_openssl::{OpenSsl, native_tls::NEVER_RESUMES};
use netbench_worker::{Accept, ClientSetup, Explained, Fetch, SetupError, Stack, locked_package};

use crate::client;

/// native-tls as a client. Its server is OpenSSL's, as native-tls' own has no settings for a site.
pub(crate) struct NativeTls {
    openssl: OpenSsl,
}

impl NativeTls {
    pub(crate) fn new(executable: &'static str) -> Self {
        Self {
            openssl: OpenSsl::linked(executable),
        }
    }
}

impl Stack for NativeTls {
    fn name(&self) -> &'static str {
        "native-tls"
    }

    fn describe(&self) -> StackDescription {
        const LOCK: &str = include_str!("../../../Cargo.lock");
        self.openssl.under_native_tls(
            self.name(),
            locked_package(LOCK, "native-tls"),
            locked_package(LOCK, "hyper-tls"),
        )
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        setup.without_identity("the worker of native-tls")?;
        client::connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.openssl.acceptor(site)
    }

    fn never_resumes(&self) -> Option<&'static str> {
        Some(NEVER_RESUMES)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        self.openssl.explain_native_tls::<native_tls::Error>(error)
    }
}
