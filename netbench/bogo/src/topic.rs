use std::sync::LazyLock;

use netbench_model::coverage::Protocol;
use regex::RegexSet;

use crate::tables::rows;

/// A row of the matrix: a feature that a user of a stack may need.
#[derive(Debug, Clone)]
pub struct Topic {
    /// The feature's name for users.
    pub name: &'static str,
    /// A regular expression over the names of the feature's tests.
    pub about: &'static str,
    /// A regular expression over the names of its core tests: none of them passes where the feature is
    /// absent.
    pub core: &'static str,
    /// Flags of the shim that require the feature, or show it. Where a shim does not support such a flag, the
    /// feature is absent; where it does not support another flag, the test proves nothing about the feature.
    pub flags: Vec<&'static str>,
    /// The versions that define the feature. Over another version, a test checks that the feature is not
    /// used.
    pub versions: Versions,
}

/// The versions of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// All versions that have tests.
    All,
    /// TLS 1.3, DTLS 1.3 and QUIC.
    From13,
}

impl Versions {
    /// Returns whether these versions include that of a protocol.
    pub fn has(self, protocol: Protocol) -> bool {
        match self {
            Self::All => true,
            Self::From13 => {
                matches!(
                    protocol,
                    Protocol::Tls13 | Protocol::Dtls13 | Protocol::Quic
                )
            }
        }
    }
}

/// All rows, in the matrix' order. The first is the protocol itself, without which no feature is supported.
pub static TOPICS: LazyLock<Vec<Topic>> = LazyLock::new(|| {
    rows(include_str!("tables/topics.tsv"))
        .map(|[name, versions, flags, about, core]| Topic {
            name,
            about,
            core,
            flags: flags.split_whitespace().collect(),
            versions: match versions {
                "1.3" => Versions::From13,
                _ => Versions::All,
            },
        })
        .collect()
});

/// The classification of tests by row and core.
pub(crate) struct Topics {
    about: RegexSet,
    core: RegexSet,
}

static COMPILED: LazyLock<Topics> = LazyLock::new(|| Topics {
    about: set(|topic| topic.about),
    core: set(|topic| topic.core),
});

fn set(expression: fn(&Topic) -> &'static str) -> RegexSet {
    // The table is fixed, and a test compiles all of it.
    RegexSet::new(TOPICS.iter().map(expression)).unwrap_or_else(|_| RegexSet::empty())
}

impl Topics {
    pub(crate) fn all() -> &'static Self {
        &COMPILED
    }

    /// Returns the rows of a test, by their index in [`TOPICS`].
    pub(crate) fn of(&self, test: &str) -> Vec<usize> {
        self.about.matches(test).into_iter().collect()
    }

    /// Returns whether a test belongs to the core of a row.
    pub(crate) fn is_core(&self, test: &str, row: usize) -> bool {
        self.core.matches(test).matched(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        assert_eq!(TOPICS[0].name, netbench_model::coverage::HANDSHAKE);
        assert_eq!(Topics::all().about.len(), TOPICS.len());
        assert_eq!(Topics::all().core.len(), TOPICS.len());
    }
}
