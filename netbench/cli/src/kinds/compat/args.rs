use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueHint};

use super::{
    super::{
        chains::args::{Chains, EXAMPLES as CHAINS},
        roots::args::{EXAMPLES as ROOTS, Roots},
    },
    breakages::{Breakages, EXAMPLES as BREAKAGES},
    outside::Client,
};
use crate::options::{Output, OwnWorkers, ProfileArg, StackOptions, StoredIn, between};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat                             openssl and rustls-aws-lc
  netbench compat --stack openssl,rustls-ring,go
  netbench compat --case 'certificate/*'      some of the cases
  netbench compat --client chromium,firefox,curl
  netbench compat --client servo              what Servo's error pages are told
  netbench compat --list                      the cases, and what is expected
  netbench compat --catalogue mine.toml       servers of your own
  netbench compat --format csv > compat.csv
  netbench compat chains                      10,000 certificate chains, without servers
  netbench compat --json | jq '.differences[] | {case, stack, does}'

Every server is on this machine's loopback; nothing leaves it. Browsers and
programs are each in a network namespace with nothing else in it. The built-in
catalogue is in netbench/catalogue/compat/: a case of your own has the same form.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Compat {
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// Browsers and programs to try beside the stacks: chromium, firefox, webkitgtk, curl, wget, python, node; and
    /// servo, as an application that embeds it loads pages
    #[arg(long, value_name = "C,…", value_delimiter = ',')]
    pub(crate) client: Vec<Client>,
    /// Try only the cases whose names match; * and ? as in a shell
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Vec<String>,
    /// Read the cases from FILE instead of taking the built-in ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) catalogue: Option<PathBuf>,
    /// List the cases with what is expected, and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// How to set up the connectors
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library, help_heading = "How")]
    pub(crate) client_profile: ProfileArg,
    /// Time a stack has for a server; a second try gets three times as much
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = limit, help_heading = "How")]
    pub(crate) timeout: Duration,
    /// Run the browsers without their sandbox; the report says so
    #[arg(long, requires = "client", help_heading = "How")]
    pub(crate) no_sandbox: bool,
    #[command(flatten, next_help_heading = "How")]
    pub(crate) own: OwnWorkers,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Part {
    /// Find out which certificate chains each stack's verifier refuses, and whether it should
    #[command(after_help = CHAINS)]
    Chains(Box<Chains>),
    /// Find out what each stack trusts by itself, with the trust stores of many systems
    #[command(after_help = ROOTS)]
    Roots(Box<Roots>),
    /// List what broke for others who changed their TLS stack, and what predicts each
    #[command(after_help = BREAKAGES)]
    Breakages(Breakages),
}

fn limit(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_millis(100), Duration::from_secs(60))
}
