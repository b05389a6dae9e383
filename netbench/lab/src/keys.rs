//! Generation of key pairs on all cores.

use std::collections::BTreeMap;

use aws_lc_rs::signature::Ed25519KeyPair;
use netbench_model::KeyType;
use rcgen::{KeyPair, RsaKeySize};

use crate::cores::on_all_cores;

/// Makes one key pair for each of `wanted`.
///
/// The generation of a pair cannot be interrupted, so only the number of pairs limits the time. Twenty pairs
/// each on one core of a small virtual machine took 0.2 to 2.4 s for RSA-4096 (median 0.6 s), 0.04 to 0.27 s
/// for RSA-2048.
pub(crate) fn generate<K: Ord + Clone + Send>(
    wanted: &[(K, KeyType)],
) -> Result<BTreeMap<K, KeyPair>, rcgen::Error> {
    let mut queue = wanted.to_vec();
    // The queue is taken from its end: the pairs that take longest are generated first, and no core waits for the last
    // pair of another.
    queue.sort_by_key(|(_, key_type)| cost(*key_type));
    let made = on_all_cores(queue, |(name, key_type)| {
        Ok((name, generate_one(key_type)?))
    })?;
    Ok(made.into_iter().collect())
}

/// Returns a pair's private key as PKCS#8 in DER.
pub(crate) fn pkcs8(pair: &KeyPair) -> Result<Vec<u8>, rcgen::Error> {
    if pair.algorithm() != &rcgen::PKCS_ED25519 {
        return Ok(pair.serialize_der());
    }
    // OpenSSL does not read version 2 of PKCS#8 (RFC 5958), which the pair contains.
    let broken = rcgen::Error::CouldNotParseKeyPair;
    let Ok(pair) = Ed25519KeyPair::from_pkcs8(pair.serialized_der()) else {
        return Err(broken);
    };
    pair.to_pkcs8v1()
        .map(|document| document.as_ref().to_vec())
        .map_err(|_| broken)
}

fn generate_one(key_type: KeyType) -> Result<KeyPair, rcgen::Error> {
    match key_type {
        KeyType::Rsa2048 => rsa(RsaKeySize::_2048),
        KeyType::Rsa3072 => rsa(RsaKeySize::_3072),
        KeyType::Rsa4096 => rsa(RsaKeySize::_4096),
        KeyType::EcdsaP256 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256),
        KeyType::EcdsaP384 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384),
        KeyType::Ed25519 => KeyPair::generate_for(&rcgen::PKCS_ED25519),
        KeyType::MlDsa44 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_44),
        KeyType::MlDsa65 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_65),
        KeyType::MlDsa87 => KeyPair::generate_for(&rcgen::PKCS_ML_DSA_87),
    }
}

fn rsa(size: RsaKeySize) -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, size)
}

fn cost(key_type: KeyType) -> u8 {
    match key_type {
        KeyType::Ed25519 | KeyType::EcdsaP256 | KeyType::EcdsaP384 => 0,
        KeyType::MlDsa44 | KeyType::MlDsa65 | KeyType::MlDsa87 => 0,
        KeyType::Rsa2048 => 1,
        KeyType::Rsa3072 => 2,
        KeyType::Rsa4096 => 3,
    }
}
