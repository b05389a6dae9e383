use netbench_protocol::ServeSite;
use netbench_tls::{CipherSuite, TlsVersion};

use crate::SetupError;

/// Returns the values that a library supports, in the order of `all`.
pub fn supported<T: Copy>(all: &[T], has: impl Fn(T) -> bool) -> Vec<T> {
    all.iter().copied().filter(|value| has(*value)).collect()
}

/// Returns the suites of a site, or the usual ones of clients if the site has no setting; a site with TLS 1.0 or 1.1
/// also has those of these versions.
pub fn site_suites(site: &ServeSite) -> &[CipherSuite] {
    match site.suites.as_slice() {
        [] if site.versions.iter().any(|version| version.is_deprecated()) => {
            CipherSuite::WITH_DEPRECATED
        }
        [] => CipherSuite::OFFERED,
        own => own,
    }
}

/// Returns the versions to which one of `suites` belongs: rustls offers no others.
pub fn usable_versions(versions: &[TlsVersion], suites: &[CipherSuite]) -> Vec<TlsVersion> {
    supported(versions, |version| {
        suites.iter().any(|suite| suite.fits(version))
    })
}

/// Returns the oldest and the newest of `versions`, for libraries that take a range.
///
/// # Errors
/// There is none.
pub fn version_range(versions: &[TlsVersion]) -> Result<(TlsVersion, TlsVersion), SetupError> {
    let range = versions.iter().min().zip(versions.iter().max());
    let range = range.map(|(first, last)| (*first, *last));
    range.ok_or_else(|| SetupError::Refused("versions: none with a suite".to_owned()))
}

/// Returns the suites that belong to one of `versions`.
pub fn usable_suites(suites: &[CipherSuite], versions: &[TlsVersion]) -> Vec<CipherSuite> {
    supported(suites, |suite| versions.contains(&suite.version()))
}

/// Returns the length of a certificate, for [`netbench_tls::Negotiated::chain_bytes`].
pub fn der_length(der: impl AsRef<[u8]>) -> u32 {
    u32::try_from(der.as_ref().len()).unwrap_or(u32::MAX)
}
