//! `netbench setup`: files and facts of this machine that the other commands use.

pub(crate) mod completions;
mod config;
mod link;
mod man;
mod sites;

use clap::{Command, Subcommand};

use crate::exit::Ended;

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench setup config                            write a netbench.toml
  netbench setup sites check my-sites.txt
  netbench setup link bench                        how exact is the emulated link here?
  netbench setup completions bash > ~/.local/share/bash-completion/completions/netbench
  netbench setup man ~/.local/share/man/man1";

#[derive(Debug, Subcommand)]
pub(crate) enum Setup {
    /// Write a netbench.toml, which sets options for a folder
    #[command(after_help = config::EXAMPLES)]
    Config,
    /// Check, print and record sites files
    #[command(subcommand)]
    Sites(sites::Sites),
    /// Measure the emulated network itself, and list the links that have a name
    #[command(subcommand)]
    Link(link::Link),
    /// Generate a completion script for a shell
    Completions(completions::Completions),
    /// Generate the manual pages
    Man(man::Man),
}

/// Runs a command of `netbench setup`, given the definition of netbench's command line.
pub(crate) fn setup(options: &Setup, netbench: Command) -> anyhow::Result<Ended> {
    match options {
        Setup::Config => config::config(),
        Setup::Sites(options) => sites::sites(options),
        Setup::Link(options) => link::link(options),
        Setup::Completions(options) => completions::completions(options),
        Setup::Man(options) => man::man(options, netbench),
    }
}
