use std::{error::Error, sync::Arc};

use netbench_protocol::{ServeSite, StackDescription};
use netbench_stack_openssl::{
    OpenSsl,
    native_tls::{NEVER_RESUMES, only_own_settings},
    watch::{self, Watch as Watched},
};
use netbench_tls::Negotiated;
use netbench_worker::{Accept, ClientSetup, Explained, Fetch, Probe, SetupError, Stack};
use reqwest::{Certificate, Client};

use crate::{
    client::{self, Watch},
    package_version,
};

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
        let hyper = package_version("hyper-tls");
        self.openssl.under_native_tls(
            self.name(),
            package_version("native-tls"),
            format!("{}, {hyper}", package_version("reqwest")),
        )
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        setup.without_identity("the worker of reqwest")?;
        only_own_settings(setup.settings)?;
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
        Some(NEVER_RESUMES)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        self.openssl.explain_native_tls::<native_tls::Error>(error)
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
