//! `netbench results`: the runs that are kept. Nothing here measures, and only `prune` changes anything.

pub(crate) mod args;
mod prune;
mod scan;

use std::path::Path;

use netbench_report::RunsSummary;

use self::args::{Results, ResultsCommand};
use crate::{exit::Ended, kept::Kept, options::Output, output};

/// Lists, shows or prunes runs.
pub(crate) fn results(options: &Results) -> anyhow::Result<Ended> {
    match &options.command {
        ResultsCommand::List { folders, output } => {
            let mut runs = Vec::new();
            for folder in folders {
                runs.extend(scan::entries(folder)?.into_iter().map(|entry| entry.row));
            }
            let shown = folders.iter().map(|folder| folder.display().to_string());
            output::print(&RunsSummary::new(shown.collect(), runs), output)?;
            Ok(Ended::Well)
        }
        ResultsCommand::Show { run, output } => show(run, output),
        ResultsCommand::Prune(options) => prune::prune(options),
    }
}

fn show(path: &Path, output: &Output) -> anyhow::Result<Ended> {
    output::print(Kept::read(path)?.report(), output)?;
    Ok(Ended::Well)
}
