//! Certificates and keys in Bertie's format: a certificate as DER, and only the secret number of a key.

use bertie::{
    tls13crypto::{SignatureKey, SignatureScheme},
    tls13utils::Bytes,
};
use netbench_worker::SetupError;
use pkcs1::RsaPrivateKey;
use pkcs8::{
    PrivateKeyInfo,
    der::{
        Decode, SliceReader, Tag, Tagged,
        asn1::{AnyRef, SequenceRef},
    },
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use sec1::EcPrivateKey;

/// Returns the only certificate of a chain of one.
pub(crate) fn certificate(chain_pem: &str) -> Result<Vec<u8>, SetupError> {
    let mut chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes());
    let leaf = match (chain.next(), chain.next()) {
        (Some(Ok(leaf)), None) => leaf.to_vec(),
        (Some(Ok(_)), Some(_)) => return Err(refused("chain: more than one certificate")),
        _ => return Err(refused("chain: no certificate")),
    };
    // Bertie parses its input without checking all lengths.
    match AnyRef::from_der(&leaf) {
        Ok(whole) if whole.tag() == Tag::Sequence && begins_with_sequence(whole.value()) => {
            Ok(leaf)
        }
        _ => Err(refused("chain: not a certificate")),
    }
}

fn begins_with_sequence(der: &[u8]) -> bool {
    SliceReader::new(der).is_ok_and(|mut reader| SequenceRef::decode(&mut reader).is_ok())
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

fn secret(pkcs8: &[u8], scheme: SignatureScheme) -> Option<&[u8]> {
    let key = PrivateKeyInfo::try_from(pkcs8).ok()?.private_key;
    match scheme {
        SignatureScheme::EcdsaSecp256r1Sha256 => {
            let secret = EcPrivateKey::try_from(key).ok()?.private_key;
            (secret.len() == 32).then_some(secret)
        }
        SignatureScheme::RsaPssRsaSha256 => {
            let key = RsaPrivateKey::try_from(key).ok()?;
            let (modulus, exponent) = (key.modulus.as_bytes(), key.private_exponent.as_bytes());
            // libcrux requires as many bytes as the modulus has.
            (exponent.len() == modulus.len()).then_some(exponent)
        }
        SignatureScheme::ED25519 => None,
    }
}
