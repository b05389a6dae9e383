use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use netbench_link::LinkChoice;

use crate::{
    bogo_args::BOGO_EXAMPLES,
    connect_args::CONNECT_EXAMPLES,
    evaluate_args::EVALUATE_EXAMPLES,
    exit::{EXIT_CODES, Ended},
    report_args::REPORT_EXAMPLES,
    run_args::{EXPLAIN_EXAMPLES, MERGE_EXAMPLES},
    scan_args::{HELLO_EXAMPLES, SCAN_EXAMPLES},
    suite_args::{COMPARE_EXAMPLES, SUITE_EXAMPLES},
};
pub(crate) use crate::{
    bogo_args::{Bogo, BogoCommand, BogoDiff, BogoHow},
    connect_args::Connect,
    evaluate_args::Evaluate,
    report_args::Report,
    run_args::{Explain, Man, Merge, Results},
    scan_args::{Hello, Scan},
    shared_args::{Output, Telling},
    suite_args::{Compare, Suite},
};

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
    #[command(after_help = EVALUATE_EXAMPLES)]
    Evaluate(Box<Evaluate>),
    /// Time connections of each stack to each site: connector, verification, handshake, total
    #[command(after_help = CONNECT_EXAMPLES)]
    Connect(Box<Connect>),
    /// Time what the libraries themselves take, in memory: data, handshakes, verification, memory
    #[command(after_help = SUITE_EXAMPLES)]
    Suite(Box<Suite>),
    /// Compare two runs of the suite, or two stacks of one, case by case
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Compare),
    /// Put stacks through BoringSSL's protocol tests: which features and versions each supports
    #[command(after_help = BOGO_EXAMPLES)]
    Bogo(Box<Bogo>),
    /// Find out what each site speaks, and which sites a change of stack would lose
    #[command(after_help = SCAN_EXAMPLES)]
    Scan(Box<Scan>),
    /// Take the ClientHello of each stack apart: what it offers, its size, JA3 and JA4
    #[command(after_help = HELLO_EXAMPLES)]
    Hello(Hello),
    /// Make the report of kept runs again: tables, or one HTML page
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// Say which sites one stack is faster on, and what they have in common
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// Join runs: the shards of one of connect or scan, or runs of connect of several machines
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(Merge),
    /// List, show and prune kept runs
    Results(Results),
    /// Work with sites files
    Sites(Sites),
    /// List the stacks, and what each says of itself
    Stacks(Stacks),
    /// Work with emulated links
    Link(Link),
    /// Write a completion script for a shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Sites {
    #[command(subcommand)]
    pub(crate) command: SitesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SitesCommand {
    /// Say whether a sites file is right, and if not, every line that is wrong
    Check {
        /// The file; without it, the built-in one
        #[arg(value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
    /// Print the built-in sites file, to begin one's own from
    Print,
    /// Print a sites file that emulates the sites of a scan, with their measured round-trip times
    Record {
        /// The scan's folder
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Stacks {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Link {
    #[command(subcommand)]
    pub(crate) command: LinkCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// Measure the link itself: TCP connect against the configured time, rate, lateness
    Bench {
        /// Which: auto, user, tun, netem, none
        #[arg(long, value_name = "LINK", default_value = "auto")]
        link: LinkChoice,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn write(&self) -> Ended {
        let mut command = Netbench::command();
        clap_complete::generate(self.shell, &mut command, "netbench", &mut std::io::stdout());
        Ended::Well
    }
}
