use boring::ssl::SslVersion;
use netbench_model::TlsVersion;

/// The versions as the boring crate has them. BoringSSL has no SSL 3.0 any more.
const VERSIONS: [(TlsVersion, SslVersion); 4] = [
    (TlsVersion::Tls10, SslVersion::TLS1),
    (TlsVersion::Tls11, SslVersion::TLS1_1),
    (TlsVersion::Tls12, SslVersion::TLS1_2),
    (TlsVersion::Tls13, SslVersion::TLS1_3),
];

/// The version as the boring crate has it.
pub(crate) fn boring_version(version: TlsVersion) -> Option<SslVersion> {
    let found = VERSIONS.iter().find(|(ours, _)| *ours == version);
    found.map(|(_, theirs)| *theirs)
}

/// The version that the boring crate has as `theirs`.
pub(crate) fn version(theirs: SslVersion) -> Option<TlsVersion> {
    let found = VERSIONS.iter().find(|(_, known)| *known == theirs);
    found.map(|(ours, _)| *ours)
}

/// Which side of a connection is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}
