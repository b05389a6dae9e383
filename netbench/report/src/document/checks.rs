/// Checks that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckSuite {
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
}

/// Something that passes or fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) name: String,
    /// What it is grouped by.
    pub(crate) class: Option<String>,
    pub(crate) outcome: Checked,
    /// What was measured, in words.
    pub(crate) said: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checked {
    Passed,
    Failed { why: String, class: String },
    Skipped { why: String },
}
