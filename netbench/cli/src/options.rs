//! What several commands are asked alike, each said once and flattened into them. A command says what
//! differs with `mut_arg`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum, ValueHint};
use netbench_link::LinkChoice;
use netbench_model::{Profile, RootsSource, parse_duration};

use crate::{format::Format, shard::ShardArg};

/// Which sites.
#[derive(Debug, Args)]
pub(crate) struct SiteOptions {
    /// Sites file; without it, the 101 built-in sites
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What")]
    pub(crate) sites: Option<PathBuf>,
    /// Take only the first N sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "What")]
    pub(crate) limit: Option<u32>,
    /// Connect to the real hosts, over the real network
    #[arg(long, help_heading = "What")]
    pub(crate) live: bool,
}

/// From where sites are seen, which part of them, and over what.
#[derive(Debug, Args)]
pub(crate) struct PathOptions {
    /// Take one part of the sites: I/N, such as 2/3, or auto, from a Kubernetes Indexed Job or a Slurm array
    #[arg(long, value_name = "I/N", requires = "seed", help_heading = "What")]
    pub(crate) shard: Option<ShardArg>,
    /// How the path to emulated sites is emulated: auto, user, tun, netem, none
    #[arg(
        long,
        value_name = "LINK",
        default_value = "auto",
        conflicts_with = "live",
        help_heading = "How"
    )]
    pub(crate) link: LinkChoice,
    /// The place that the sites are seen from; without it, this machine's name
    #[arg(long, value_name = "NAME", value_parser = run_name, help_heading = "Results")]
    pub(crate) vantage: Option<String>,
}

/// Which stacks are compared.
#[derive(Debug, Args)]
pub(crate) struct StackOptions {
    /// Stacks to compare: the others with the first. The same twice compares a stack with itself
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        default_value = "openssl,rustls-aws-lc"
    )]
    pub(crate) stack: Vec<String>,
}

/// What clients trust.
#[derive(Debug, Args)]
pub(crate) struct RootsOptions {
    /// Trust roots: mozilla, native, or a PEM file
    #[arg(long, value_name = "ROOTS", default_value = "mozilla", value_hint = ValueHint::FilePath)]
    roots: String,
}

impl RootsOptions {
    pub(crate) fn source(&self) -> RootsSource {
        match self.roots.as_str() {
            "mozilla" => RootsSource::Mozilla,
            "native" => RootsSource::Native,
            file => RootsSource::File(file.to_owned()),
        }
    }
}

/// Workers of the user's own.
#[derive(Debug, Args)]
pub(crate) struct OwnWorkers {
    /// A worker of your own: a program that speaks the worker protocol
    #[arg(long, value_name = "STACK=PROGRAM", value_parser = worker)]
    pub(crate) worker: Vec<(String, PathBuf)>,
}

/// What runs are begun with.
#[derive(Debug, Args)]
pub(crate) struct StartOptions {
    /// Seed of everything random; without it, a new one
    #[arg(long, value_name = "N", help_heading = "How")]
    pub(crate) seed: Option<u64>,
    #[command(flatten, next_help_heading = "How")]
    pub(crate) own: OwnWorkers,
}

/// Where a run is stored.
#[derive(Debug, Args)]
pub(crate) struct StoredIn {
    /// Where the run's folder is made
    #[arg(long, value_name = "DIR", default_value = "runs", value_hint = ValueHint::DirPath, help_heading = "Results")]
    pub(crate) out: PathBuf,
    /// Resume the run in this folder, with its own settings
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Results")]
    pub(crate) resume: Option<PathBuf>,
}

/// What commands that take samples tell of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct Verbosity {
    /// A line for each sample
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Results")]
    pub(crate) verbose: bool,
}

/// How a report is told.
#[derive(Debug, Clone, Args)]
pub(crate) struct Output {
    /// Form of the report on stdout
    #[arg(long, value_enum, default_value_t, help_heading = "Results")]
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
        if self.json {
            Format::named("json")
        } else {
            self.format
        }
    }
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

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Default => Self::Default,
            ProfileArg::Servo => Self::Servo,
            ProfileArg::Library => Self::Library,
        }
    }
}

/// A time from `least` to `most`.
pub(crate) fn between(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|e| e.to_string())?;
    if (least..=most).contains(&time) {
        Ok(time)
    } else {
        Err(format!("from {least:?} to {most:?}"))
    }
}

/// The last part of the name of a run's folder, or the name of a place.
pub(crate) fn run_name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !text.is_empty() && text.len() <= 80 && text.chars().all(fits) && !text.starts_with('.') {
        Ok(text.to_owned())
    } else {
        Err("letters, digits, '-', '_' and '.', at most 80".to_owned())
    }
}

fn worker(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((stack, program)) if !stack.is_empty() && !program.is_empty() => {
            Ok((stack.to_owned(), PathBuf::from(program)))
        }
        _ => Err("expected STACK=PROGRAM, such as mystack=./my-worker".to_owned()),
    }
}
