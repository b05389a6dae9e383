use clap::{Args, ValueHint};

use crate::options::{Output, OwnWorkers, ProfileArg, StackOptions};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench stacks hello
  netbench stacks hello https://example.com/         as example.com would get it
  netbench stacks hello --stack rustls-ring --client-profile default
  netbench stacks hello --json | jq '.hellos[] | {stack, wire_bytes, ja4}'";

#[derive(Debug, Args)]
#[command(mut_arg("stack", |stack| stack.help("Stacks to show")))]
pub(crate) struct Hello {
    /// Server that the hello is for, by URL or by host [default: host.example]; nothing is sent to it
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) target: Option<String>,
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
