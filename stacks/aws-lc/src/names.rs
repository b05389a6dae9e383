use netbench_model::TlsVersion;
use openssl::ssl::SslVersion;

/// The versions as the openssl crate has them. AWS-LC has no SSL 3.0.
const VERSIONS: [(TlsVersion, SslVersion); 4] = [
    (TlsVersion::Tls10, SslVersion::TLS1),
    (TlsVersion::Tls11, SslVersion::TLS1_1),
    (TlsVersion::Tls12, SslVersion::TLS1_2),
    (TlsVersion::Tls13, SslVersion::TLS1_3),
];

/// The version as the openssl crate has it.
pub(crate) fn aws_lc_version(version: TlsVersion) -> Option<SslVersion> {
    let found = VERSIONS.iter().find(|(ours, _)| *ours == version);
    found.map(|(_, theirs)| *theirs)
}

/// The version that the openssl crate has as `theirs`.
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
