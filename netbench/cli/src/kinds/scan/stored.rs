//! The files of a stored scan.

use netbench_model::{ScanManifest, scan::SiteOutcome};
use netbench_report::{ScanSummary, summarize_scan};
use netbench_store::{Index, RunFolder, StoreError};

use crate::stored::wrong;

/// The file of the data that a scan stores about the stacks of `--against`.
pub(super) const AGAINST: &str = "against.json";

/// Reads a run for its report.
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
pub(super) fn index(folder: &RunFolder) -> Result<Index, StoreError> {
    folder.index(|outcome: SiteOutcome| outcome.site)
}
