use std::path::PathBuf;

use clap::{Args, ValueHint};
use globset::Glob;
use netbench_model::{Plan, SuitePlan};
use netbench_report::history_of_suite;

use super::list::entries;
use crate::{
    exit::{Ended, in_a_line},
    options::Output,
    output, stored,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench runs history                                 the runs in runs/
  netbench runs history nightly --case 'handshake-*'
  netbench runs history nightly --format html > history.html
  netbench runs history nightly --format json | jq '.cases[].figures[-1].ratio'

A case is followed over the runs of suite that have it with the same first stack.
Its figure is the factor to that stack, which was measured side by side and depends
less on the machine than a time. A step is marked if the intervals of two runs with
the same settings and processor have no value in common.";

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Folders that contain runs
    #[arg(value_name = "FOLDER", default_value = "runs", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    /// Only cases whose names match
    #[arg(long, value_name = "GLOB")]
    case: Option<Glob>,
    /// Only this stack
    #[arg(long, short, value_name = "STACK")]
    stack: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// Follows the cases of all runs of suite in some folders. A run that cannot be read is named and left out.
pub(super) fn history(options: &History) -> anyhow::Result<Ended> {
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    for folder in &options.folders {
        for entry in entries(folder)? {
            if !entry.path.join("run.json").is_file() {
                continue;
            }
            let path = entry.path.display();
            if let Some(problem) = entry.row.problem {
                left_out.push(format!("{path} is left out: {problem}"));
            } else if entry.row.kind == SuitePlan::KIND.name() {
                match stored::read::<SuitePlan>(&entry.path) {
                    Ok(run) => runs.push(run),
                    Err(error) => {
                        left_out.push(format!("{path} is left out: {}", in_a_line(&error)))
                    }
                }
            }
        }
    }
    let mut history = history_of_suite(runs, left_out);
    let glob = options.case.as_ref().map(Glob::compile_matcher);
    let stack = options.stack.as_deref();
    history.cases.retain(|case| {
        glob.as_ref().is_none_or(|glob| glob.is_match(&case.name))
            && stack.is_none_or(|stack| case.stack.as_str() == stack)
    });
    output::print(&history, &options.output)?;
    Ok(output::ended(&history))
}
