use netbench_model::FailureClass::{self, Alert, Certificate, Protocol};
use netbench_worker::Explained;
use rustls::{AlertDescription, CertificateError, Error};

/// What an error of rustls means.
pub(crate) fn explain(error: &Error) -> Explained {
    match error {
        Error::AlertReceived(alert) => Explained::new(Alert, alert_name(*alert)),
        Error::InvalidCertificate(fault) => Explained::new(Certificate, certificate_fault(fault)),
        Error::NoCertificatesPresented => Explained::new(Certificate, "none presented"),
        Error::General(text) => Explained::new(FailureClass::Setup, kebab(text)),
        other => Explained::new(Protocol, kebab(&format!("{other:?}"))),
    }
}

/// The alert's name in RFC 8446 section 6.
fn alert_name(alert: AlertDescription) -> String {
    alert
        .as_str()
        .map_or_else(|| format!("{:#04x}", u8::from(alert)), snake)
}

/// The words for a certificate's fault, which every worker uses.
pub(crate) fn certificate_fault(fault: &CertificateError) -> &'static str {
    use CertificateError as E;
    match fault {
        E::BadEncoding => "bad-encoding",
        E::Expired | E::ExpiredContext { .. } => "expired",
        E::NotValidYet | E::NotValidYetContext { .. } => "not-yet-valid",
        E::Revoked => "revoked",
        E::UnknownIssuer => "unknown-issuer",
        E::BadSignature => "bad-signature",
        E::NotValidForName | E::NotValidForNameContext { .. } => "wrong-name",
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => "bad-purpose",
        E::UnhandledCriticalExtension => "unknown-critical-extension",
        E::UnsupportedSignatureAlgorithmContext { .. }
        | E::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => "weak-or-unknown-signature",
        E::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => "ca-as-leaf",
        _ => "other",
    }
}

/// `HandshakeFailure` as `handshake_failure`.
fn snake(name: &str) -> String {
    words(name, '_')
}

/// The variants' names of a debug text, without what they carry in braces:
/// `PeerIncompatible(Tls13RequiredForQuic)` as `peer-incompatible-tls13-required-for-quic`.
fn kebab(text: &str) -> String {
    let head = text.split(['{', '"', '[']).next().unwrap_or_default();
    words(&head.replace(['(', ')'], ""), '-')
}

fn words(name: &str, separator: char) -> String {
    let mut out = String::new();
    for c in name.trim().chars() {
        if c.is_ascii_uppercase() && !out.is_empty() && !out.ends_with(separator) {
            out.push(separator);
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with(separator) {
            out.push(separator);
        }
    }
    out.trim_end_matches(separator).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{InvalidMessage, PeerIncompatible};

    #[test]
    fn errors_have_stable_words() {
        let cases = [
            (
                Error::AlertReceived(AlertDescription::HandshakeFailure),
                Alert,
                "handshake_failure",
            ),
            (
                Error::AlertReceived(AlertDescription::ProtocolVersion),
                Alert,
                "protocol_version",
            ),
            (
                CertificateError::UnknownIssuer.into(),
                Certificate,
                "unknown-issuer",
            ),
            (CertificateError::Expired.into(), Certificate, "expired"),
            (
                InvalidMessage::InvalidContentType.into(),
                Protocol,
                "invalid-message-invalid-content-type",
            ),
            (
                PeerIncompatible::NoCipherSuitesInCommon.into(),
                Protocol,
                "peer-incompatible-no-cipher-suites-in-common",
            ),
        ];
        for (error, class, reason) in cases {
            assert_eq!(explain(&error), Explained::new(class, reason), "{error:?}");
        }
    }
}
