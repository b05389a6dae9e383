use std::{error::Error, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use netbench_protocol::{ServeSite, StackDescription};
use netbench_tls::ClientSettings;

use crate::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, OwnTrust, PageLoader,
    SetUpAction,
};

/// One TLS implementation in one configuration.
///
/// An adapter configures its library and wraps its hyper connector; this crate does all timing.
pub trait Stack: Send + Sync {
    /// The stack's name.
    fn name(&self) -> &'static str;

    /// Returns the description of the stack. Must not initialise the library, because `cold` measures that.
    fn describe(&self) -> StackDescription;

    /// Parses the roots and makes the TLS configuration and the hyper connector: the phase `connector`.
    ///
    /// # Errors
    /// Roots or a certificate that cannot be used, or settings that the library cannot express.
    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError>;

    /// Makes a loader of pages as an embedder of the network stack does, with an empty cache. A stack with a loader
    /// lists `load` among its operations.
    ///
    /// # Errors
    /// The stack has no loader, or the loader cannot be made.
    fn page_loader(
        &self,
        _settings: &ClientSettings,
        _roots_pem: &str,
    ) -> Result<Box<dyn PageLoader>, SetupError> {
        Err(SetupError::unsupported("its worker loads no pages"))
    }

    /// Returns whether a connector with `settings` needs a new process, because the library has a different
    /// configuration in this process and cannot be configured again. The worker then restarts itself.
    fn needs_another_process(&self, _settings: &ClientSettings) -> bool {
        false
    }

    /// Returns the reason why no connector resumes a session, if that is the case.
    fn never_resumes(&self) -> Option<&'static str> {
        None
    }

    /// Makes the server's configuration for one site.
    ///
    /// # Errors
    /// A chain or key that cannot be used, or settings that the library cannot express.
    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError>;

    /// Returns the steps of the library's set-up, once per process, in the order of a first connection. Must not
    /// initialise the library before the steps are run. Empty for a stack that cannot separate the steps; a stack that
    /// can lists `set-up` among its operations.
    fn set_up_actions<'a>(
        &'a self,
        _settings: &'a ClientSettings,
        _roots_pem: &'a str,
    ) -> Vec<SetUpAction<'a>> {
        Vec::new()
    }

    /// Returns the stack's interface for the in-memory suite, if it has one.
    fn in_memory(&self) -> Option<&dyn InMemory> {
        None
    }

    /// Makes a verifier that verifies chains as the stack's connector does, without a connection. A stack with a
    /// verifier lists `verify` among its operations.
    ///
    /// # Errors
    /// The stack has no verifier, or the verifier cannot be made.
    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Err(SetupError::unsupported(
            "its worker has no verifier without a connection",
        ))
    }

    /// Makes the connector of a client without configured roots, which uses the roots from `source`, one of the
    /// description's `trust_sources`.
    ///
    /// # Errors
    /// The source has no roots, or none that can be used.
    fn own_trust(&self, source: &str) -> Result<OwnTrust, SetupError> {
        Err(SetupError::Unsupported(format!(
            "its worker does not look for roots by itself ({source})"
        )))
    }

    /// Returns the processor's instructions that the library may use, as it reports them: the bits of CPUID's leaf 7,
    /// ECX above EBX. `None` for a library that does not heed `OPENSSL_ia32cap`, or does not report the instructions.
    fn capabilities(&self) -> Option<u64> {
        None
    }

    /// Returns the FIPS 140 module that performs the cryptography, if the library reports one. The worker calls this
    /// function at its start, so it must not initialise anything that a first connection would.
    fn fips(&self) -> Option<String> {
        None
    }

    /// Explains an error of this library. Returns `None` for other errors.
    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained>;
}

/// A configuration that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The stack does not support the configuration.
    #[error("{0}")]
    Unsupported(String),
    /// The library refused.
    #[error("{0}")]
    Refused(String),
}

/// Returns a function that converts an error of the library in the operation `what`, as [`SetupError::refused`].
pub fn refused<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> SetupError {
    move |error| SetupError::refused(what, error)
}

/// Decodes base64 in a request. `what` is its name in an error.
///
/// # Errors
/// The text is not base64.
pub fn of_base64(what: &str, text: &str) -> Result<Vec<u8>, SetupError> {
    BASE64_STANDARD.decode(text).map_err(refused(what))
}

impl SetupError {
    /// Creates the error that the stack does not support the configuration, for this reason.
    pub fn unsupported(why: impl Into<String>) -> Self {
        Self::Unsupported(why.into())
    }

    /// Creates an error from the library's error and the failed operation.
    pub fn refused(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Refused(format!("{what}: {error}"))
    }
}
