/// What was found of some rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// What is wrong, in a line each.
    pub wrong: Vec<String>,
    /// What the stack says that it cannot do.
    pub lacks: Vec<Lack>,
}

/// A case that is unsupported, and that nothing known of the stack says is.
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

impl Findings {
    /// All of it, where a stack is to lack nothing.
    pub fn all(self) -> Vec<String> {
        let lacks = self.lacks.into_iter();
        let lacks = lacks.map(|lack| format!("{}: it is unsupported: {}", lack.case, lack.reason));
        self.wrong.into_iter().chain(lacks).collect()
    }
}
