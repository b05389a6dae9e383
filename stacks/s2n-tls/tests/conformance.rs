//! Conformance tests of the worker of `s2n-tls`, except for features that its library lacks or does not
//! report.

use std::path::Path;

use netbench_tls::{
    CertificateFault, ClientAuth, FailureClass, FailureReason, FailureWord, HandshakeKind,
    ParallelWork, RootsForm, Work,
};
use netbench_worker_test::{
    ComesTo, Exception, conformance_but, nginx, openssl_command, protocol, suite_without,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-s2n-tls");

const STACK: &str = "s2n-tls";

netbench_testing::tests! {
    it_serves_and_connects_to_itself;
    it_keeps_to_the_protocol;
    it_gets_on_with_the_openssl_command: OpensslCommand;
    it_gets_on_with_nginx: Nginx;
    it_does_the_suite;
}

fn it_serves_and_connects_to_itself() {
    let closed = ComesTo::Failure(FailureClass::Closed, FailureWord::EndOfStream.into());
    let no_scheme = FailureReason::Library("invalid-signature-scheme".to_owned());
    let exceptions = [
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
    ];
    conformance_but(Path::new(WORKER), STACK, &exceptions);
}

fn it_keeps_to_the_protocol() {
    protocol(Path::new(WORKER), STACK);
}

fn it_gets_on_with_the_openssl_command() {
    openssl_command(Path::new(WORKER), STACK);
}

fn it_gets_on_with_nginx() {
    nginx(Path::new(WORKER), STACK);
}

fn it_does_the_suite() {
    suite_without(Path::new(WORKER), STACK, |scenario| match scenario.work {
        // The crate's server keeps no sessions, and the library resumes none with client authentication.
        Work::Handshake { kind, settings } => {
            kind == HandshakeKind::SessionId
                || (kind == HandshakeKind::Ticket && settings.client_auth == ClientAuth::On)
        }
        Work::Threads { work, .. } => work == ParallelWork::Handshake(HandshakeKind::SessionId),
        // The library verifies chains only in handshakes, and accepts trust roots only in PEM.
        Work::Verify { .. } | Work::ParallelVerify { .. } => true,
        Work::Connector { form, .. } => form == RootsForm::Der,
        // The library's cryptography is AWS-LC's, to which it has no interface.
        Work::Crypto { .. } => true,
        Work::Bulk { .. } | Work::Memory { .. } => false,
    });
}
