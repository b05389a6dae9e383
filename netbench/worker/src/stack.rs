use std::{error::Error, sync::Arc};

use netbench_model::ClientSettings;
use netbench_protocol::{ClientIdentity, ServeSite, StackDescription};

use crate::{
    Accept, ChainVerifier, Explained, Fetch, InMemory, OwnTrust, PageLoader, Probe, SetUpAction,
};

/// One TLS implementation in one configuration.
///
/// An adapter sets its library up as told and wraps its hyper connector; all timing is done here.
pub trait Stack: Send + Sync {
    /// The stack's name.
    fn name(&self) -> &'static str;

    /// What it is. Must not initialise the library: `cold` measures that.
    fn describe(&self) -> StackDescription;

    /// Parses the roots and makes the TLS configuration and the hyper connector: the phase
    /// `connector`. The adapter reports its chain verification to `probe`. A server that asks for a certificate is
    /// shown `identity`.
    ///
    /// # Errors
    /// Roots or a certificate that cannot be used, or settings that the library cannot express.
    fn connector(
        &self,
        settings: &ClientSettings,
        roots_pem: &str,
        identity: Option<&ClientIdentity>,
        probe: &Probe,
    ) -> Result<Box<dyn Fetch>, SetupError>;

    /// The same, and the client offers early data where a ticket allows it.
    ///
    /// # Errors
    /// As [`Stack::connector`], and where the hyper connector offers none.
    fn early_connector(
        &self,
        _settings: &ClientSettings,
        _roots_pem: &str,
        _identity: Option<&ClientIdentity>,
        _probe: &Probe,
    ) -> Result<Box<dyn Fetch>, SetupError> {
        Err(SetupError::Unsupported(format!(
            "the hyper connector of {} offers no early data",
            self.name()
        )))
    }

    /// Makes what loads pages as whoever embeds the network stack does, with an empty cache. A stack that has it says
    /// `load` among its operations.
    ///
    /// # Errors
    /// There is none, or it cannot be made.
    fn page_loader(
        &self,
        _settings: &ClientSettings,
        _roots_pem: &str,
    ) -> Result<Box<dyn PageLoader>, SetupError> {
        Err(SetupError::Unsupported(
            "its worker loads no pages".to_owned(),
        ))
    }

    /// Whether a connector with `settings` needs a new process, because the library was configured otherwise in this one and
    /// cannot be configured again. The worker then restarts itself.
    fn needs_another_process(&self, _settings: &ClientSettings) -> bool {
        false
    }

    /// Why no connector resumes a session, where none does.
    fn never_resumes(&self) -> Option<&'static str> {
        None
    }

    /// Makes the server's configuration for one site.
    ///
    /// # Errors
    /// A chain or key that cannot be used, or settings that the library cannot express.
    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError>;

    /// The steps of what the library sets up once per process, in the order in which a first connection
    /// takes them. Must not initialise the library before they are run. None for a stack that
    /// cannot take them one by one; one that can says `set-up` among its operations.
    fn set_up_actions<'a>(
        &'a self,
        _settings: &'a ClientSettings,
        _roots_pem: &'a str,
    ) -> Vec<SetUpAction<'a>> {
        Vec::new()
    }

    /// What the in-memory suite runs on, where the stack has it.
    fn in_memory(&self) -> Option<&dyn InMemory> {
        None
    }

    /// What verifies chains as the stack's connector does, without a connection. A stack that has it says `verify` among
    /// its operations.
    ///
    /// # Errors
    /// There is none, or it cannot be made.
    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Err(SetupError::Unsupported(
            "its worker has no verifier without a connection".to_owned(),
        ))
    }

    /// Makes the connector of a client that nobody gives any roots, with those from `source`, which is one of the
    /// description's `trust_sources`.
    ///
    /// # Errors
    /// There are no such roots, or none that can be used.
    fn own_trust(&self, source: &str) -> Result<OwnTrust, SetupError> {
        Err(SetupError::Unsupported(format!(
            "its worker does not look for roots by itself ({source})"
        )))
    }

    /// The processor's instructions that the library may use, as it tells them: the bits of CPUID's leaf 7, ECX above EBX. None
    /// for a library that heeds no `OPENSSL_ia32cap`, or does not tell.
    fn capabilities(&self) -> Option<u64> {
        None
    }

    /// The FIPS 140 module that does the cryptography, where the library says that one does. Asked as the worker starts, so it must not
    /// initialise what a first connection would.
    fn fips(&self) -> Option<String> {
        None
    }

    /// What an error of this library means, or none if it is not one of its own.
    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained>;
}

/// A configuration that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The stack has no way to do it.
    #[error("{0}")]
    Unsupported(String),
    /// The library refused.
    #[error("{0}")]
    Refused(String),
}

impl SetupError {
    /// The library's error with what was attempted.
    pub fn refused(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Refused(format!("{what}: {error}"))
    }
}
