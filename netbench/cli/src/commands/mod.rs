//! The commands. Those that make runs are in the folder of their kind, in `kinds/`.

pub(crate) mod bogo;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod setup;
mod stacks;
#[cfg(test)]
mod tests;

use clap::{CommandFactory, Parser, Subcommand};

use crate::{
    exit::{EXIT_CODES, Ended},
    kinds::{browser, compat, connect, evaluation, scan, ship, suite},
};

/// Measure what changes when a client switches to another TLS stack.
#[derive(Debug, Parser)]
#[command(name = "netbench", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Netbench {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Ignore netbench.toml
    #[arg(long, global = true)]
    pub(crate) no_config: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two stacks in full: features, sites that can be reached, speed
    #[command(after_help = evaluation::args::EXAMPLES)]
    Evaluate(Box<evaluation::args::Evaluate>),
    /// Time connections from each stack to each site, phase by phase
    #[command(after_help = connect::EXAMPLES)]
    Connect(Box<connect::Connect>),
    /// Benchmark the libraries in memory: handshakes, data, verification, memory use
    #[command(after_help = suite::EXAMPLES)]
    Suite(Box<suite::Suite>),
    /// Scan servers: what they support, and which of them each stack cannot reach
    #[command(after_help = scan::EXAMPLES)]
    Scan(Box<scan::Scan>),
    /// Find out which servers each stack refuses, and whether it should
    #[command(after_help = compat::EXAMPLES)]
    Compat(Box<compat::Compat>),
    /// Run BoringSSL's protocol tests and show which features each stack supports
    #[command(after_help = bogo::args::EXAMPLES)]
    Bogo(Box<bogo::args::Bogo>),
    /// Drive real browsers over emulated sites: times, what they negotiate, what they show
    #[command(after_help = browser::EXAMPLES)]
    Browser(Box<browser::BrowserOptions>),
    /// Build a client with each stack: its size, build time, crates, licences
    #[command(after_help = ship::EXAMPLES)]
    Ship(Box<ship::Ship>),
    /// Continue a run of any kind that was stopped or killed
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::Run>),
    /// List, show, compare, explain, merge and delete stored runs
    #[command(after_help = runs::args::EXAMPLES)]
    Runs(Box<runs::args::Runs>),
    /// List the stacks; build their workers, check them, and show their ClientHellos
    #[command(after_help = stacks::args::EXAMPLES)]
    Stacks(Box<stacks::args::Stacks>),
    /// Write a configuration file, sites files, completions and manual pages; measure the link
    #[command(after_help = setup::EXAMPLES)]
    Setup(Box<setup::Setup>),
}

impl Command {
    pub(crate) fn run(&self) -> anyhow::Result<Ended> {
        match self {
            Self::Evaluate(options) => evaluation::evaluate(options),
            Self::Connect(options) => connect::connect(options),
            Self::Suite(options) => suite::suite(options),
            Self::Scan(options) => scan::scan(options),
            Self::Compat(options) => compat::compat(options),
            Self::Bogo(options) => bogo::bogo(options),
            Self::Browser(options) => browser::browser(options),
            Self::Ship(options) => ship::ship(options),
            Self::Run(options) => run::run(options),
            Self::Runs(options) => runs::runs(options),
            Self::Stacks(options) => stacks::stacks(options),
            Self::Setup(options) => setup::setup(options, Netbench::command()),
        }
    }
}
