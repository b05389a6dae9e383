//! Certificates and keys in Bertie's format: a certificate as DER, and only the secret number of a key.

use bertie::{
    tls13crypto::{SignatureKey, SignatureScheme},
    tls13utils::Bytes,
};
use netbench_worker::SetupError;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

/// Tags of DER.
const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// Returns the only certificate of a chain of one.
pub(crate) fn certificate(chain_pem: &str) -> Result<Vec<u8>, SetupError> {
    let mut chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes());
    let leaf = match (chain.next(), chain.next()) {
        (Some(Ok(leaf)), None) => leaf.to_vec(),
        (Some(Ok(_)), Some(_)) => return Err(refused("chain: more than one certificate")),
        _ => return Err(refused("chain: no certificate")),
    };
    // Bertie parses its input without checking all lengths.
    let mut rest = &leaf[..];
    let body = value(&mut rest, SEQUENCE).ok_or_else(|| refused("chain: not a certificate"))?;
    let mut body = body;
    match (value(&mut body, SEQUENCE), rest) {
        (Some(_), []) => Ok(leaf),
        _ => Err(refused("chain: not a certificate")),
    }
}

/// Returns the secret number of a key in PKCS#8.
pub(crate) fn signature_key(
    key_pem: &str,
    scheme: SignatureScheme,
) -> Result<SignatureKey, SetupError> {
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes())
        .map_err(|e| SetupError::refused("key", e))?;
    let PrivateKeyDer::Pkcs8(key) = &key else {
        return Err(refused("key: not PKCS#8"));
    };
    let secret = secret(key.secret_pkcs8_der(), scheme);
    let secret = secret.ok_or_else(|| refused("key: of another type than the chain's"))?;
    Ok(Bytes::from(secret))
}

fn refused(why: &str) -> SetupError {
    SetupError::Refused(why.to_owned())
}

/// Parses RFC 5958 section 2, and in it RFC 5915 section 3 or RFC 8017 appendix A.1.2.
fn secret(mut pkcs8: &[u8], scheme: SignatureScheme) -> Option<&[u8]> {
    let mut info = value(&mut pkcs8, SEQUENCE)?;
    value(&mut info, INTEGER)?;
    value(&mut info, SEQUENCE)?;
    let mut wrapped = value(&mut info, OCTET_STRING)?;
    let mut key = value(&mut wrapped, SEQUENCE)?;
    value(&mut key, INTEGER)?;
    match scheme {
        SignatureScheme::EcdsaSecp256r1Sha256 => {
            value(&mut key, OCTET_STRING).filter(|secret| secret.len() == 32)
        }
        SignatureScheme::RsaPssRsaSha256 => {
            let modulus = value(&mut key, INTEGER)?;
            value(&mut key, INTEGER)?;
            let exponent = value(&mut key, INTEGER)?;
            // libcrux requires as many bytes as the modulus has. DER has a zero before a number whose first
            // bit is set.
            let bytes = modulus.len().checked_sub(1)?;
            let exponent = exponent.strip_prefix(&[0]).unwrap_or(exponent);
            (exponent.len() == bytes).then_some(exponent)
        }
        SignatureScheme::ED25519 => None,
    }
}

/// Removes a value with this tag from the front.
fn value<'a>(der: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (found, rest) = der.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let mut length = usize::from(*first);
    if *first >= 0x80 {
        let bytes = rest.split_at_checked(usize::from(first & 0x7f))?;
        rest = bytes.1;
        length = (bytes.0.len() <= 4).then(|| {
            let bytes = bytes.0.iter();
            bytes.fold(0, |length, byte| length << 8 | usize::from(*byte))
        })?;
    }
    let (value, rest) = rest.split_at_checked(length)?;
    *der = rest;
    (*found == tag).then_some(value)
}
