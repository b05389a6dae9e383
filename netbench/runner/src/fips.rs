//! The stacks that have the variant `+fips`, and the way the variant is made.

use crate::{Build, WorkerSource, known_stacks};

/// The way the variant `+fips` of a stack is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fips {
    /// The environment of its worker.
    Environment,
    /// A feature of its worker's package.
    Feature(&'static str),
}

impl WorkerSource {
    /// Returns the way its variant `+fips` is made, if it has one.
    pub fn fips(&self) -> Option<Fips> {
        match self.build {
            Build::Go { .. } => Some(Fips::Environment),
            Build::Cargo {
                package: "netbench-stack-rustls",
                ..
            } if WITH_AWS_LC
                .iter()
                .any(|named| self.stack.starts_with(named)) =>
            {
                Some(Fips::Feature("netbench-stack-rustls/fips"))
            }
            Build::Cargo {
                package: "netbench-stack-s2n-tls",
                ..
            } => Some(Fips::Feature("netbench-stack-s2n-tls/fips")),
            Build::Cargo { .. } | Build::Java { .. } => None,
        }
        .filter(|_| self.stack != WITHOUT_JITTER)
    }
}

/// Prefixes of the names of stacks on AWS-LC.
const WITH_AWS_LC: [&str; 2] = ["rustls-aws-lc", "aws-lc-rs@"];

/// The stack without jitter: the FIPS module takes its entropy from CPU jitter, and has no setting for that.
const WITHOUT_JITTER: &str = "rustls-aws-lc+nojitter";

/// Returns the stacks that have the variant `+fips`.
pub fn stacks_with_fips() -> Vec<&'static str> {
    let with = known_stacks()
        .iter()
        .filter(|source| source.fips().is_some());
    with.map(|source| source.stack).collect()
}
