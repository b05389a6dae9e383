use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueHint};
use netbench_browser::Product;
use netbench_link::LinkChoice;
use netbench_model::{Condition, browser::ObjectsPage};

use crate::options::{Output, ProfileArg, RootsOptions, StartOptions, StoredIn, between};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench browser                            Chromium on 101 sites, one visit each
  netbench browser --limit 10 --stack rustls-aws-lc,openssl
  netbench browser --condition clean,resumed --rounds 5
  netbench browser --browser chromium,firefox --page objects=24,origins=6 --limit 10
  netbench browser --browser chromium,firefox,webkitgtk --stack rustls-aws-lc
  netbench browser --sites mine.txt --link tun
  netbench browser --json | jq '.failures[] | {site, client, code}'

Browsers run in a network namespace without a way out. Each visit has a fresh
profile, which alone trusts the lab's root, and nothing is left of it.";

#[derive(Debug, Args)]
#[command(
    mut_arg("seed", |seed| seed.help("Seed of the order of visits and of packet losses [default: a new one]")),
)]
pub(crate) struct BrowserOptions {
    /// Browsers to drive: chromium, firefox, webkitgtk
    #[arg(
        long,
        short,
        value_name = "B,…",
        value_delimiter = ',',
        default_value = "chromium"
    )]
    pub(crate) browser: Vec<Product>,
    /// Stacks that make the same connections beside them, through hyper
    #[arg(long, short, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) stack: Vec<String>,
    /// Read the sites from FILE instead of taking the 101 built-in ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) sites: Option<PathBuf>,
    /// Use only the first N sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Conditions: clean (a fresh profile), resumed (the second visit of a profile)
    #[arg(
        long,
        value_name = "C,…",
        value_delimiter = ',',
        default_value = "clean"
    )]
    pub(crate) condition: Vec<Condition>,
    /// Rounds; in each, every browser visits every site once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,

    /// Visit a page of so many objects instead, from one origin or more: objects=24,origins=6
    #[arg(long, value_name = "PAGE", help_heading = "How")]
    pub(crate) page: Option<ObjectsPage>,
    /// Run the browsers without their sandbox; the report says so
    #[arg(long, help_heading = "How")]
    pub(crate) no_sandbox: bool,
    /// Time limit of one visit, the browser's start included
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = visit_limit, help_heading = "How")]
    pub(crate) timeout: Duration,
    /// How to emulate the network: auto, user, tun, netem
    #[arg(
        long,
        value_name = "LINK",
        default_value = "auto",
        help_heading = "How"
    )]
    pub(crate) link: LinkChoice,
    /// How to set up the stacks' connectors
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library, help_heading = "How")]
    pub(crate) client_profile: ProfileArg,
    #[command(flatten, next_help_heading = "How")]
    pub(crate) roots: RootsOptions,
    #[command(flatten)]
    pub(crate) start: StartOptions,

    #[command(flatten)]
    pub(crate) stored_in: StoredIn,
    #[command(flatten)]
    pub(crate) output: Output,
}

fn visit_limit(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_secs(1), Duration::from_secs(600))
}
