//! Inference from a sample of sites to all sites.

use netbench_interop::{Population, ShareRange, SharesOfAll};
use netbench_stats::share_of_whole;

/// A sample of sites: its size, and the number of all sites.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub(super) sites: u32,
    pub(super) of: u32,
}

impl Drawn {
    /// Returns the share of all sites with a property, from the sites of the sample that have it (`having`) and
    /// those with a result (`tell`). Returns `None` if no site has a result.
    pub(super) fn share(self, having: usize, tell: usize) -> Option<ShareRange> {
        let [sites, of] = [self.sites, self.of].map(u64::from);
        let interval = share_of_whole(having as u64, tell as u64, sites, of)?;
        Some(ShareRange {
            low_percent: interval.low * 100.0,
            high_percent: interval.high * 100.0,
        })
    }

    /// Adds the inferred shares of all sites to each row of a population.
    pub(super) fn widen(self, population: &mut Population) {
        let tell = population.sites as usize;
        for row in &mut population.rows {
            let shares = [row.supports, row.prefers, row.only];
            row.of_all = match shares.map(|having| self.share(having as usize, tell)) {
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
