use clap::Args;

use crate::options::{Output, OwnWorkers, ProfileArg, StackOptions};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench hello
  netbench hello --stack rustls-ring --client-profile default
  netbench hello --json | jq '.hellos[] | {stack, wire_bytes, ja4}'";

#[derive(Debug, Args)]
#[command(mut_arg("stack", |stack| stack.help("Stacks to show")))]
pub(crate) struct Hello {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// How to set up the connectors
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library)]
    pub(crate) client_profile: ProfileArg,
    #[command(flatten)]
    pub(crate) own: OwnWorkers,
    #[command(flatten)]
    pub(crate) output: Output,
}
