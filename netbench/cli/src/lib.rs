//! The command `netbench`: reads the command line, says what is wrong with it, and hands a
//! validated plan to the rooms below. Only this crate and `report` print.
//!
//! Start reading at `args.rs` for what can be asked (each command's options are in a file of their own, what
//! several share in `shared_args.rs`), then at the module that is named as the command.

mod args;
mod bogo;
mod bogo_args;
mod browser;
mod compare;
mod connect;
mod connect_args;
mod evaluate;
mod evaluate_args;
mod exit;
mod explain;
mod format;
mod ground;
mod hello;
mod kept;
mod link;
mod man;
mod merge;
mod output;
mod progress;
mod report;
mod report_args;
mod results;
mod run;
mod run_args;
mod scan;
mod scan_args;
mod shard;
mod shared_args;
mod sites;
mod stack_names;
mod stacks;
mod suite;
mod suite_args;
mod workers;

use std::process::ExitCode;

use clap::Parser;

/// Does what the command line of this process asks for, and gives the exit code.
pub fn main() -> ExitCode {
    let args = args::Netbench::parse();
    exit::code(match args.command {
        args::Command::Evaluate(options) => evaluate::evaluate(&options),
        args::Command::Connect(options) => connect::connect(&options),
        args::Command::Suite(options) => suite::suite(&options),
        args::Command::Compare(options) => compare::compare(&options),
        args::Command::Bogo(options) => bogo::bogo(&options),
        args::Command::Scan(options) => scan::scan(&options),
        args::Command::Hello(options) => hello::hello(&options),
        args::Command::Report(options) => report::report(&options),
        args::Command::Explain(options) => explain::explain(&options),
        args::Command::Merge(options) => merge::merge(&options),
        args::Command::Results(options) => results::results(&options),
        args::Command::Man(options) => man::man(&options),
        args::Command::Sites(options) => sites::sites(&options),
        args::Command::Stacks(options) => stacks::stacks(&options),
        args::Command::Link(options) => link::link(&options),
        args::Command::Completions(options) => Ok(options.write()),
    })
}
