//! The commands, one module each: `args.rs` is what can be asked of it, `mod.rs` what it does.

mod bogo;
mod compare;
mod completions;
mod connect;
mod evaluate;
mod explain;
mod hello;
mod link;
mod man;
mod merge;
pub(crate) mod report;
mod results;
mod scan;
mod sites;
mod stacks;
mod suite;

use clap::{Parser, Subcommand};

use crate::exit::{EXIT_CODES, Ended};

/// What changes for your users if you switch the TLS stack? Answers with measurements.
#[derive(Debug, Parser)]
#[command(name = "netbench", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Netbench {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Three questions and a verdict on each: does another stack support what is needed, work, and is it fast
    #[command(after_help = evaluate::args::EXAMPLES)]
    Evaluate(Box<evaluate::args::Evaluate>),
    /// Time connections of each stack to each site: connector, verification, handshake, total
    #[command(after_help = connect::args::EXAMPLES)]
    Connect(Box<connect::args::Connect>),
    /// Time what the libraries themselves take, in memory: data, handshakes, verification, memory
    #[command(after_help = suite::args::EXAMPLES)]
    Suite(Box<suite::args::Suite>),
    /// Compare two runs of the suite, or two stacks of one, case by case
    #[command(after_help = compare::args::EXAMPLES)]
    Compare(compare::args::Compare),
    /// Put stacks through BoringSSL's protocol tests: which features and versions each supports
    #[command(after_help = bogo::args::EXAMPLES)]
    Bogo(Box<bogo::args::Bogo>),
    /// Find out what each site speaks, and which sites a change of stack would lose
    #[command(after_help = scan::args::EXAMPLES)]
    Scan(Box<scan::args::Scan>),
    /// Take the ClientHello of each stack apart: what it offers, its size, JA3 and JA4
    #[command(after_help = hello::args::EXAMPLES)]
    Hello(hello::args::Hello),
    /// Make the report of stored runs again: tables, or one HTML page
    #[command(after_help = report::args::EXAMPLES)]
    Report(report::args::Report),
    /// Say which sites one stack is faster on, and what they have in common
    #[command(after_help = explain::args::EXAMPLES)]
    Explain(explain::args::Explain),
    /// Join runs: the shards of one of connect or scan, or runs of connect of several machines
    #[command(after_help = merge::args::EXAMPLES)]
    Merge(merge::args::Merge),
    /// List, show and prune stored runs
    Results(results::args::Results),
    /// Work with sites files
    Sites(sites::args::Sites),
    /// List the stacks, and what each says of itself
    Stacks(stacks::args::Stacks),
    /// Work with emulated links
    Link(link::args::Link),
    /// Write a completion script for a shell
    Completions(completions::args::Completions),
    /// Write the manual pages
    Man(man::args::Man),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Ended> {
        match self {
            Self::Evaluate(options) => evaluate::evaluate(options),
            Self::Connect(options) => connect::connect(options),
            Self::Suite(options) => suite::suite(options),
            Self::Compare(options) => compare::compare(options),
            Self::Bogo(options) => bogo::bogo(options),
            Self::Scan(options) => scan::scan(options),
            Self::Hello(options) => hello::hello(options),
            Self::Report(options) => report::report(options),
            Self::Explain(options) => explain::explain(options),
            Self::Merge(options) => merge::merge(options),
            Self::Results(options) => results::results(options),
            Self::Sites(options) => sites::sites(options),
            Self::Stacks(options) => stacks::stacks(options),
            Self::Link(options) => link::link(options),
            Self::Completions(options) => completions::completions(options),
            Self::Man(options) => man::man(options),
        }
    }
}
