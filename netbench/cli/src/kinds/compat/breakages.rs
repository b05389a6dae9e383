//! `netbench compat breakages`: breakages that others reported, and the cases that predict them.

use clap::Args;
use netbench_report::BreakagesReport;

use crate::{exit::Ended, options::Output, output};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat breakages                   the threads, and what predicts each
  netbench compat breakages --format markdown > docs/BREAKAGES.md
  netbench compat breakages --json | jq -r '.breakages[] | select(.predicted) | .predicted.case'

It tries nothing: the cases are tried by the commands that it names.";

#[derive(Debug, Args)]
pub(crate) struct Breakages {
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(super) fn breakages(options: &Breakages) -> anyhow::Result<Ended> {
    let report = BreakagesReport::new(netbench_compat::breakages());
    output::print(&report, &options.output)?;
    Ok(Ended::Well)
}
