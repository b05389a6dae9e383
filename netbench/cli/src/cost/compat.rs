use std::time::Duration;

use super::{Cost, times};

/// What is known of a run of `compat` before it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tries {
    pub(crate) cases: usize,
    pub(crate) stacks: usize,
}

/// A try on one core: certificates, a worker's connector and a handshake. Four stacks take 90 cases in 8 s.
const TRY: Duration = Duration::from_millis(40);

impl Tries {
    pub(crate) fn cost(self) -> Cost {
        let pieces = (self.cases * self.stacks) as u64;
        Cost {
            time: times(TRY, pieces as f64),
            pieces,
            unit: "tries",
            shorter: "--case or fewer stacks",
        }
    }
}
