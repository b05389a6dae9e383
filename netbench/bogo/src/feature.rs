use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::tables::rows;

/// A row of the coverage table: the tests of one feature.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// The feature's name for users.
    pub name: &'static str,
    /// A regular expression over the names of tests.
    pub has: &'static str,
    /// A regular expression over names that match `has` but belong to other features; empty for none.
    pub has_not: &'static str,
}

/// All rows, in the table's order. A test may belong to several; the difference view assigns it to the first
/// that is not one of the wide ones (versions and transports).
pub static FEATURES: LazyLock<Vec<Feature>> = LazyLock::new(|| {
    rows(include_str!("tables/features.tsv"))
        .map(|[name, has, has_not]| Feature { name, has, has_not })
        .collect()
});

/// Number of wide rows, which come first.
const WIDE: usize = 5;

/// The row of tests that belong to no other row.
pub(crate) const OTHER: &str = "Everything else";

/// The classification of tests by feature.
#[derive(Debug)]
pub struct Features {
    has: RegexSet,
    has_not: Vec<Option<Regex>>,
}

static COMPILED: LazyLock<Features> = LazyLock::new(|| Features {
    // The table is fixed, and a test compiles all of it.
    has: RegexSet::new(FEATURES.iter().map(|feature| feature.has))
        .unwrap_or_else(|_| RegexSet::empty()),
    has_not: FEATURES
        .iter()
        .map(|feature| {
            Regex::new(feature.has_not)
                .ok()
                .filter(|_| !feature.has_not.is_empty())
        })
        .collect(),
});

impl Features {
    /// Returns the classification by all rows.
    pub fn all() -> &'static Self {
        &COMPILED
    }

    /// Returns the rows that a test belongs to, by their index in [`FEATURES`].
    pub fn of(&self, test: &str) -> Vec<usize> {
        let matching = self.has.matches(test).into_iter();
        matching
            .filter(|row| {
                let excluding = self.has_not[*row].as_ref();
                !excluding.is_some_and(|regex| regex.is_match(test))
            })
            .collect()
    }

    /// Returns whether a test belongs to the row `feature`.
    pub fn is_about(&self, test: &str, feature: &str) -> bool {
        let rows = self.of(test);
        if rows.is_empty() {
            return feature == OTHER;
        }
        rows.iter().any(|row| FEATURES[*row].name == feature)
    }

    /// Returns the only feature of a test where it may have just one.
    pub fn first_of(&self, test: &str) -> &'static str {
        let rows = self.of(test);
        let narrow = rows.iter().find(|row| **row >= WIDE).or(rows.first());
        narrow.map_or(OTHER, |row| FEATURES[*row].name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        for feature in FEATURES.iter() {
            Regex::new(feature.has).unwrap();
            Regex::new(feature.has_not).unwrap();
        }
        assert_eq!(Features::all().has.len(), FEATURES.len());
    }

    #[test]
    fn tests_find_their_rows() {
        let cases = [
            ("TLS-ECH-Client-Reject-TLS12", "Encrypted ClientHello"),
            ("ALPNServer-Decline-QUIC-TLS13", "ALPN"),
            (
                "TLS13-HelloRetryRequest-Client-TLS-Sync",
                "HelloRetryRequest and key shares",
            ),
            ("Renegotiate-Client-Forbidden-1", "Renegotiation"),
            (
                "DTLS-Retransmit-Client-TLS12",
                "DTLS: loss, order, fragments",
            ),
            ("ClientAuth-NoFallback-RSA", "Client authentication"),
            (
                "ClientCertificateType-Server-RPKVerifyFail-TLS12",
                "Raw public keys",
            ),
            (
                "TLS-TLS12-ECDHE_RSA_WITH_AES_128_CBC_SHA-client",
                "AES-CBC and 3DES",
            ),
            ("Server-Sign-RSA_PKCS1_SHA1-TLS12", "SHA-1 signatures"),
            (
                "VersionNegotiation-Client-TLS1-TLS1-TLS",
                "Version negotiation",
            ),
            ("no such thing", OTHER),
        ];
        for (test, feature) in cases {
            assert_eq!(Features::all().first_of(test), feature, "{test}");
        }
    }
}
