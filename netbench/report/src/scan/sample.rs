//! What a sample of sites says of all.

use netbench_interop::{Population, ShareRange, SharesOfAll};
use netbench_stats::share_of_whole;

/// A sample of sites: so many of so many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub(super) sites: u32,
    pub(super) of: u32,
}

impl Drawn {
    /// The share of all that have something, from those of the sample that have it of those that tell. None where
    /// none tells.
    pub(super) fn share(self, having: u32, tell: u32) -> Option<ShareRange> {
        let [having, tell, sites, of] = [having, tell, self.sites, self.of].map(u64::from);
        let interval = share_of_whole(having, tell, sites, of)?;
        Some(ShareRange {
            low_percent: interval.low * 100.0,
            high_percent: interval.high * 100.0,
        })
    }

    /// Adds to each row of a population what it says of all sites.
    pub(super) fn widen(self, population: &mut Population) {
        let tell = population.sites;
        for row in &mut population.rows {
            let share = |having| self.share(having, tell);
            row.of_all = match (share(row.supports), share(row.prefers), share(row.only)) {
                (Some(supports), Some(prefers), Some(only)) => Some(SharesOfAll {
                    supports,
                    prefers,
                    only,
                }),
                _ => None,
            };
        }
    }
}

/// A range as a table has it.
pub(super) fn range(range: ShareRange) -> String {
    format!("{:.1} to {:.1} %", range.low_percent, range.high_percent)
}
