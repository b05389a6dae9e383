use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{demo, explain, history, merge, report};
use crate::{
    compare,
    options::{Merge, Output},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench runs list                               the runs in runs/
  netbench runs report runs/2026-… --open          charts, in the browser
  netbench runs demo                               the page of a published evaluation
  netbench runs compare runs/before runs/after --fail-on-regression 2%
  netbench runs history                            each case over time
  netbench runs explain runs/2026-…                why is one stack faster?
  netbench runs merge runs/*-s? --out runs/all
  netbench runs prune --keep 20
  netbench runs prune --compress";

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs: kind, date, stacks, size; and the defects of damaged ones
    List {
        /// Folders that contain runs
        #[arg(default_value = "runs", value_hint = ValueHint::DirPath)]
        folders: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Print the report of a run
    Show {
        /// Folder of the run
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Write the report of runs: tables, or an HTML page with charts
    #[command(after_help = report::EXAMPLES)]
    Report(report::Report),
    /// Open the page of a published evaluation, without building or measuring anything
    #[command(after_help = demo::EXAMPLES)]
    Demo(demo::Demo),
    /// Compare two runs of suite or connect, such as before and after an upgrade
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::Compare),
    /// Follow the cases of suite over all stored runs: a line for each case and stack
    #[command(after_help = history::EXAMPLES)]
    History(history::History),
    /// Find the sites on which one stack is faster, and their common characteristics
    #[command(after_help = explain::EXAMPLES)]
    Explain(explain::Explain),
    /// Merge the shards of a run, or runs of connect from several machines
    #[command(after_help = merge::EXAMPLES)]
    Merge(Merge),
    /// Delete old runs, or compress them
    #[command(after_help = PRUNE)]
    Prune(Prune),
}

const PRUNE: &str = "\
Examples:
  netbench runs prune --keep 20 --dry-run
  netbench runs prune --older-than 90
  netbench runs prune --compress --older-than 7
  netbench runs prune --compress runs/2026-…

A run that is damaged, in progress, or has other files in its folder is never
deleted. All commands read compressed runs.";

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Folders that contain runs; with --compress also single runs
    #[arg(value_name = "FOLDER", default_value = "runs", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Keep the N newest
    #[arg(long, value_name = "N", required_unless_present_any = ["older_than", "compress"])]
    pub(crate) keep: Option<usize>,
    /// Delete only runs started more than DAYS days ago
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub(crate) older_than: Option<u32>,
    /// Compress the samples of finished runs instead of deleting them
    #[arg(long)]
    pub(crate) compress: bool,
    /// List the runs without changing any
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Delete without asking
    #[arg(long, conflicts_with = "compress")]
    pub(crate) yes: bool,
}
