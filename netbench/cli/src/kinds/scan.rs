use netbench_model::{ScanManifest, ScanPlan, StackName, scan::SiteOutcome};
use netbench_report::{ScanSummary, summarize_scan};
use netbench_store::{Index, RunFolder, StoreError};

use super::{KindOfRun, Listed};
pub(crate) use crate::merge::scan::AGAINST;
use crate::{
    commands::scan::ScanRun,
    cost::{self, Cost},
    merge,
    stored::wrong,
};

pub(super) const KIND: KindOfRun = KindOfRun::of::<ScanRun>(|folder| Ok(Box::new(read(folder)?)))
    .merged_by(merge::scan::merge)
    .holding(&[AGAINST]);

pub(crate) fn read(folder: &RunFolder) -> anyhow::Result<ScanSummary> {
    let manifest: ScanManifest = folder.manifest().map_err(wrong)?;
    let against = folder.read_json(AGAINST).map_err(wrong)?;
    let index = index(folder).map_err(wrong)?;
    let sites = manifest.plan.sites.iter();
    let scans = sites.filter_map(|site| index.read(&site.name()).transpose());
    summarize_scan(&manifest, scans, against).map_err(wrong)
}

/// Returns the position of each site's scan in the folder. If a site was scanned twice, the last
/// scan counts.
pub(crate) fn index(folder: &RunFolder) -> Result<Index, StoreError> {
    folder.index(|outcome: SiteOutcome| outcome.site)
}

impl Listed for ScanPlan {
    fn stacks(&self) -> &[StackName] {
        &self.against
    }

    fn cases(&self) -> u64 {
        self.sites.len() as u64
    }

    fn cost(&self) -> Cost {
        cost::scan(self)
    }
}
