use std::path::Path;

use netbench_model::ScanPlan;
use netbench_report::{Report, ScanSummary, diff_scans};

use super::args::Diff;
use crate::{
    exit::{Ended, bail_input},
    kinds, output, stored,
};

/// Shows what changed from one scan to a later one.
pub(super) fn diff(options: &Diff) -> anyhow::Result<Ended> {
    let (before, after) = (read(&options.before)?, read(&options.after)?);
    let diff = diff_scans(&before, &after);
    if diff.sites == 0 {
        bail_input!(
            "{} and {} have no site in common",
            before.run.name,
            after.run.name
        );
    }
    let form = options.output.format();
    if let Some(why) = form.unsupported(&diff.document(form.extent)) {
        bail_input!("{why}");
    }
    output::print(&diff, &options.output)?;
    Ok(Ended::Well)
}

fn read(path: &Path) -> anyhow::Result<ScanSummary> {
    let (folder, _) = stored::open::<ScanPlan>(path)?;
    kinds::scan::read(&folder)
}
