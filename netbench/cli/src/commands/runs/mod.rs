//! `netbench runs`: reads and manages stored runs. No command here measures.

pub(crate) mod args;
pub(crate) mod compare;
mod compress;
pub(crate) mod demo;
mod explain;
mod list;
mod merge;
mod prune;
mod report;

use netbench_report::RunsSummary;

use self::args::{Runs, RunsCommand};
use crate::{exit::Ended, kinds::StoredRun, output};

pub(crate) fn runs(options: &Runs) -> anyhow::Result<Ended> {
    match &options.command {
        RunsCommand::List { folders, output } => {
            let mut runs = Vec::new();
            for folder in folders {
                runs.extend(list::entries(folder)?.into_iter().map(|entry| entry.row));
            }
            let shown = folders.iter().map(|folder| folder.display().to_string());
            output::print(&RunsSummary::new(shown.collect(), runs), output)?;
            Ok(Ended::Well)
        }
        RunsCommand::Show { run, output } => {
            output::print(&*StoredRun::read(run)?.report, output)?;
            Ok(Ended::Well)
        }
        RunsCommand::Report(options) => report::report(options),
        RunsCommand::Demo(options) => demo::demo(options),
        RunsCommand::Compare(options) => compare::compare(options),
        RunsCommand::Explain(options) => explain::explain(options),
        RunsCommand::Merge(options) => merge::merge(options),
        RunsCommand::Prune(options) if options.compress => compress::compress(options),
        RunsCommand::Prune(options) => prune::prune(options),
    }
}
