//! Certificates as PEM (RFC 7468).

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::der;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// An error in a PEM file of certificates. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PemError {
    /// The file has no certificate.
    #[error("no certificate in it; expected PEM with at least one \"{BEGIN}\"")]
    NoCertificate,
    /// The file has a private key and no certificate.
    #[error("it has a private key, and no certificate")]
    PrivateKey,
    /// The file is DER.
    #[error("it is DER; expected PEM: `openssl x509 -inform der` converts a certificate")]
    Der,
    /// The certificate that begins at this line has no last line.
    #[error("the certificate that begins at line {0} does not end; expected \"{END}\"")]
    NoEnd(usize),
    /// This line is not base64, or that of the certificate that begins at this line if only the whole body shows it.
    #[error("line {0} is not base64")]
    NotBase64(usize),
    /// The bytes that begin at this line are not a certificate.
    #[error("what begins at line {0} is base64, but not a certificate in DER")]
    NotCertificate(usize),
}

/// Encodes `der` as a PEM block of this label.
pub(crate) fn encode(label: &str, der: &[u8]) -> String {
    let mut pem = format!("-----BEGIN {label}-----\n");
    let text = BASE64_STANDARD.encode(der);
    for line in text.as_bytes().chunks(64) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

/// Encodes `der` as the PEM of a certificate.
pub(crate) fn certificate(der: &[u8]) -> String {
    encode("CERTIFICATE", der)
}

/// Returns the certificates in a PEM file, as DER. Text between them, and blocks of other labels,
/// are skipped.
pub(crate) fn certificates(file: &[u8]) -> Result<Vec<Vec<u8>>, PemError> {
    if file.starts_with(&[0x30, 0x82]) {
        return Err(PemError::Der);
    }
    // Comments may be in any encoding; the relevant lines are ASCII.
    let text = String::from_utf8_lossy(file);
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        open = match open {
            None if line == BEGIN => Some((number, String::new())),
            None => None,
            Some((begin, body)) if line == END => {
                let der = BASE64_STANDARD
                    .decode(body)
                    .map_err(|_| PemError::NotBase64(begin))?;
                der::subject(&der).ok_or(PemError::NotCertificate(begin))?;
                found.push(der);
                None
            }
            Some((begin, _)) if line.starts_with("-----") => {
                return Err(PemError::NoEnd(begin));
            }
            Some((begin, mut body)) => {
                if !line
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
                {
                    return Err(PemError::NotBase64(number));
                }
                body.push_str(line);
                Some((begin, body))
            }
        };
    }
    match open {
        Some((line, _)) => Err(PemError::NoEnd(line)),
        None if found.is_empty() && text.contains("PRIVATE KEY-----") => Err(PemError::PrivateKey),
        None if found.is_empty() => Err(PemError::NoCertificate),
        None => Ok(found),
    }
}
