use clap::Args;

pub(crate) const EXAMPLES: &str = "\
netbench.toml sets options for its folder and those in it: sites, stacks, roots,
client profile, link, rounds, and what compare fails on. Options of the command
line come first.";

#[derive(Debug, Args)]
pub(crate) struct Config {}
