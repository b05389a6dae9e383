//! `netbench runs`: reads and manages stored runs. No command here measures.

pub(crate) mod args;
mod compress;
pub(crate) mod demo;
mod explain;
mod history;
pub(crate) mod list;
mod merge;
mod prune;
mod report;

use netbench_model::StackName;
use netbench_report::RunsSummary;

use self::args::Runs;
use crate::{
    compare::Compare,
    exit::{Ended, bail_input},
    kinds, output,
};

pub(crate) fn runs(options: &Runs) -> anyhow::Result<Ended> {
    match options {
        Runs::List { folders, output } => {
            let mut runs = Vec::new();
            for folder in folders {
                runs.extend(list::entries(folder)?.into_iter().map(|entry| entry.row));
            }
            let shown = folders.iter().map(|folder| folder.display().to_string());
            output::print(&RunsSummary::new(shown.collect(), runs), output)?;
            Ok(Ended::Well)
        }
        Runs::Show { run, output } => {
            output::print(&*kinds::read(run)?, output)?;
            Ok(Ended::Well)
        }
        Runs::Report(options) => report::report(options),
        Runs::Demo(options) => demo::demo(options),
        Runs::Compare(options) => compare(options),
        Runs::History(options) => history::history(options),
        Runs::Explain(options) => explain::explain(options),
        Runs::Merge(options) => merge::merge(options),
        Runs::Prune(options) if options.compress => compress::compress(options),
        Runs::Prune(options) => prune::prune(options),
    }
}

/// Compares runs of one kind.
fn compare(options: &Compare) -> anyhow::Result<Ended> {
    let chosen: Vec<StackName> = options.stack.iter().map(StackName::new).collect();
    let chosen = match chosen.as_slice() {
        [] => None,
        [a, b] => Some((a, b)),
        _ => bail_input!("--stack takes two stacks"),
    };
    let kind = kinds::of_all(&options.runs, "compared")?;
    match kind.compare {
        Some(compare) => compare(options, chosen),
        None => bail_input!("runs of {} cannot be compared", kind.kind),
    }
}
