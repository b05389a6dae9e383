//! The commands, one module each: `args.rs` has the arguments, `mod.rs` the implementation.

mod bogo;
mod browser;
pub(crate) mod compare;
mod compat;
pub(crate) mod completions;
mod connect;
mod evaluate;
#[cfg(test)]
mod examples;
mod explain;
mod hello;
mod init;
mod link;
mod man;
mod merge;
pub(crate) mod report;
mod results;
mod scan;
mod ship;
mod sites;
mod stacks;
mod suite;

use std::{ffi::OsString, time::Duration};

use clap::{Parser, Subcommand};

use crate::exit::{EXIT_CODES, Ended};

/// Measure what changes when a client switches to another TLS stack.
#[derive(Debug, Parser)]
#[command(name = "netbench", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Netbench {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Ignore netbench.toml
    #[arg(long, global = true, help_heading = "Options")]
    pub(crate) no_config: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two stacks in full: features, sites that can be reached, speed
    #[command(after_help = evaluate::args::EXAMPLES)]
    Evaluate(Box<evaluate::args::Evaluate>),
    /// Time connections from each stack to each site, phase by phase
    #[command(after_help = connect::args::EXAMPLES)]
    Connect(Box<connect::args::Connect>),
    /// Benchmark the libraries in memory: handshakes, data, verification, memory use
    #[command(after_help = suite::args::EXAMPLES)]
    Suite(Box<suite::args::Suite>),
    /// Find out which servers each stack refuses, and whether it should
    #[command(after_help = compat::args::EXAMPLES)]
    Compat(Box<compat::args::Compat>),
    /// Build a client with each stack: its size, build time, crates, licences
    #[command(after_help = ship::args::EXAMPLES)]
    Ship(Box<ship::args::Ship>),
    /// Drive real browsers over emulated sites: times, what they negotiate, what they show
    #[command(after_help = browser::args::EXAMPLES)]
    Browser(Box<browser::args::BrowserOptions>),
    /// Compare two runs of suite or connect, such as before and after an upgrade
    #[command(after_help = compare::args::EXAMPLES)]
    Compare(compare::args::Compare),
    /// Run BoringSSL's protocol tests and show which features each stack supports
    #[command(after_help = bogo::args::EXAMPLES)]
    Bogo(Box<bogo::args::Bogo>),
    /// Scan servers: what they support, and which of them each stack cannot reach
    #[command(after_help = scan::args::EXAMPLES)]
    Scan(Box<scan::args::Scan>),
    /// Show the ClientHello of each stack: what it offers, its size, JA3 and JA4
    #[command(after_help = hello::args::EXAMPLES)]
    Hello(hello::args::Hello),
    /// Show the report of stored runs: tables, or an HTML page with charts
    #[command(after_help = report::args::EXAMPLES)]
    Report(report::args::Report),
    /// Find out on which sites one stack is faster, and what they have in common
    #[command(after_help = explain::args::EXAMPLES)]
    Explain(explain::args::Explain),
    /// Merge the shards of a run, or runs of connect from several machines
    #[command(after_help = merge::args::EXAMPLES)]
    Merge(merge::args::Merge),
    /// List, show, compress and delete stored runs
    Results(results::args::Results),
    /// Check, print and record sites files
    Sites(sites::args::Sites),
    /// Write a netbench.toml, which sets options for a folder
    #[command(after_help = init::args::EXAMPLES)]
    Init(init::args::Init),
    /// List the stacks; build their workers, and check them
    #[command(alias = "workers", after_help = stacks::args::EXAMPLES)]
    Stacks(stacks::args::Stacks),
    /// Measure the emulated network itself
    Link(link::args::Link),
    /// Generate a completion script for a shell
    Completions(completions::args::Completions),
    /// Generate the manual pages
    Man(man::args::Man),
}

/// Returns the predicted time of a command line, from its plan.
///
/// # Errors
/// The command would not start.
pub(crate) fn time(arguments: &[OsString]) -> anyhow::Result<Duration> {
    let words = [OsString::from("netbench")];
    let parsed = Netbench::try_parse_from(words.iter().chain(arguments))?;
    Ok(match &parsed.command {
        Command::Connect(options) => connect::time(options)?,
        Command::Suite(options) => suite::time(options)?,
        Command::Scan(options) => scan::time(options)?,
        Command::Browser(options) => browser::time(options)?,
        Command::Bogo(options) => bogo::time(options),
        Command::Compat(options) => compat::time(options)?,
        _ => Duration::ZERO,
    })
}

impl Command {
    pub(crate) fn run(&self) -> anyhow::Result<Ended> {
        match self {
            Self::Evaluate(options) => evaluate::evaluate(options),
            Self::Connect(options) => connect::connect(options),
            Self::Suite(options) => suite::suite(options),
            Self::Compat(options) => compat::compat(options),
            Self::Ship(options) => ship::ship(options),
            Self::Browser(options) => browser::browser(options),
            Self::Compare(options) => compare::compare(options),
            Self::Bogo(options) => bogo::bogo(options),
            Self::Scan(options) => scan::scan(options),
            Self::Hello(options) => hello::hello(options),
            Self::Report(options) => report::report(options),
            Self::Explain(options) => explain::explain(options),
            Self::Merge(options) => merge::merge(options),
            Self::Results(options) => results::results(options),
            Self::Sites(options) => sites::sites(options),
            Self::Init(options) => init::init(options),
            Self::Stacks(options) => stacks::stacks(options),
            Self::Link(options) => link::link(options),
            Self::Completions(options) => completions::completions(options),
            Self::Man(options) => man::man(options),
        }
    }
}
