/// Checks that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSuite {
    /// Of what they are.
    pub name: String,
    /// The checks.
    pub checks: Vec<Check>,
}

/// Something that passes or fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What it is grouped by.
    pub class: Option<String>,
    /// How it went.
    pub outcome: Checked,
    /// What was measured, in words.
    pub said: Option<String>,
}

/// How a check went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// Well.
    Passed,
    /// Not well.
    Failed {
        /// Why.
        why: String,
        /// The kind of failure.
        class: String,
    },
    /// It was not tried.
    Skipped {
        /// Why.
        why: String,
    },
}
