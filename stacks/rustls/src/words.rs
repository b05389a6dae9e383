//! The classification of errors by their names. The worker of another line of rustls compiles this file too.

use netbench_tls::CertificateFault;

/// Maps webpki's errors for which rustls has no variant, by their names; and rustls-platform-verifier's
/// message that a certificate is for another purpose.
pub(crate) fn other_fault(text: &str) -> CertificateFault {
    use CertificateFault as F;
    const NAMES: [(&str, CertificateFault); 7] = [
        ("certificate had invalid extensions", F::BadPurpose),
        ("CaUsedAsEndEntity", F::CaAsLeaf),
        ("EndEntityUsedAsCa", F::BadCa),
        ("PathLenConstraintViolated", F::BadCa),
        ("UnsupportedCriticalExtension", F::UnknownCriticalExtension),
        ("ExtensionValueInvalid", F::BadEncoding),
        ("SignatureAlgorithmMismatch", F::BadSignature),
    ];
    let found = NAMES.iter().find(|(name, _)| text.contains(name));
    found.map_or(F::Other, |(_, fault)| *fault)
}
