//! The common parts of stacks with native-tls, which uses this OpenSSL, and whose server is this one.

use std::error::Error;

use netbench_protocol::{Operation, StackDescription};
use netbench_tls::{ClientSettings, FailureClass, FailureWord, Profile, WorkerRecord};
use netbench_worker::{Explained, SetupError, Stack};

use crate::OpenSsl;

/// The reason why no connector resumes a session.
pub const NEVER_RESUMES: &str = "native-tls keeps no sessions";

/// The openssl crate's message for the end of the stream in a handshake.
const UNEXPECTED_EOF: &str = "unexpected EOF";

impl OpenSsl {
    /// Returns the description of a stack with native-tls.
    pub fn under_native_tls(
        &self,
        stack: &str,
        native_tls: String,
        connector: String,
    ) -> StackDescription {
        let openssl = self.describe();
        StackDescription {
            record: WorkerRecord {
                stack: stack.to_owned(),
                library: native_tls,
                provider: Some(openssl.record.library),
                connector,
                ..openssl.record
            },
            operations: [Operation::Connect, Operation::Serve, Operation::Request].into(),
            trust_sources: Vec::new(),
            ..openssl
        }
    }

    /// Explains an error of native-tls, whose type is `E`, or of this library.
    pub fn explain_native_tls<E: Error + 'static>(
        &self,
        error: &(dyn Error + 'static),
    ) -> Option<Explained> {
        // native-tls does not report that this is an error of OpenSSL.
        if let Some(error) = error.downcast_ref::<E>()
            && error.source().is_none()
            && error.to_string() == UNEXPECTED_EOF
        {
            let ended = FailureWord::EndOfStream;
            return Some(Explained::new(FailureClass::Closed, ended));
        }
        self.explain(error)
    }
}

/// Refuses settings that native-tls does not have.
///
/// # Errors
/// Other settings than the library's.
pub fn only_own_settings(settings: &ClientSettings) -> Result<(), SetupError> {
    if settings.profile == Profile::Library {
        return Ok(());
    }
    Err(SetupError::unsupported(
        "native-tls has no setting for cipher suites, groups and signature schemes: \
         --client-profile library measures it with its own",
    ))
}
