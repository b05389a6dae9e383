use std::{path::PathBuf, time::Duration};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use netbench_link::LinkChoice;
use netbench_model::{Alpn, Condition, Group, TlsVersion, parse_duration};

use crate::{
    evaluate_args::EVALUATE_EXAMPLES,
    exit::{EXIT_CODES, Ended},
    report_args::REPORT_EXAMPLES,
    run_args::{EXPLAIN_EXAMPLES, MERGE_EXAMPLES},
    scan_args::{HELLO_EXAMPLES, SCAN_EXAMPLES},
    shard::ShardArg,
    suite_args::{COMPARE_EXAMPLES, SUITE_EXAMPLES},
};
pub(crate) use crate::{
    evaluate_args::Evaluate,
    report_args::Report,
    run_args::{Explain, Man, Merge, Results},
    scan_args::{Hello, Scan},
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

const CONNECT_EXAMPLES: &str = "\
Examples:
  netbench connect                               101 emulated sites, openssl against rustls-aws-lc
  netbench connect --rounds 3 --limit 10         a quick look
  netbench connect --stack openssl,rustls-aws-lc,rustls-ring --condition clean,resumed,cold
  netbench connect --sites mine.txt --live       the real hosts of a file, one connection at a time each
  netbench connect --resume runs/…               go on after a kill
  netbench connect --json | jq .comparisons

The report goes to stdout, progress to stderr, and everything into a folder under runs/.
Nothing leaves this machine without --live.";

#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// Sites file; without it, the 101 built-in sites
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What")]
    pub(crate) sites: Option<PathBuf>,
    /// Stacks to compare: the others with the first. The same twice compares a stack with itself
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        default_value = "openssl,rustls-aws-lc",
        help_heading = "What"
    )]
    pub(crate) stack: Vec<String>,
    /// States in which a stack connects: clean, resumed, cold
    #[arg(
        long,
        value_name = "C,…",
        value_delimiter = ',',
        default_value = "clean",
        help_heading = "What"
    )]
    pub(crate) condition: Vec<Condition>,
    /// Rounds: each takes every site, condition and stack once
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "What")]
    pub(crate) rounds: u32,
    /// Take only the first N sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "What")]
    pub(crate) limit: Option<u32>,
    /// Take one part of the sites: I/N, such as 2/3, or auto, from a Kubernetes Indexed Job or a Slurm array
    #[arg(long, value_name = "I/N", requires = "seed", help_heading = "What")]
    pub(crate) shard: Option<ShardArg>,
    /// Connect to the real hosts, over the real network
    #[arg(long, conflicts_with = "link", help_heading = "What")]
    pub(crate) live: bool,

    /// How the connector is set up
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Default, help_heading = "Client")]
    pub(crate) client_profile: ProfileArg,
    /// TLS versions offered
    #[arg(
        long,
        value_name = "V,…",
        value_delimiter = ',',
        default_value = "1.2,1.3",
        help_heading = "Client"
    )]
    pub(crate) tls: Vec<TlsVersion>,
    /// Groups offered, most wanted first; without it, all that every chosen stack can do
    #[arg(
        long,
        value_name = "G,…",
        value_delimiter = ',',
        help_heading = "Client"
    )]
    pub(crate) groups: Vec<Group>,
    /// Application protocols offered, most wanted first
    #[arg(
        long,
        value_name = "A,…",
        value_delimiter = ',',
        default_value = "h2,http/1.1",
        help_heading = "Client"
    )]
    pub(crate) alpn: Vec<Alpn>,
    /// Trust roots: mozilla, native, or a PEM file
    #[arg(long, value_name = "ROOTS", default_value = "mozilla", value_hint = ValueHint::FilePath, help_heading = "Client")]
    pub(crate) roots: String,
    /// Cut or fill the trust roots to N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2_000), help_heading = "Client")]
    pub(crate) roots_count: Option<u32>,
    /// Time limit of one connection
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = connection_limit, help_heading = "Client")]
    pub(crate) timeout: Duration,

    /// How the path to the sites is emulated: auto, user, tun, netem, none
    #[arg(
        long,
        value_name = "LINK",
        default_value = "auto",
        help_heading = "How"
    )]
    pub(crate) link: LinkChoice,
    /// Trials at one time, each with workers of its own
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "How")]
    pub(crate) jobs: u32,
    /// Seed of the order of trials and of the losses; without it, a new one
    #[arg(long, value_name = "N", help_heading = "How")]
    pub(crate) seed: Option<u64>,
    /// A worker of your own: a program that speaks the worker protocol
    #[arg(long, value_name = "STACK=PROGRAM", value_parser = worker, help_heading = "How")]
    pub(crate) worker: Vec<(String, PathBuf)>,

    /// The place that the sites are seen from; without it, this machine's name
    #[arg(long, value_name = "NAME", value_parser = run_name, help_heading = "Results")]
    pub(crate) vantage: Option<String>,
    /// Where the run's folder is made
    #[arg(long, value_name = "DIR", default_value = "runs", value_hint = ValueHint::DirPath, help_heading = "Results")]
    pub(crate) out: PathBuf,
    /// Last part of the name of the run's folder
    #[arg(long, value_name = "NAME", default_value = "connect", value_parser = run_name, help_heading = "Results")]
    pub(crate) name: String,
    /// Go on with the run in this folder, with its own settings
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Results",
          conflicts_with_all = ["sites", "stack", "condition", "rounds", "limit", "shard", "vantage", "live", "client_profile", "tls", "groups", "alpn", "roots", "roots_count", "timeout", "link", "seed", "out", "name"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) telling: Telling,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What commands that take samples tell of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct Telling {
    /// A line for each sample
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Results")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Output {
    /// Form of the report on stdout
    #[arg(long, value_enum, default_value_t = Format::Terminal, help_heading = "Results")]
    pub(crate) format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format", help_heading = "Results")]
    pub(crate) json: bool,
    /// No progress
    #[arg(long, short, help_heading = "Results")]
    pub(crate) quiet: bool,
    /// Append the report to the summary of a step of GitHub Actions
    #[arg(long, help_heading = "Results")]
    pub(crate) github_summary: bool,
}

