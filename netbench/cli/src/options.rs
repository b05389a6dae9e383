//! Options that several commands share. A command changes their help with `mut_arg`. The options after a group appear
//! in the group's section of the help; the main options of a command have no section, and come first.

use std::{
    convert::Infallible,
    fmt::Display,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, ValueEnum, ValueHint};
use netbench_link::LinkChoice;
use netbench_model::{
    ConnectTo, NamedThreshold, Profile, Quantity, RootsSource, Thresholds, browser::Sandbox,
    parse_duration,
};
use netbench_report::Format;

use crate::{
    client::Unstored,
    cost::Consent,
    exit::bail_input,
    format::{format, named},
    shard::ShardArg,
};

#[derive(Debug, Args)]
pub(crate) struct SiteOptions {
    /// Read the sites from FILE instead of taking the 101 built-in ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) sites: Option<PathBuf>,
    /// Use only the first N sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Connect to the real hosts over the real network
    #[arg(long)]
    pub(crate) live: bool,
}

/// Servers of the user's own.
#[derive(Debug, Args)]
#[command(next_help_heading = "What")]
pub(crate) struct TargetOptions {
    /// Servers to connect to, by URL or by host [default: emulated sites]; those of this machine need no --live
    #[arg(
        value_name = "URL",
        value_hint = ValueHint::Url,
        conflicts_with = "sites",
        help_heading = None
    )]
    pub(crate) targets: Vec<String>,
    /// Connect to HOST2:PORT2 in place of HOST1:PORT1, as curl does; the first rule about a host counts
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2")]
    pub(crate) connect_to: Vec<ConnectTo>,
}

/// From where sites are seen, which part of them, and over what.
#[derive(Debug, Args)]
pub(crate) struct PathOptions {
    /// Use only part I of N of the sites, such as 2/3; auto: the index of a Kubernetes Indexed Job or Slurm array
    #[arg(
        long,
        value_name = "I/N",
        requires = "seed",
        conflicts_with = "targets",
        help_heading = "What"
    )]
    pub(crate) shard: Option<ShardArg>,
    /// How to emulate the network: auto, user, tun, netem, none
    #[arg(
        long,
        value_name = "LINK",
        default_value = "auto",
        conflicts_with_all = ["live", "targets"],
        help_heading = "How"
    )]
    pub(crate) link: LinkChoice,
    /// Name of the place this is measured from [default: the host name]
    #[arg(long, value_name = "NAME", value_parser = run_name, help_heading = "Results")]
    pub(crate) vantage: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StackOptions {
    /// Stacks to compare, each with the first; a stack named twice is compared with itself [default:
    /// openssl,rustls-aws-lc]
    #[arg(long, short, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) stack: Vec<String>,
}

impl StackOptions {
    /// Returns the stacks that the user named, if any.
    pub(crate) fn named(&self) -> Option<&[String]> {
        (!self.stack.is_empty()).then_some(&self.stack)
    }

