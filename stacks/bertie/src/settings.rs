//! Bertie's settings: one suite, one group and one signature scheme for each side.

use bertie::tls13crypto::{AeadAlgorithm, Algorithms, HashAlgorithm, KemScheme, SignatureScheme};
use netbench_tls::{
    Aead, CipherSuite, ClientAuth, Group, HandshakeKind, SignatureScheme as Scheme, TlsVersion,
};
use netbench_worker::{EndpointSetup, SetupError};

/// The groups that Bertie supports.
pub(crate) const GROUPS: [(Group, KemScheme); 2] = [
    (Group::X25519, KemScheme::X25519),
    (Group::SECP256R1, KemScheme::Secp256r1),
];

/// The signature schemes that Bertie supports.
pub(crate) const SIGNATURES: [(Scheme, SignatureScheme); 2] = [
    (
        Scheme::ECDSA_SECP256R1_SHA256,
        SignatureScheme::EcdsaSecp256r1Sha256,
    ),
    (
        Scheme::RSA_PSS_RSAE_SHA256,
        SignatureScheme::RsaPssRsaSha256,
    ),
];

/// Returns the suites that Bertie supports.
pub(crate) fn suites() -> Vec<CipherSuite> {
    let offered = CipherSuite::OFFERED.iter().copied();
    offered.filter(|suite| suite.is_tls13()).collect()
}

/// Returns the suite of a side. Both sides have the same, as Bertie negotiates none.
///
/// # Errors
/// Returns an error if Bertie does not support the settings.
pub(crate) fn algorithms(setup: &EndpointSetup<'_>) -> Result<Algorithms, SetupError> {
    let settings = setup.settings;
    if settings.version != TlsVersion::Tls13 {
        return unsupported("Bertie speaks TLS 1.3 alone");
    }
    if setup.kind != HandshakeKind::Full {
        return unsupported("Bertie's server gives no tickets");
    }
    if settings.client_auth == ClientAuth::On {
        return unsupported("Bertie has no client authentication");
    }
    if settings.chain_length != 1 {
        return unsupported("Bertie's server sends one certificate, not a chain");
    }
    let scheme = settings.key.schemes().first();
    let signature = SIGNATURES.iter().find(|(known, _)| Some(known) == scheme);
    let group = GROUPS.iter().find(|(known, _)| *known == settings.group);
    let (Some((_, signature)), Some((_, group))) = (signature, group) else {
        return unsupported(&format!(
            "Bertie has no {} with {}",
            settings.key, settings.group
        ));
    };
    let (hash, aead) = match settings.aead {
        Aead::Aes128Gcm => (HashAlgorithm::SHA256, AeadAlgorithm::Aes128Gcm),
        Aead::Aes256Gcm => (HashAlgorithm::SHA384, AeadAlgorithm::Aes256Gcm),
        Aead::ChaCha20Poly1305 => (HashAlgorithm::SHA256, AeadAlgorithm::Chacha20Poly1305),
    };
    if settings.aead != Aead::ChaCha20Poly1305 && !has_aes() {
        return unsupported("libcrux has AES for processors with AES-NI alone");
    }
    Ok(Algorithms::new(
        hash, aead, *signature, *group, false, false,
    ))
}

pub(crate) fn unsupported<T>(why: &str) -> Result<T, SetupError> {
    Err(SetupError::unsupported(why))
}

#[cfg(target_arch = "x86_64")]
fn has_aes() -> bool {
    let (aes, multiply) = (
        is_x86_feature_detected!("aes"),
        is_x86_feature_detected!("pclmulqdq"),
    );
    aes && multiply && is_x86_feature_detected!("avx")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_aes() -> bool {
    false
}
