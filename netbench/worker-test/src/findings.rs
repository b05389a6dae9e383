use std::fmt::Display;

/// The findings of a check of some rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The errors, in one line each.
    pub wrong: Vec<String>,
    /// The cases that the stack reports as unsupported.
    pub lacks: Vec<Lack>,
}

/// A case that is unsupported, although the stack's description does not predict it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The case.
    pub case: String,
    /// The reason that the worker gives.
    pub reason: String,
}

impl From<Vec<String>> for Findings {
    fn from(wrong: Vec<String>) -> Self {
        Self {
            wrong,
            lacks: Vec::new(),
        }
    }
}

/// Returns the error of a check with the name of the checked thing, or `None` if the check has succeeded.
pub(crate) fn error_of<T>(what: impl Display, checked: Result<T, String>) -> Option<String> {
    checked.err().map(|error| format!("{what}: {error}"))
}

impl Findings {
    /// Returns all findings as errors, for a stack that must support everything.
    pub fn all(self) -> Vec<String> {
        let lacks = self.lacks.into_iter();
        let lacks = lacks.map(|lack| format!("{}: it is unsupported: {}", lack.case, lack.reason));
        self.wrong.into_iter().chain(lacks).collect()
    }
}
