use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::options::{Output, StackOptions, StoredIn};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench ship                               openssl and rustls-aws-lc
  netbench ship --stack rustls-ring,rustls-graviola
  netbench ship --lock ~/my-client/Cargo.lock --stack openssl,rustls-ring
  netbench ship --fresh                       build again what was built before
  netbench ship --json | jq '.stacks[] | {stack, bytes: .outcome.program_bytes}'

The stacks are those with a [[ship]] table in their stack.toml; the message about
an unknown one lists them. The client of rustls-two-providers ends at its start.
With --lock, a file in which rustls has two providers of cryptography is told.
The builds are cargo's, in the cache folder, one after another; crates that are
not on this machine are downloaded.";

#[derive(Debug, Args)]
#[command(
    mut_arg("stack", |stack| stack.help("Stacks to build a client with; each is compared with the first [default: openssl,rustls-aws-lc]")),
)]
pub(crate) struct Ship {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Take the versions of crates from FILE instead of netbench's own Cargo.lock
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) lock: Option<PathBuf>,
    /// Build also what an earlier run has built from the same sources
    #[arg(long)]
    pub(crate) fresh: bool,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}
