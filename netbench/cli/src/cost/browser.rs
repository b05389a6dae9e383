use std::time::Duration;

use super::{Cost, times};

/// What is known of a run of `browser` before it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageVisits {
    pub(crate) sites: usize,
    pub(crate) browsers: usize,
    pub(crate) stacks: usize,
    pub(crate) conditions: usize,
    pub(crate) rounds: u32,
}

/// A profile, a browser's start, a page and the end of all its processes.
const VISIT: Duration = Duration::from_millis(1_600);

/// A connection of a stack beside it.
const CONNECTION: Duration = Duration::from_millis(250);

impl PageVisits {
    pub(crate) fn cost(self) -> Cost {
        let units = (self.sites * self.conditions) as u64 * u64::from(self.rounds);
        let each = VISIT * u32::try_from(self.browsers).unwrap_or(u32::MAX)
            + CONNECTION * u32::try_from(self.stacks).unwrap_or(u32::MAX);
        Cost {
            time: times(each, units as f64),
            pieces: units * (self.browsers + self.stacks) as u64,
            unit: "visits",
            shorter: "fewer --rounds or a --limit",
        }
    }
}
