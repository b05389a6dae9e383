//! The command `netbench`: parses the command line, reports its errors, and passes a validated plan to the rooms below.
//! Only this crate and `report` print.
//!
//! Start reading at `commands/mod.rs`, the list of commands, and `kinds/mod.rs`, the list of the kinds of run: a command
//! that makes runs is in the folder of its kind. Options that several commands share are in `options.rs`.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic when nobody reads the pipe; `note!` and `output::write` do not"
)]

// This module comes first, for its macro.
#[macro_use]
mod output;

mod browsers;
mod client;
mod commands;
mod compare;
mod config;
mod cost;
mod exit;
mod format;
mod interrupt;
mod kinds;
mod loopback;
mod merge;
mod options;
mod pipeline;
mod progress;
mod run;
mod shard;
mod show;
mod sites_file;
mod stack_names;
mod stored;
mod targets;
mod usage;
mod user_file;
mod workers;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// Runs the command line of this process, and returns the exit code.
pub fn main() -> ExitCode {
    if commands::setup::completions::answers(commands::Netbench::command) {
        return ExitCode::SUCCESS;
    }
    match config::complete(commands::Netbench::command()) {
        Ok(arguments) => match commands::Netbench::try_parse_from(arguments) {
            Ok(netbench) => exit::code(netbench.command.run()),
            Err(error) => usage::code(&error),
        },
        Err(wrong) => exit::code(Err(wrong.into())),
    }
}
