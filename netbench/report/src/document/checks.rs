pub(crate) struct CheckSuite {
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
}

pub(crate) struct Check {
    pub(crate) name: String,
    /// The group of the check.
    pub(crate) class: Option<String>,
    pub(crate) outcome: Checked,
    /// The measurement, in words.
    pub(crate) said: Option<String>,
}

impl Checked {
    pub(crate) fn failed(why: impl Into<String>, class: impl Into<String>) -> Self {
        Self::Failed {
            why: why.into(),
            class: class.into(),
        }
    }

    pub(crate) fn skipped(why: impl Into<String>) -> Self {
        Self::Skipped { why: why.into() }
    }
}

impl CheckSuite {
    pub(crate) fn new(name: impl Into<String>, checks: impl IntoIterator<Item = Check>) -> Self {
        Self {
            name: name.into(),
            checks: checks.into_iter().collect(),
        }
    }
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

    /// Puts the check in a group.
    pub(crate) fn of(self, class: impl Into<String>) -> Self {
        Self {
            class: Some(class.into()),
            ..self
        }
    }

    /// Adds the measurement, in words.
    pub(crate) fn saying(self, said: impl Into<String>) -> Self {
        Self {
            said: Some(said.into()),
            ..self
        }
    }
}

pub(crate) enum Checked {
    Passed,
    Failed { why: String, class: String },
    Skipped { why: String },
}
