use std::{error::Error, sync::Arc};

use netbench_protocol::{ServeSite, StackDescription};
use netbench_stack_openssl::{
    OpenSsl,
    watch::{self, Watch as Watched},
};
use netbench_tls::{FailureClass, FailureWord, Negotiated, Profile, WorkerRecord};
use netbench_worker::{Accept, ClientSetup, Explained, Fetch, Probe, SetupError, Stack};
use reqwest::{Certificate, Client};

use crate::{
    client::{self, Watch},
    package_version,
};

/// The openssl crate's message for the end of the stream in a handshake.
const UNEXPECTED_EOF: &str = "unexpected EOF";

/// reqwest with native-tls. Its server is OpenSSL's.
pub struct NativeTls {
    openssl: OpenSsl,
}

impl NativeTls {
    /// Makes the stack for the worker `executable`.
    pub fn new(executable: &'static str) -> Self {
        Self {
            openssl: OpenSsl::linked(executable),
        }
    }
}

impl Stack for NativeTls {
    fn name(&self) -> &'static str {
        "reqwest-native-tls"
    }

    fn describe(&self) -> StackDescription {
        let openssl = self.openssl.describe();
        let hyper = package_version("hyper-tls");
        StackDescription {
            record: WorkerRecord {
                stack: self.name().to_owned(),
                library: package_version("native-tls"),
                provider: Some(openssl.record.library),
                connector: format!("{}, {hyper}", package_version("reqwest")),
                ..openssl.record
            },
            operations: ["connect", "serve", "request"].map(str::to_owned).to_vec(),
            trust_sources: Vec::new(),
            ..openssl
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        setup.without_identity("the worker of reqwest")?;
        if setup.settings.profile != Profile::Library {
            return Err(SetupError::Unsupported(
                "native-tls has no setting for cipher suites, groups and signature schemes: \
                 --client-profile library measures it with its own"
                    .to_owned(),
            ));
        }
        watch::contexts()?;
        let roots = Certificate::from_pem_bundle(setup.roots_pem.as_bytes())
            .map_err(|e| SetupError::refused("roots", client::in_full(&e)))?;
        let builder = Client::builder().tls_backend_native();
        client::connector::<Handshakes>(builder, setup, roots)
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

/// An observer of OpenSSL's handshakes, through its contexts.
struct Handshakes;

impl Watch for Handshakes {
    type Guard = Watched;

    fn begin(probe: &Probe) -> Watched {
        Watched::begin(probe)
    }

    fn agreed() -> Negotiated {
        // SAFETY: the connection that has the session was just made, and is alive.
        unsafe { watch::agreed() }
    }
}
