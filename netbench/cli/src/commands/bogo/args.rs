use std::time::Duration;

use clap::{Args, Subcommand};

use crate::options::{Output, between};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench bogo                                  boringssl, openssl, rustls: all tests, feature by feature
  netbench bogo --feature ALPN                   one feature
  netbench bogo --shim rustls --test 'ALPN*'     some tests of one stack
  netbench bogo diff openssl rustls              what one passes and the other does not
  netbench bogo --kept                           the outcomes that are kept, at once and without Go
  netbench bogo --check                          fails when a test that passed no longer does

Needs Go; the control column, boringssl, needs cmake and ninja too. The first run builds the runner and
the shims, and fetches what they are built from; nothing else leaves this machine. Results are kept, so that
the same question is answered at once when neither runner nor shim has changed.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bogo {
    #[command(subcommand)]
    pub(crate) command: Option<BogoCommand>,
    /// Stacks, in the order of the columns; without it, boringssl, openssl and rustls
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) shim: Vec<String>,
    /// Run only tests whose names match: * is any text, ? any character; several with semicolons
    #[arg(long, value_name = "GLOB")]
    pub(crate) test: Option<String>,
    /// Show one feature, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    /// Fail when a test that passed no longer does, or one that is known not to pass does
    #[arg(long, conflicts_with = "kept")]
    pub(crate) check: bool,
    /// Keep the outcomes as what --check compares with
    #[arg(long, conflicts_with_all = ["check", "test", "kept"])]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) how: BogoHow,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BogoHow {
    /// Tests at one time, over all stacks; without it, as many as there are processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// How long a test may wait for the shim to say something
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = test_limit)]
    pub(crate) timeout: Duration,
    /// Run again what has been run before
    #[arg(long)]
    pub(crate) again: bool,
    /// Show the outcomes that are kept in results/bogo, and run nothing: needs neither Go nor a build
    #[arg(long, conflicts_with_all = ["again", "jobs", "timeout"])]
    pub(crate) kept: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BogoCommand {
    /// What one stack passes and the other does not, by feature, and why
    Diff(BogoDiff),
}

#[derive(Debug, Args)]
pub(crate) struct BogoDiff {
    /// One stack
    pub(crate) first: String,
    /// The other
    pub(crate) second: String,
    /// Show one feature, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    #[command(flatten)]
    pub(crate) how: BogoHow,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn test_limit(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_secs(1), Duration::from_secs(120))
}
