#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckSuite {
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: String,
    /// The group of the check.
    pub(crate) class: Option<String>,
    pub(crate) outcome: Checked,
    /// The measurement, in words.
    pub(crate) said: Option<String>,
}

impl Check {
    /// Returns a check without a group.
    pub(crate) fn new(name: impl Into<String>, outcome: Checked) -> Self {
        Self {
            name: name.into(),
            class: None,
            outcome,
            said: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checked {
    Passed,
    Failed { why: String, class: String },
    Skipped { why: String },
}
