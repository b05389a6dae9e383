use std::time::Duration;

use clap::{Args, Subcommand};

use crate::options::{Output, between};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench bogo                               all tests, feature by feature
  netbench bogo --feature ALPN                one feature
  netbench bogo --shim rustls --test 'ALPN*'  some tests of one stack
  netbench bogo diff openssl rustls           tests that only one of them passes
  netbench bogo diff rustls@0.23.31 rustls-ring --stored   what an upgrade changes
  netbench bogo diff go go@1.27 --stored      the same for Go
  netbench bogo --matrix --stored             what each stack has, by version
  netbench bogo defects openssl rustls        what each does that it must not
  netbench bogo --stored                      stored outcomes, without running
  netbench bogo --shim all --check            fail if a test no longer passes

Needs Go; boringssl, the control, also needs cmake and ninja. The first run
downloads BoringSSL and builds its test runner and the shims; nothing else uses
the network. Results are cached until a shim, its configuration or the runner
changes.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bogo {
    #[command(subcommand)]
    pub(crate) command: Option<BogoCommand>,
    /// Shims to run, in this order, or `all` [default: boringssl,openssl,rustls]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) shim: Vec<String>,
    /// Run only tests whose names match; separate several patterns with semicolons
    #[arg(long, value_name = "GLOB")]
    pub(crate) test: Option<String>,
    /// Run and show the tests of one feature, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    /// Show what each stack has, feature by feature and version by version
    #[arg(long, conflicts_with_all = ["test", "feature", "accept"])]
    pub(crate) matrix: bool,
    /// Fail if a test that passed no longer does, if another one begins to fail, or if one that is known to fail passes
    #[arg(long, conflicts_with = "stored")]
    pub(crate) check: bool,
    /// Store the outcomes in results/bogo, for --check to compare with
    #[arg(long, conflicts_with_all = ["check", "test", "feature", "stored"])]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) how: BogoHow,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BogoHow {
    /// Tests to run at a time, over all shims [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// Time that a test waits for the shim
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = between(Duration::from_secs(1), Duration::from_secs(120)))]
    pub(crate) timeout: Duration,
    /// Ignore cached results
    #[arg(long)]
    pub(crate) again: bool,
    /// Show the outcomes stored in results/bogo, and run nothing
    #[arg(long, conflicts_with_all = ["again", "jobs", "timeout"])]
    pub(crate) stored: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BogoCommand {
    /// Show the tests that one shim passes and the other does not, by feature, and why
    Diff(BogoDiff),
    /// Show what stacks do that they must not: what they accept, refuse, crash on or hang in
    Defects(BogoDefects),
}

#[derive(Debug, Args)]
pub(crate) struct BogoDefects {
    /// Shims to compare, or `all`
    #[arg(required = true, value_name = "SHIM")]
    pub(crate) shims: Vec<String>,
    #[command(flatten)]
    pub(crate) how: BogoHow,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct BogoDiff {
    /// First shim
    pub(crate) first: String,
    /// Second shim
    pub(crate) second: String,
    /// Show one feature, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    #[command(flatten)]
    pub(crate) how: BogoHow,
    #[command(flatten)]
    pub(crate) output: Output,
}
