use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a stack in a run: `rustls-aws-lc`, or `rustls-aws-lc#2` for the second copy of a stack that is compared
/// with itself.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(extend("x-key" = "first"))]
pub struct StackName(String);

impl StackName {
    /// Creates the label of the first copy of `stack`.
    pub fn new(stack: impl Into<String>) -> Self {
        Self(stack.into())
    }

    /// Creates the label of copy `ordinal` (from 1) of `stack`.
    pub fn copy(stack: &str, ordinal: usize) -> Self {
        if ordinal <= 1 {
            Self(stack.to_owned())
        } else {
            Self(format!("{stack}#{ordinal}"))
        }
    }

    /// Returns the whole label.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the stack without the copy's ordinal, which is the name that a worker knows.
    pub fn stack(&self) -> &str {
        self.0.split_once('#').map_or(&self.0, |(stack, _)| stack)
    }
}

impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
