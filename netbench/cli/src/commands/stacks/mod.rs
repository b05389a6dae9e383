//! `netbench stacks`: which stacks there are, and building and checking their workers.

pub(crate) mod args;
mod build;
mod check;
mod clean;
mod list;

use self::args::{Stacks, StacksCommand};
use crate::exit::Ended;

pub(crate) fn stacks(options: &Stacks) -> anyhow::Result<Ended> {
    match &options.command {
        None => list::list(&options.list),
        Some(StacksCommand::List(options)) => list::list(options),
        Some(StacksCommand::Build(options)) => build::build(options),
        Some(StacksCommand::Check(options)) => check::check(options),
        Some(StacksCommand::Clean(options)) => clean::clean(options),
    }
}
