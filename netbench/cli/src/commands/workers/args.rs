use clap::{Args, Subcommand};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench workers list
  netbench workers build openssl rustls-ring
  netbench workers build --all

A stack runs in a worker, a program of its own. Workers are looked for beside
the command, in the cache folder and in the source tree. Commands build a
missing one from the source tree when they first need it.";

#[derive(Debug, Args)]
pub(crate) struct Workers {
    #[command(subcommand)]
    pub(crate) command: WorkersCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkersCommand {
    /// List the workers: where each was found, its version, or what is missing
    List,
    /// Build workers from the source tree into the cache folder
    Build(Build),
}

#[derive(Debug, Args)]
pub(crate) struct Build {
    /// Stacks whose workers to build
    #[arg(value_name = "STACK", required_unless_present = "all")]
    pub(crate) stacks: Vec<String>,
    /// Build every worker, and the library that counts allocations
    #[arg(long, conflicts_with = "stacks")]
    pub(crate) all: bool,
}
