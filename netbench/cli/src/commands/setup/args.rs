use clap::{Args, Subcommand};

use super::{completions, config, link, man, sites};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench setup config                            write a netbench.toml
  netbench setup sites check my-sites.txt
  netbench setup link bench                        how exact is the emulated link here?
  netbench setup completions bash > ~/.local/share/bash-completion/completions/netbench
  netbench setup man ~/.local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct Setup {
    #[command(subcommand)]
    pub(crate) command: SetupCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SetupCommand {
    /// Write a netbench.toml, which sets options for a folder
    #[command(after_help = config::args::EXAMPLES)]
    Config(config::args::Config),
    /// Check, print and record sites files
    Sites(sites::args::Sites),
    /// Measure the emulated network itself, and list the links that have a name
    Link(link::args::Link),
    /// Generate a completion script for a shell
    Completions(completions::args::Completions),
    /// Generate the manual pages
    Man(man::args::Man),
}
