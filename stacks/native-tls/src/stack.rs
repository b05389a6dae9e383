use std::{error::Error, sync::Arc};

use netbench_protocol::{ClientIdentity, ServeSite, StackDescription};
use netbench_stack_openssl::OpenSsl;
use netbench_tls::{ClientSettings, FailureClass, FailureWord, WorkerRecord};
use netbench_worker::{Accept, Explained, Fetch, Probe, SetupError, Stack, locked_version};

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
        let version = |package| {
            let version = locked_version(include_str!("../../../Cargo.lock"), package);
            format!("{package} {}", version.unwrap_or_default())
        };
        let openssl = self.openssl.describe();
        StackDescription {
            record: WorkerRecord {
                stack: self.name().to_owned(),
                library: version("native-tls"),
                provider: Some(openssl.record.library),
                connector: version("hyper-tls"),
                ..openssl.record
            },
            operations: ["connect", "serve", "request"].map(str::to_owned).to_vec(),
            trust_sources: Vec::new(),
            ..openssl
        }
    }

    fn connector(
        &self,
        settings: &ClientSettings,
        roots_pem: &str,
        identity: Option<&ClientIdentity>,
        probe: &Probe,
    ) -> Result<Box<dyn Fetch>, SetupError> {
        if identity.is_some() {
            return Err(SetupError::Unsupported(
                "the worker of native-tls shows no client certificate".to_owned(),
            ));
        }
        client::connector(settings, roots_pem, probe)
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
