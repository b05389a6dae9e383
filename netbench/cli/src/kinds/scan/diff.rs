use std::{collections::HashSet, path::Path};

use netbench_model::{ScanManifest, ScanPlan, Site};
use netbench_report::{Report, diff_scans};
use netbench_store::Index;

use super::{index, plan::Diff};
use crate::{
    exit::{Ended, bail_input},
    output, stored,
};

/// Shows what changed from one scan to a later one.
pub(super) fn diff(options: &Diff) -> anyhow::Result<Ended> {
    let ((before, earlier), (after, later)) = (read(&options.before)?, read(&options.after)?);
    let both: HashSet<String> = after.plan.sites.iter().map(Site::name).collect();
    let gone = before.plan.sites.iter().map(Site::name);
    let gone = gone.filter(|site| !both.contains(site));
    let sites = after.plan.sites.iter().map(Site::name).chain(gone);
    let sites = sites.map(|site| Ok((earlier.read(&site)?, later.read(&site)?)));
    let diff = diff_scans((&before).into(), (&after).into(), sites).map_err(stored::wrong)?;
    if diff.sites == 0 {
        bail_input!("{} and {} have no site in common", before.name, after.name);
    }
    let format = options.output.format();
    if let Some(why) = format.unsupported(&diff.document(format.extent)) {
        bail_input!("{why}");
    }
    output::print(&diff, &options.output)?;
    Ok(Ended::Well)
}

fn read(path: &Path) -> anyhow::Result<(ScanManifest, Index)> {
    let (folder, manifest) = stored::open::<ScanPlan>(path)?;
    let index = index(&folder)?;
    Ok((manifest, index))
}
