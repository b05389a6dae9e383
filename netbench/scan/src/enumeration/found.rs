use netbench_model::{
    scan::{Learned, Order},
    tls::{FfdheSize, TlsVersion},
};

use super::responder::Choice;

/// A chosen suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteFound {
    /// The code point.
    pub code: u16,
    /// The group that came with it.
    pub group: Option<u16>,
    /// The prime that came with it.
    pub prime: Option<FfdheSize>,
}

/// The findings for a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFound {
    /// The version.
    pub version: TlsVersion,
    /// The reason why the version is not supported; `None` if it is.
    pub refusal: Option<String>,
    /// Its suites, in the order of the server's choices.
    pub suites: Vec<SuiteFound>,
    /// The side whose order that is.
    pub suite_order: Order,
    /// Its groups, in the order in which they were chosen or stated.
    pub groups: Vec<u16>,
    /// The side whose order that is.
    pub group_order: Order,
    /// The way the groups were learned.
    pub groups_learned: Learned,
    /// Whether enumeration was completed.
    pub complete: bool,
}

impl From<Choice> for SuiteFound {
    fn from(choice: Choice) -> Self {
        Self {
            code: choice.suite,
            group: choice.group,
            prime: choice.prime,
        }
    }
}

impl VersionFound {
    /// Returns the code points of its suites.
    pub(crate) fn codes(&self) -> Vec<u16> {
        self.suites.iter().map(|suite| suite.code).collect()
    }

    /// Returns whether the server itself listed its groups.
    pub(crate) fn learned_by_list(&self) -> bool {
        self.groups_learned == Learned::Stated
    }
}

/// The result of a whole enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// The versions, the newest first.
    pub versions: Vec<VersionFound>,
}

impl Enumeration {
    /// Returns the versions that the server supports, the newest first.
    pub(crate) fn spoken(&self) -> impl Iterator<Item = &VersionFound> {
        self.versions.iter().filter(|found| found.refusal.is_none())
    }

    /// Returns a version, if the server supports it.
    pub(crate) fn spoken_version(&self, version: TlsVersion) -> Option<&VersionFound> {
        self.spoken().find(|found| found.version == version)
    }
}
