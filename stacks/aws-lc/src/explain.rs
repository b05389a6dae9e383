use netbench_tls::CertificateFault;
use openssl::{
    error::{Error, ErrorStack},
    x509::X509VerifyResult,
};

/// Returns the cause: the first error. Later ones show where it was noticed.
pub(crate) fn cause(stack: &ErrorStack) -> Option<&Error> {
    stack.errors().first()
}

/// Maps a result of `X509_verify_cert`: the numbers are the `X509_V_ERR_` ones of openssl/x509.h.
pub(crate) fn certificate_fault(result: X509VerifyResult) -> CertificateFault {
    match result.as_raw() {
        37 => CertificateFault::BadCa,
        _ => netbench_libssl::certificate_fault(result),
    }
}
