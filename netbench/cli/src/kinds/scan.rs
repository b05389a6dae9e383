use netbench_model::{Plan, ScanManifest, ScanPlan, StackName};
use netbench_report::{ScanSummary, summarize_scan};
use netbench_store::RunFolder;

use super::{Holds, KindOfRun, Listed, row};
pub(crate) use crate::merge::scan::AGAINST;
use crate::{merge, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: ScanPlan::KIND,
    read: |folder| Ok(Box::new(read(folder)?)),
    list: row::<ScanPlan>,
    merge: Some(merge::scan::merge),
    compare: None,
    holds: Holds::Files(&[AGAINST]),
};

pub(crate) fn read(folder: &RunFolder) -> anyhow::Result<ScanSummary> {
    let manifest: ScanManifest = folder.manifest().map_err(wrong)?;
    let scans = folder.records().map_err(wrong)?;
    let against = folder.read_json(AGAINST).map_err(wrong)?;
    Ok(summarize_scan(&manifest, scans, against))
}

impl Listed for ScanPlan {
    fn stacks(&self) -> &[StackName] {
        &self.against
    }

    fn cases(&self) -> u64 {
        self.sites.len() as u64
    }
}
