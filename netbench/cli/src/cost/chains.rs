use std::time::Duration;

use super::{Cost, times};

/// The extent of a run of `compat chains`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chains {
    pub(crate) chains: usize,
    pub(crate) stacks: usize,
}

/// The time of a chain on one core: three signatures, parsing its certificates, and writing a
/// sample.
const CHAIN: Duration = Duration::from_micros(700);

impl Chains {
    pub(crate) fn cost(self) -> Cost {
        let pieces = (self.chains * self.stacks) as u64;
        Cost {
            time: times(CHAIN, pieces as f64),
            pieces,
            unit: "chains",
            shorter: "--case or fewer stacks",
        }
    }
}
