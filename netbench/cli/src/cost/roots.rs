use std::time::Duration;

use super::{Cost, times};

/// The extent of a run of `compat roots`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layouts {
    pub(crate) layouts: usize,
    pub(crate) stacks: usize,
}

/// The time of a layout with all sources of one stack: a process for each source, which reads its
/// store.
const LAYOUT: Duration = Duration::from_millis(250);

impl Layouts {
    pub(crate) fn cost(self) -> Cost {
        let pieces = (self.layouts * self.stacks) as u64;
        Cost {
            time: times(LAYOUT, pieces as f64),
            pieces,
            unit: "stores",
            shorter: "--layout or fewer stacks",
        }
    }
}
