use boring::ssl::SslVersion;
use netbench_tls::TlsVersion;

/// The versions in the boring crate. BoringSSL no longer has SSL 3.0.
const VERSIONS: [(TlsVersion, SslVersion); 4] = [
    (TlsVersion::Tls10, SslVersion::TLS1),
    (TlsVersion::Tls11, SslVersion::TLS1_1),
    (TlsVersion::Tls12, SslVersion::TLS1_2),
    (TlsVersion::Tls13, SslVersion::TLS1_3),
];

/// Returns the boring crate's version.
pub(crate) fn boring_version(version: TlsVersion) -> Option<SslVersion> {
    let found = VERSIONS.iter().find(|(ours, _)| *ours == version);
    found.map(|(_, theirs)| *theirs)
}

/// Returns the version for `theirs` of the boring crate.
pub(crate) fn version(theirs: SslVersion) -> Option<TlsVersion> {
    let found = VERSIONS.iter().find(|(_, known)| *known == theirs);
    found.map(|(ours, _)| *ours)
}
