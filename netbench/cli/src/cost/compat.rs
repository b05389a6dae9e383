use std::time::Duration;

use super::{Cost, times};

/// The extent of a run of `compat`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tries {
    pub(crate) cases: usize,
    pub(crate) stacks: usize,
    /// Number of browsers and other programs.
    pub(crate) clients: usize,
}

/// The time of an attempt on one core: certificates, a worker's connector and a handshake. Four stacks take 8 s for 90
/// cases.
const TRY: Duration = Duration::from_millis(40);

/// The time of an attempt of a client from outside: a page of a running browser, or a process.
const OUTSIDE: Duration = Duration::from_millis(150);

impl Tries {
    pub(crate) fn cost(self) -> Cost {
        let stacks = (self.cases * self.stacks) as u64;
        let clients = (self.cases * self.clients) as u64;
        Cost {
            time: times(TRY, stacks as f64) + times(OUTSIDE, clients as f64),
            pieces: stacks + clients,
            unit: "tries",
            shorter: "--case or fewer stacks",
        }
    }
}
