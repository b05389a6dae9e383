//! Which stacks have the variant `+fips`, and what makes it.

use crate::{Build, WorkerSource, known_stacks};

/// What makes `+fips` of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fips {
    /// The environment of its worker.
    Environment,
    /// A feature of its worker's package.
    Feature(&'static str),
}

impl WorkerSource {
    /// What makes its variant `+fips`, where it has one.
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

/// How the names of stacks on AWS-LC begin.
const WITH_AWS_LC: [&str; 2] = ["rustls-aws-lc", "aws-lc-rs@"];

/// The module takes its entropy from CPU jitter, and has no setting for that.
const WITHOUT_JITTER: &str = "rustls-aws-lc+nojitter";

/// The stacks that have the variant `+fips`.
pub fn stacks_with_fips() -> Vec<&'static str> {
    let with = known_stacks()
        .iter()
        .filter(|source| source.fips().is_some());
    with.map(|source| source.stack).collect()
}
