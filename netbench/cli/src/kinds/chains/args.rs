use std::time::Duration;

use clap::Args;

use crate::options::{Output, OwnWorkers, StackOptions, StoredIn, between};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat chains                      openssl and rustls-aws-lc
  netbench compat chains --stack openssl,rustls-ring,go
  netbench compat chains --case 'own/*'       netbench's own chains alone
  netbench compat chains --list               the chains, and what is due
  netbench compat chains --json | jq '.differences[] | {stack, reason, cases}'

BetterTLS' chains are made once by a small Go program, which fetches the module
github.com/Netflix/bettertls through the Go module proxy. Without Go, netbench's
own chains are verified all the same.";

#[derive(Debug, Args)]
pub(crate) struct Chains {
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Verify only the chains whose names match; * and ? as in a shell
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Vec<String>,
    /// List the chains with what is due, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Time a verifier has for one chain
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = limit, help_heading = "How")]
    pub(crate) timeout: Duration,
    #[command(flatten, next_help_heading = "How")]
    pub(crate) own: OwnWorkers,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn limit(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_millis(100), Duration::from_secs(60))
}
