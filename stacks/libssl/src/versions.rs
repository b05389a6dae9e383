use netbench_tls::TlsVersion;
use netbench_worker::{SetupError, refused, version_range};
use openssl::ssl::{SslContextBuilder, SslVersion};

/// The versions in the openssl crate.
const VERSIONS: [(TlsVersion, SslVersion); 5] = [
    (TlsVersion::Ssl3, SslVersion::SSL3),
    (TlsVersion::Tls10, SslVersion::TLS1),
    (TlsVersion::Tls11, SslVersion::TLS1_1),
    (TlsVersion::Tls12, SslVersion::TLS1_2),
    (TlsVersion::Tls13, SslVersion::TLS1_3),
];

/// Returns the version for `theirs` of the openssl crate.
pub fn tls_version(theirs: SslVersion) -> Option<TlsVersion> {
    let found = VERSIONS.iter().find(|(_, known)| *known == theirs);
    found.map(|(ours, _)| *ours)
}

/// Restricts a context to the range of `versions`.
///
/// # Errors
/// No version, or one that the library lacks.
pub fn set_versions(
    ssl: &mut SslContextBuilder,
    versions: &[TlsVersion],
) -> Result<(), SetupError> {
    let (first, last) = version_range(versions)?;
    ssl.set_min_proto_version(ssl_version(first))
        .and_then(|()| ssl.set_max_proto_version(ssl_version(last)))
        .map_err(refused("versions"))
}

/// Returns the openssl crate's version.
fn ssl_version(version: TlsVersion) -> Option<SslVersion> {
    let found = VERSIONS.iter().find(|(ours, _)| *ours == version);
    found.map(|(_, theirs)| *theirs)
}
