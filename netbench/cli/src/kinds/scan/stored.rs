//! The files of a stored scan.

use netbench_model::scan::SiteOutcome;
use netbench_store::{Index, RunFolder, StoreError};

/// The file of the data that a scan stores about the stacks of `--against`.
pub(super) const AGAINST: &str = "against.json";

/// Returns the position of each site's scan in the folder. If a site was scanned twice, the last
/// scan counts.
pub(super) fn index(folder: &RunFolder) -> Result<Index, StoreError> {
    folder.index(|outcome: SiteOutcome| outcome.site)
}
