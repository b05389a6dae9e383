//! `netbench setup`: files and facts of this machine that the other commands use.

pub(crate) mod args;
pub(crate) mod completions;
mod config;
mod link;
mod man;
mod sites;

use self::args::{Setup, SetupCommand};
use crate::exit::Ended;

pub(crate) fn setup(options: &Setup) -> anyhow::Result<Ended> {
    match &options.command {
        SetupCommand::Config(options) => config::config(options),
        SetupCommand::Sites(options) => sites::sites(options),
        SetupCommand::Link(options) => link::link(options),
        SetupCommand::Completions(options) => completions::completions(options),
        SetupCommand::Man(options) => man::man(options),
    }
}
