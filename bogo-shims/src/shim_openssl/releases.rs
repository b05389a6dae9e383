//! Features that libssl has only since some release: tests that require them of an older one are refused.

use crate::{Failure, Options};

/// The releases, in the format of `OPENSSL_VERSION_NUMBER`, with the new feature and the flags that require
/// it.
const SINCE: [(i64, &str, &[&str]); 3] = [
    (
        0x3020_0000,
        "raw public keys, which libssl has since 3.2",
        &[
            "-new-rpk-credential",
            "-expect-peer-certificate-type",
            "-expect-peer-rpk-sha256",
        ],
    ),
    (
        0x3050_0000,
        "QUIC, for which libssl has an interface since 3.5",
        &["-quic", "-quic-transport-params"],
    ),
    (
        0x4000_0000,
        "Encrypted ClientHello, which libssl has since 4.0",
        &[
            "-ech-config-list",
            "-ech-server-config",
            "-enable-ech-grease",
            "-expect-ech-accept",
        ],
    ),
];

/// Refuses a test that requires a feature that this libssl does not have.
pub(crate) fn refuse(options: &Options) -> Result<(), Failure> {
    let version = openssl::version::number();
    for (release, what, flags) in SINCE {
        // Flags are looked up only where the release lacks the feature: a flag that is looked up counts as
        // read.
        if version < release
            && flags.iter().any(|flag| {
                options.on(flag) || options.credentials().iter().any(|one| one.kind() == *flag)
            })
        {
            return Err(Failure::unsupported(what));
        }
    }
    Ok(())
}
