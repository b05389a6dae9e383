use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The system calls of operations, counted in a process of which no figure is timed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum SystemCalls {
    /// The calls were counted.
    Counted {
        /// Number of operations.
        operations: u64,
        /// Number of calls of all these operations by name, both sides of a session together. Calls that read a clock are
        /// left out, because the harness makes them too.
        calls: BTreeMap<String, u64>,
    },
    /// The calls could not be counted.
    Uncounted {
        /// The reason.
        reason: String,
    },
}

/// The calls by which a process takes memory from the system and returns it.
pub const MEMORY_CALLS: [&str; 5] = ["brk", "madvise", "mmap", "mremap", "munmap"];
