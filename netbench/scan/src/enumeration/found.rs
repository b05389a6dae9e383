use netbench_model::{
    scan::{Learned, Order},
    tls::{FfdheSize, TlsVersion},
};

/// A suite that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteFound {
    /// The code point.
    pub code: u16,
    /// The group that came with it.
    pub group: Option<u16>,
    /// The prime that came with it.
    pub prime: Option<FfdheSize>,
}

/// What is known of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFound {
    /// Which.
    pub version: TlsVersion,
    /// Why it is not spoken; none if it is.
    pub refusal: Option<String>,
    /// Its suites, as they were chosen.
    pub suites: Vec<SuiteFound>,
    /// Whose order that is.
    pub suite_order: Order,
    /// Its groups, as they were chosen or stated.
    pub groups: Vec<u16>,
    /// Whose order that is.
    pub group_order: Order,
    /// How the groups were learned.
    pub groups_learned: Learned,
    /// Whether enumeration came to its end.
    pub complete: bool,
}

impl VersionFound {
    /// Whether the server listed its groups itself.
    pub(crate) fn learned_by_list(&self) -> bool {
        self.groups_learned == Learned::Stated
    }
}

/// What a whole enumeration came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// The newest first.
    pub versions: Vec<VersionFound>,
}
