use netbench_model::{
    scan::{SuiteScan, VersionScan},
    tls::{CipherSuite, Group, TlsVersion},
};

use super::responder::Choice;

impl From<Choice> for SuiteScan {
    fn from(choice: Choice) -> Self {
        Self {
            group: choice.group.map(|code| Group(code).to_string()),
            dh: choice.prime,
            ..Self::new(CipherSuite(choice.suite))
        }
    }
}

/// The result of a whole enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// The versions, the newest first.
    pub versions: Vec<VersionScan>,
}

impl Enumeration {
    /// Returns the versions that the server supports, the newest first.
    pub(crate) fn spoken(&self) -> impl Iterator<Item = &VersionScan> {
        self.versions.iter().filter(|found| found.supported)
    }

    /// Returns a version, if the server supports it.
    pub(crate) fn spoken_version(&self, version: TlsVersion) -> Option<&VersionScan> {
        self.spoken().find(|found| found.version == version)
    }
}
