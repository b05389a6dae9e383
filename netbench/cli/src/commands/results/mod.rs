//! `netbench results`: manages stored runs. No command here measures.

pub(crate) mod args;
mod list;
mod pack;
mod prune;

use netbench_report::RunsSummary;

use self::args::{Results, ResultsCommand};
use crate::{exit::Ended, kinds::StoredRun, output};

pub(crate) fn results(options: &Results) -> anyhow::Result<Ended> {
    match &options.command {
        ResultsCommand::List { folders, output } => {
            let mut runs = Vec::new();
            for folder in folders {
                runs.extend(list::entries(folder)?.into_iter().map(|entry| entry.row));
            }
            let shown = folders.iter().map(|folder| folder.display().to_string());
            output::print(&RunsSummary::new(shown.collect(), runs), output)?;
            Ok(Ended::Well)
        }
        ResultsCommand::Show { run, output } => {
            output::print(&*StoredRun::read(run)?.report, output)?;
            Ok(Ended::Well)
        }
        ResultsCommand::Pack { runs } => pack::pack(runs),
        ResultsCommand::Prune(options) => prune::prune(options),
    }
}
