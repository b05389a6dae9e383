use std::{error::Error, sync::Arc};

use netbench_protocol::{ServeSite, StackDescription};
use netbench_stack_openssl::OpenSsl;
use netbench_tls::{FailureClass, FailureWord, WorkerRecord};
use netbench_worker::{Accept, ClientSetup, Explained, Fetch, SetupError, Stack, locked_package};

use crate::client;

/// The openssl crate's message for the end of the stream in a handshake.
const UNEXPECTED_EOF: &str = "unexpected EOF";

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
        let openssl = self.openssl.describe();
        StackDescription {
            record: WorkerRecord {
                stack: self.name().to_owned(),
                library: locked_package(LOCK, "native-tls"),
                provider: Some(openssl.record.library),
                connector: locked_package(LOCK, "hyper-tls"),
                ..openssl.record
            },
            operations: ["connect", "serve", "request"].map(str::to_owned).to_vec(),
            trust_sources: Vec::new(),
            ..openssl
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        setup.without_identity("the worker of native-tls")?;
        client::connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.openssl.acceptor(site)
    }

    fn never_resumes(&self) -> Option<&'static str> {
        Some("native-tls keeps no sessions")
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        // native-tls does not report that this is an error of OpenSSL.
        if let Some(error) = error.downcast_ref::<native_tls::Error>()
            && error.source().is_none()
            && error.to_string() == UNEXPECTED_EOF
        {
            let ended = FailureWord::EndOfStream;
            return Some(Explained::new(FailureClass::Closed, ended));
        }
        self.openssl.explain(error)
    }
}
