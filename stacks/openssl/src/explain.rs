use netbench_tls::CertificateFault;
use openssl::{
    error::{Error, ErrorStack},
    x509::X509VerifyResult,
};

/// Returns the cause: the last error, which is the nearest to the handshake, except for this one, which is less specific
/// than the one before it.
pub(crate) fn cause(stack: &ErrorStack) -> Option<&Error> {
    const VAGUE: &str = "record layer failure";
    let errors = stack.errors();
    let specific = errors.iter().rfind(|error| error.reason() != Some(VAGUE));
    specific.or(errors.last())
}

/// Maps a result of `X509_verify_cert`: the numbers are the `X509_V_ERR_` ones of openssl/x509_vfy.h.
pub(crate) fn certificate_fault(result: X509VerifyResult) -> CertificateFault {
    match result.as_raw() {
        79 => CertificateFault::BadCa,
        66..=68 => CertificateFault::WeakOrUnknownSignature,
        _ => netbench_libssl::certificate_fault(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_results_have_the_words_of_every_worker() {
        let cases = [
            (20, CertificateFault::UnknownIssuer),
            (10, CertificateFault::Expired),
            (62, CertificateFault::WrongName),
            (9, CertificateFault::NotYetValid),
        ];
        for (code, word) in cases {
            // SAFETY: any number is a result; OpenSSL reports an unknown number as such.
            let result = unsafe { X509VerifyResult::from_raw(code) };
            assert_eq!(certificate_fault(result), word, "{}", result.error_string());
        }
    }
}
