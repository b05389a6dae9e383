//! Features that s2n-tls lacks or does not report, with any libcrypto.

use netbench_tls::{
    CertificateFault, ClientAuth, FailureClass, FailureReason, FailureWord, HandshakeKind,
    ParallelWork, RootsForm, Scenario, Work,
};
use netbench_worker_test::{ComesTo, Exception};

/// Returns the exceptions from the rules for connections.
pub(crate) fn exceptions() -> [Exception; 5] {
    let closed = ComesTo::Failure(FailureClass::Closed, FailureWord::EndOfStream.into());
    let no_scheme = FailureReason::Library("invalid-signature-scheme".to_owned());
    [
        Exception {
            cases: "*-unknown-root.test",
            comes_to: ComesTo::Failure(FailureClass::Certificate, CertificateFault::Other.into()),
            why: "s2n-tls has one error for all certificates that it does not trust",
        },
        Exception {
            cases: "{no-suite*,no-group}.test",
            comes_to: closed.clone(),
            why: "as a server, s2n-tls ends most handshakes that fail without saying why",
        },
        Exception {
            cases: "1-?-no-scheme-for-the-key.test",
            comes_to: ComesTo::Failure(FailureClass::Protocol, no_scheme),
            why: "as a server, s2n-tls signs with another scheme rather than not at all",
        },
        Exception {
            cases: "no-protocol.test",
            comes_to: ComesTo::NoProtocol,
            why: "as a server, s2n-tls goes on without a protocol where there is none in common",
        },
        Exception {
            cases: "fault-garbage.test",
            comes_to: closed,
            why: "s2n-tls waits for the end of a record of any length before it looks at it",
        },
    ]
}

/// Returns whether the suite's scenario is beyond the library or its crate.
pub(crate) fn lacks(scenario: &Scenario) -> bool {
    match scenario.work {
        // The crate's server keeps no sessions, and the library resumes none with client authentication.
        Work::Handshake { kind, settings } => {
            kind == HandshakeKind::SessionId
                || (kind == HandshakeKind::Ticket && settings.client_auth == ClientAuth::On)
        }
        Work::Threads { work, .. } => work == ParallelWork::Handshake(HandshakeKind::SessionId),
        // The library verifies chains only in handshakes, and accepts trust roots only in PEM.
        Work::Verify { .. } | Work::ParallelVerify { .. } => true,
        Work::Connector { form, .. } => form == RootsForm::Der,
        // The library's cryptography is its libcrypto's, to which it has no interface.
        Work::Crypto { .. } => true,
        Work::Bulk { .. } | Work::Memory { .. } => false,
    }
}
