use netbench_protocol::ServeSite;
use netbench_tls::{
    CipherSuite, ClientSettings, Group, SessionSettings, SignatureScheme, TlsVersion,
};

use crate::SetupError;

/// The parameters of ffdhe2048 (RFC 7919 appendix A.1), without which the servers of some libraries have no suite with DHE.
pub const FFDHE2048_PEM: &str = include_str!("ffdhe2048.pem");

/// Returns the values that a library supports, in the order of `all`.
pub fn supported<T: Copy>(all: &[T], has: impl Fn(T) -> bool) -> Vec<T> {
    all.iter().copied().filter(|value| has(*value)).collect()
}

/// Returns a library's values of everything that is `wanted`, in this order.
///
/// # Errors
/// The error from `lacks`, for the first value that the library does not have.
pub fn all_of<W: Copy, T>(
    wanted: &[W],
    find: impl Fn(W) -> Option<T>,
    lacks: impl Fn(W) -> SetupError,
) -> Result<Vec<T>, SetupError> {
    let found = wanted.iter().map(|it| find(*it).ok_or_else(|| lacks(*it)));
    found.collect()
}

/// The parameters that a side offers or accepts, in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// Versions of TLS.
    pub versions: Vec<TlsVersion>,
    /// Cipher suites.
    pub suites: Vec<CipherSuite>,
    /// Groups of the key exchange.
    pub groups: Vec<Group>,
    /// Signature schemes.
    pub signatures: Vec<SignatureScheme>,
}

impl From<&ClientSettings> for Parameters {
    fn from(settings: &ClientSettings) -> Self {
        Self {
            versions: settings.versions.clone(),
            suites: settings.suites.clone(),
            groups: settings.groups.clone(),
            signatures: settings.signatures.clone(),
        }
    }
}

/// The only version, suite and group of a session of the suite.
impl From<&SessionSettings> for Parameters {
    fn from(settings: &SessionSettings) -> Self {
        Self {
            versions: vec![settings.version],
            suites: vec![settings.suite()],
            groups: settings.groups(),
            signatures: settings.signatures().to_vec(),
        }
    }
}

impl Parameters {
    /// Returns the parameters of a site, whose server has these `signatures`. Where a site has no setting, these are all
    /// parameters that clients of the lab may offer and the library supports.
    pub fn of_site(
        site: &ServeSite,
        has_suite: impl Fn(CipherSuite) -> bool,
        has_group: impl Fn(Group) -> bool,
        signatures: Vec<SignatureScheme>,
    ) -> Self {
        Self {
            versions: site.versions.clone(),
            suites: match site.suites.as_slice() {
                [] => supported(site_suites(site), has_suite),
                own => own.to_vec(),
            },
            groups: match site.groups.as_slice() {
                [] => supported(Group::OFFERED, has_group),
                own => own.to_vec(),
            },
            signatures,
        }
    }
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