    /// Returns the stacks that the user named, or the usual two.
    pub(crate) fn names(&self) -> Vec<String> {
        match self.named() {
            Some(names) => names.to_vec(),
            None => ["openssl", "rustls-aws-lc"].map(str::to_owned).into(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RootsOptions {
    /// Trust roots: mozilla, native (the system's), or a PEM file
    #[arg(long, value_name = "ROOTS", default_value = "mozilla", value_parser = roots, value_hint = ValueHint::FilePath)]
    pub(crate) roots: RootsSource,
}

fn roots(text: &str) -> Result<RootsSource, Infallible> {
    Ok(match text {
        "mozilla" => RootsSource::Mozilla,
        "native" => RootsSource::Native,
        file => RootsSource::File(file.to_owned()),
    })
}

/// Workers of the user's own.
#[derive(Debug, Args)]
pub(crate) struct OwnWorkers {
    /// Add a stack of your own: a program that speaks the worker protocol
    #[arg(long, value_name = "STACK=PROGRAM", value_parser = worker)]
    pub(crate) worker: Vec<(String, PathBuf)>,
}

/// The options of every session.
pub(crate) struct Asked<'a> {
    /// The workers of the user, each with its stack.
    pub(crate) own: &'a [(String, PathBuf)],
    pub(crate) unstored: Unstored,
    pub(crate) consent: Consent,
    pub(crate) output: &'a Output,
}

impl<'a> Asked<'a> {
    /// Returns the options of a kind of run that takes minutes, and for which users supply no secrets.
    pub(crate) fn short(own: &'a [(String, PathBuf)], output: &'a Output) -> Self {
        Self {
            own,
            unstored: Unstored::default(),
            consent: Consent::Given,
            output,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Folders of runs of connect, or of shards of a scan
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) runs: Vec<PathBuf>,
    /// Folder to create
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Make an HTML page of the report too, report.html in the run's folder, and open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Merge even if shards are missing or runs are unfinished; the report lists them
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The HTML page of a run's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// No page is made.
    None,
    /// A page is made.
    Made,
    /// A page is made, and opened in the browser.
    Opened,
}

impl Page {
    /// Returns the value of `--open`.
    pub(crate) fn of_option(open: bool) -> Self {
        if open { Self::Opened } else { Self::None }
    }
}

/// The options with which runs begin.
#[derive(Debug, Args)]
#[command(next_help_heading = "How")]
pub(crate) struct StartOptions {
    /// Seed of everything random [default: a new one]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) own: OwnWorkers,
    /// Start without asking, also if it takes more than an hour
    #[arg(long)]
    pub(crate) yes: bool,
}

impl StartOptions {
    /// Returns the options of a session that a command begins.
    pub(crate) fn asked<'a>(&'a self, output: &'a Output, unstored: Unstored) -> Asked<'a> {
        Asked {
            own: &self.own.worker,
            unstored,
            consent: self.consent(),
            output,
        }
    }

    pub(crate) fn consent(&self) -> Consent {
        Consent::of_option(self.yes)
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct StoredIn {
    /// Folder to create the run's folder in
    #[arg(long, short, value_name = "DIR", default_value = "runs", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Last part of the folder's name [default: the command, or the preset]
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    pub(crate) name: Option<String>,
    /// Make an HTML page of the report too, report.html in the run's folder, and open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

/// The thresholds by which questions are answered.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ThresholdOptions {
    #[arg(
        long = "threshold",
        help = "Answer yes up to an amount and no from another: connection-time=5%..20%",
        long_help = about_thresholds(),
        value_name = "NAME=YES..NO",
        value_delimiter = ',',
        help_heading = "Results"
    )]
    named: Vec<NamedThreshold>,
}

fn about_thresholds() -> String {
    let usual = Quantity::ALL.iter();
    let usual = usual.map(|name| format!("\n  {name}={}", name.usual()));
    format!(
        "Answer yes up to an amount and no from another: connection-time=5%..20%\n\n\
         In between, the answer is \"yes, with losses\". YES.. is never a no, and one amount is both. These hold unless \
         they are set:\n{}\n\n\
         An evaluation ends with exit code 4 if an answer is no; a run of one kind does so if a threshold is set.",
        usual.collect::<String>()
    )
}

impl ThresholdOptions {
    /// Returns the thresholds; of several for one quantity, the last.
    pub(crate) fn collected(&self) -> Thresholds {
        self.named.iter().copied().collect()
    }
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct Output {
    /// Format of the report on stdout
    #[arg(long, value_parser = format(), default_value = "terminal")]
    pub(crate) format: &'static Format,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print a line for each sample, site or test
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Append the report to the step's summary on GitHub Actions
    #[arg(long)]
    pub(crate) github_summary: bool,
}

impl Output {
    pub(crate) fn format(&self) -> &'static Format {
        if self.json {
            named("json")
        } else {
            self.format
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// The same versions, suites, groups and signature schemes for every stack
    Default,
    /// Like default, with hyper set up as in Servo
    Servo,
    /// The library's own defaults; stacks may then do different work
    Library,
}

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Default => Self::Default,
            ProfileArg::Servo => Self::Servo,
            ProfileArg::Library => Self::Library,
        }
    }
}

/// Returns the sandbox of browsers by the value of `--no-sandbox`.
pub(crate) fn sandbox(no_sandbox: bool) -> Sandbox {
    if no_sandbox {
        Sandbox::Off
    } else {
        Sandbox::On
    }
}

/// Returns the values of an option, and refuses values that are given twice.
pub(crate) fn each_once<'a, T: PartialEq + Display>(
    option: &str,
    values: &'a [T],
) -> anyhow::Result<&'a [T]> {
    for (at, value) in values.iter().enumerate() {
        if values[..at].contains(value) {
            bail_input!("{option} names {value} twice");
        }
    }
    Ok(values)
}

/// Returns a parser of times from `least` to `most`.
pub(crate) fn between(
    least: Duration,
    most: Duration,
) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| {
        let time = parse_duration(text).map_err(|e| e.to_string())?;
        if (least..=most).contains(&time) {
            Ok(time)
        } else {
            Err(format!("expected from {least:?} to {most:?}"))
        }
    }
}

/// Parses the last part of the name of a run's folder, or the name of a place.
fn run_name(text: &str) -> Result<String, String> {
    let fits = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fits && !text.is_empty() && text.len() <= 80 && !text.starts_with('.') {
        Ok(text.to_owned())
    } else {
        Err("letters, digits, '-', '_' and '.', at most 80".to_owned())
    }
}

fn worker(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((stack, program)) if !stack.is_empty() && !program.is_empty() => {
            let program = PathBuf::from(program);
            let is_here = program.components().count() == 1 && program.is_file();
            let program = match is_here {
                // A name without a folder would be looked for in PATH alone.
                true => Path::new(".").join(program),
                false => program,
            };
            Ok((stack.to_owned(), program))
        }
        _ => Err("expected STACK=PROGRAM, such as mystack=./my-worker".to_owned()),
    }
}
