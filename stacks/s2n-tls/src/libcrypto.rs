//! The libcrypto with which s2n-tls is linked.

use std::fmt;

/// The libcrypto with which a worker is to be linked.
#[derive(Debug, Clone, Copy)]
pub enum Libcrypto {
    /// AWS-LC or its FIPS module, as the crate aws-lc-rs builds them.
    AwsLc,
    /// OpenSSL's.
    OpenSsl {
        /// The release.
        release: &'static str,
        /// Returns facts about the library's build.
        facts: fn() -> Vec<(&'static str, String)>,
    },
}

impl Libcrypto {
    /// Returns whether the version that a libcrypto reports is of this one: `AWS-LC 5.12.0`, or `OpenSSL 3.5.5 27 Jan 2026`.
    pub(crate) fn is(self, reported: &str) -> bool {
        let mut words = reported.split_whitespace();
        match self {
            Self::AwsLc => words.next() == Some("AWS-LC"),
            Self::OpenSsl { release, .. } => {
                words.next() == Some("OpenSSL") && words.next() == Some(release)
            }
        }
    }
}

impl fmt::Display for Libcrypto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AwsLc => f.write_str("AWS-LC"),
            Self::OpenSsl { release, .. } => write!(f, "OpenSSL {release}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi;

    const OPENSSL: Libcrypto = Libcrypto::OpenSsl {
        release: "3.5.5",
        facts: Vec::new,
    };

    #[test]
    fn another_libcrypto_is_noticed() {
        let cases = [
            ("OpenSSL 3.5.5 27 Jan 2026", false, true),
            ("OpenSSL 3.5.50 27 Jan 2026", false, false),
            ("AWS-LC 5.12.0", true, false),
            ("AWS-LC FIPS 5.0.0", true, false),
            ("OpenSSL 1.1.1 (compatible; AWS-LC 5.12.0)", false, false),
            ("BoringSSL", false, false),
            ("", false, false),
        ];
        for (reported, aws_lc, openssl) in cases {
            assert_eq!(Libcrypto::AwsLc.is(reported), aws_lc, "{reported}");
            assert_eq!(OPENSSL.is(reported), openssl, "{reported}");
        }
    }

    #[test]
    fn the_tests_are_linked_with_aws_lc() {
        assert!(Libcrypto::AwsLc.is(&ffi::libcrypto_version()));
    }
}
