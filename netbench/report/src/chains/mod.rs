//! Reports of a run of `compat chains`: the certificate chains on which the stacks' verifiers disagree, and the
//! reasons.

mod document;
mod summary;

pub use summary::*;
