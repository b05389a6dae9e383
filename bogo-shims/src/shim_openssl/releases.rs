//! What libssl has only since a release: tests that ask an older one for it are refused.

use crate::{Failure, Options};

/// The release, as `OPENSSL_VERSION_NUMBER` has it, what it brought, and the flags that ask for that.
const SINCE: [(i64, &str, &[&str]); 2] = [
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
];

/// Refuses a test that asks this libssl for what it does not have.
pub(crate) fn refuse(options: &Options) -> Result<(), Failure> {
    let version = openssl::version::number();
    for (release, what, flags) in SINCE {
        // Only where the release lacks it: a flag that is looked at counts as read.
        let asked = |flag: &&str| {
            options.on(flag) || options.credentials().iter().any(|one| one.kind() == *flag)
        };
        if version < release && flags.iter().any(asked) {
            return Err(Failure::unsupported(what));
        }
    }
    Ok(())
}
