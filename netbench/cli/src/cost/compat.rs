use std::time::Duration;

use super::{Cost, times};

/// What is known of a run of `compat` before it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tries {
    pub(crate) cases: usize,
    pub(crate) stacks: usize,
    /// Browsers and other programs.
    pub(crate) clients: usize,
}

/// A try on one core: certificates, a worker's connector and a handshake. Four stacks take 90 cases in 8 s.
const TRY: Duration = Duration::from_millis(40);

/// A try of a client from outside: a page of a browser that runs already, or a process.
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
