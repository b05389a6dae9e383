use clap::Args;

use crate::options::{Output, OwnWorkers, StackOptions, StoredIn};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat roots                       openssl and rustls-aws-lc
  netbench compat roots --stack openssl,openssl-system,rustls-ring,go
  netbench compat roots --layout 'corporate-*'
  netbench compat roots --list                the layouts, and what a user expects
  netbench compat roots --json | jq '.wrong[] | {stack, layouts, seen}'

Only the stack's process sees a layout, in a private mount namespace; this system
does not change. Without root, this needs user namespaces.";

#[derive(Debug, Args)]
pub(crate) struct Roots {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Try only the layouts whose names match; * and ? as in a shell
    #[arg(long, value_name = "GLOB")]
    pub(crate) layout: Vec<String>,
    /// List the layouts with what a user of such a system expects to load, and exit
    #[arg(long)]
    pub(crate) list: bool,

    #[command(flatten, next_help_heading = "How")]
    pub(crate) own: OwnWorkers,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}
