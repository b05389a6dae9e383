//! Inference from a sample of sites to all sites.

use netbench_interop::{Population, ShareRange, SharesOfAll};
use netbench_stats::share_of_whole;

use super::ScanHead;

impl ScanHead {
    /// Returns the share of all sites with a property, from the sites of the sample that have it (`having`) and
    /// those with a result (`tell`). Returns `None` if no site has a result, or if the sites are no sample.
    pub(super) fn share_of_all(&self, having: usize, tell: usize) -> Option<ShareRange> {
        let [sites, of] = [self.planned, self.sampled_of?].map(u64::from);
        let interval = share_of_whole(having as u64, tell as u64, sites, of)?;
        Some(ShareRange {
            low_percent: interval.low * 100.0,
            high_percent: interval.high * 100.0,
        })
    }

    /// Adds the inferred shares of all sites to each row of a population, if the sites are a sample.
    pub(super) fn widen(&self, population: &mut Population) {
        let tell = population.sites as usize;
        for row in &mut population.rows {
            let shares = [row.supports, row.prefers, row.only];
            row.of_all = match shares.map(|having| self.share_of_all(having as usize, tell)) {
                [Some(supports), Some(prefers), Some(only)] => Some(SharesOfAll {
                    supports,
                    prefers,
                    only,
                }),
                _ => None,
            };
        }
    }
}

pub(super) fn range(range: ShareRange) -> String {
    format!("{:.1} to {:.1} %", range.low_percent, range.high_percent)
}
