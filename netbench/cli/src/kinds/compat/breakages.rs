//! `netbench compat breakages`: breakages that others reported, and the cases that predict them.

use netbench_report::BreakagesReport;

use crate::{exit::Ended, options::Output, output::print};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compat breakages                   the threads, and what predicts each
  netbench compat breakages --format markdown > docs/BREAKAGES.md
  netbench compat breakages --json | jq -r '.breakages[] | select(.predicted) | .predicted.case'

It tries nothing: the cases are tried by the commands that it names.";

pub(super) fn breakages(output: &Output) -> anyhow::Result<Ended> {
    print(&BreakagesReport::new(netbench_compat::breakages()), output)?;
    Ok(Ended::Well)
}
