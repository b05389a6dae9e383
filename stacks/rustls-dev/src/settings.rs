//! The used parts of ring's provider, and certificates and keys in rustls' format.

use std::{borrow::Cow, sync::Arc};

use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::{SetupError, TrustRoots, all_of, chain_of_pem, key_of_pem};
use rustls::{
    RootCertStore,
    crypto::{CryptoProvider, Identity, kx::SupportedKxGroup},
};
use rustls_pki_types::PrivateKeyDer;
use rustls_ring::{
    ALL_KX_GROUPS, ALL_TLS12_CIPHER_SUITES, ALL_TLS13_CIPHER_SUITES, DEFAULT_PROVIDER,
};

/// Returns the provider restricted to `versions`, and to `suites` and `groups` in their order.
///
/// # Errors
/// Returns an error if the provider lacks one of them.
pub(crate) fn held_to(
    versions: &[TlsVersion],
    suites: &[CipherSuite],
    groups: &[Group],
) -> Result<CryptoProvider, SetupError> {
    let (mut tls12, mut tls13) = (Vec::new(), Vec::new());
    for wanted in suites {
        let of_12 = ALL_TLS12_CIPHER_SUITES.iter();
        let of_13 = ALL_TLS13_CIPHER_SUITES.iter();
        let of_12 = of_12.copied().find(|it| it.common.suite.0 == wanted.0);
        let of_13 = of_13.copied().find(|it| it.common.suite.0 == wanted.0);
        if of_12.is_none() && of_13.is_none() {
            return Err(lacks(&format!("no {wanted}")));
        }
        tls12.extend(of_12);
        tls13.extend(of_13);
    }
    let groups = groups.iter().map(|it| group(*it));
    let held = CryptoProvider {
        tls12_cipher_suites: Cow::Owned(tls12),
        tls13_cipher_suites: Cow::Owned(tls13),
        kx_groups: groups.collect::<Result<_, _>>()?,
        ..DEFAULT_PROVIDER
    };
    of_versions(held, versions)
}

/// Restricts the provider's suites to those of `versions`: rustls supports the versions of its suites.
pub(crate) fn of_versions(
    mut provider: CryptoProvider,
    versions: &[TlsVersion],
) -> Result<CryptoProvider, SetupError> {
    if let Some(other) = versions.iter().find(|it| it.is_deprecated()) {
        return Err(lacks(&format!("no TLS {other}")));
    }
    if !versions.contains(&TlsVersion::Tls12) {
        provider.tls12_cipher_suites = Cow::default();
    }
    if !versions.contains(&TlsVersion::Tls13) {
        provider.tls13_cipher_suites = Cow::default();
    }
    Ok(provider)
}

/// Returns these schemes with the algorithms that verify them, in this order.
pub(crate) fn mappings(schemes: &[SignatureScheme]) -> Result<Vec<Mapping>, SetupError> {
    all_of(schemes, scheme, |it| {
        lacks(&format!("no verification of {it}"))
    })
}

pub(crate) fn group(wanted: Group) -> Result<&'static dyn SupportedKxGroup, SetupError> {
    let mut all = ALL_KX_GROUPS.iter().copied();
    let found = all.find(|kx| kx.name().0 == wanted.0);
    found.ok_or_else(|| lacks(&format!("no group {wanted}")))
}

pub(crate) type Mapping = (
    rustls::crypto::SignatureScheme,
    &'static [&'static dyn rustls_pki_types::SignatureVerificationAlgorithm],
);

/// Returns the algorithms that verify a signature scheme, that of TLS 1.3 first.
pub(crate) fn scheme(wanted: SignatureScheme) -> Option<Mapping> {
    let algorithms = DEFAULT_PROVIDER.signature_verification_algorithms;
    let mut all = algorithms.mapping().iter();
    all.find(|(scheme, _)| scheme.0 == wanted.0).copied()
}

/// Returns the error that a feature is missing.
pub(crate) fn lacks(what: &str) -> SetupError {
    SetupError::Unsupported(format!("{what} in rustls with ring"))
}

/// Parses roots as rustls' users do: one that it cannot use is left out, and at least one must remain.
pub(crate) fn roots(trust: TrustRoots<'_>) -> Result<Arc<RootCertStore>, SetupError> {
    let mut store = RootCertStore::empty();
    trust.add_each(|der| store.add(der).is_ok())?;
    Ok(Arc::new(store))
}

/// Parses a chain and its key, both PEM.
pub(crate) fn identity(
    chain_pem: &str,
    key_pem: &str,
) -> Result<(Arc<Identity<'static>>, PrivateKeyDer<'static>), SetupError> {
    let identity = Identity::from_cert_chain(chain_of_pem("chain", chain_pem)?)
        .map_err(|e| SetupError::refused("chain", format!("{e:?}")))?;
    Ok((Arc::new(identity), key_of_pem("key", key_pem)?))
}
