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
    kinds,
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
    #[command(flatten)]
    Measure(kinds::Command),
    /// Run BoringSSL's protocol tests and show which features each stack supports
    #[command(after_help = bogo::args::EXAMPLES)]
    Bogo(Box<bogo::args::Bogo>),
    /// Continue a run of any kind that was stopped or killed
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::Run>),
    /// List, show, compare, explain, merge and delete stored runs
    #[command(subcommand, after_help = runs::args::EXAMPLES)]
    Runs(Box<runs::args::Runs>),
    /// List the stacks; build their workers, check them, and show their ClientHellos
    #[command(after_help = stacks::args::EXAMPLES)]
    Stacks(Box<stacks::args::Stacks>),
    /// Write a configuration file, sites files, completions and manual pages; measure the link
    #[command(subcommand, after_help = setup::EXAMPLES)]
    Setup(Box<setup::Setup>),
}

impl Command {
    pub(crate) fn run(&self) -> anyhow::Result<Ended> {
        match self {
            Self::Measure(command) => command.run(),
            Self::Bogo(options) => bogo::bogo(options),
            Self::Run(options) => run::run(options),
            Self::Runs(options) => runs::runs(options),
            Self::Stacks(options) => stacks::stacks(options),
            Self::Setup(options) => setup::setup(options, Netbench::command()),
        }
    }
}
