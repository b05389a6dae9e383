//! How errors are named, by what they say of themselves. The worker of another line of rustls compiles this file too.

use netbench_model::CertificateFault;

/// What webpki finds wrong beyond the words of rustls, by the names of its errors; and how rustls-platform-verifier says that a
/// certificate is for another purpose.
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