impl Output {
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for a terminal
    Terminal,
    Markdown,
    Csv,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// The same versions, suites, groups and signature schemes for every stack
    Default,
    /// As default, and hyper as Servo sets it up
    Servo,
    /// What each library offers by itself; stacks may then do different work
    Library,
}

const BOGO_EXAMPLES: &str = "\
Examples:
  netbench bogo                                  boringssl, openssl, rustls: all tests, feature by feature
  netbench bogo --feature ALPN                   one feature
  netbench bogo --shim rustls --test 'ALPN*'     some tests of one stack
  netbench bogo diff openssl rustls              what one passes and the other does not
  netbench bogo --kept                           the outcomes that are kept, at once and without Go
  netbench bogo --check                          fails when a test that passed no longer does

Needs Go; the control column, boringssl, needs cmake and ninja too. The first run builds the runner and
the shims, and fetches what they are built from; nothing else leaves this machine. Results are kept, so that
the same question is answered at once when neither runner nor shim has changed.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bogo {
    #[command(subcommand)]
    pub(crate) command: Option<BogoCommand>,
    /// Stacks, in the order of the columns; without it, boringssl, openssl and rustls
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) shim: Vec<String>,
    /// Run only tests whose names match: * is any text, ? any character; several with semicolons
    #[arg(long, value_name = "GLOB")]
    pub(crate) test: Option<String>,
    /// Show one feature, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    /// Fail when a test that passed no longer does, or one that is known not to pass does
    #[arg(long, conflicts_with = "kept")]
    pub(crate) check: bool,
    /// Keep the outcomes as what --check compares with
    #[arg(long, conflicts_with_all = ["check", "test", "kept"])]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) how: BogoHow,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BogoHow {
    /// Tests at one time, over all stacks; without it, as many as there are processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// How long a test may wait for the shim to say something
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = test_limit)]
    pub(crate) timeout: Duration,
    /// Run again what has been run before
    #[arg(long)]
    pub(crate) again: bool,
    /// Show the outcomes that are kept in results/bogo, and run nothing: needs neither Go nor a build
    #[arg(long, conflicts_with_all = ["again", "jobs", "timeout"])]
    pub(crate) kept: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BogoCommand {
    /// What one stack passes and the other does not, by feature, and why
    Diff(BogoDiff),
}

#[derive(Debug, Args)]
pub(crate) struct BogoDiff {
    /// One stack
    pub(crate) first: String,
    /// The other
    pub(crate) second: String,
    /// Show one feature, by its name in the table
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    #[command(flatten)]
    pub(crate) how: BogoHow,
    #[command(flatten)]
    pub(crate) output: Output,
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

fn connection_limit(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|e| e.to_string())?;
    if limit < Duration::from_millis(10) {
        Err("at least 10ms".to_owned())
    } else {
        Ok(limit)
    }
}

fn test_limit(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|e| e.to_string())?;
    if limit < Duration::from_secs(1) || limit > Duration::from_secs(120) {
        Err("from 1s to 120s".to_owned())
    } else {
        Ok(limit)
    }
}

pub(crate) fn worker(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((stack, program)) if !stack.is_empty() && !program.is_empty() => {
            Ok((stack.to_owned(), PathBuf::from(program)))
        }
        _ => Err("expected STACK=PROGRAM, such as mystack=./my-worker".to_owned()),
    }
}

pub(crate) fn run_name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !text.is_empty() && text.len() <= 80 && text.chars().all(fits) && !text.starts_with('.') {
        Ok(text.to_owned())
    } else {
        Err("letters, digits, '-', '_' and '.', at most 80".to_owned())
    }
}
