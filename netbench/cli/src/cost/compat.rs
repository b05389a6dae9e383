use std::time::Duration;

use netbench_model::{Recorded, compat::CompatPlan};

use super::{Cost, times};

/// The time of an attempt on one core: certificates, a worker's connector and a handshake. Four stacks take 8 s for 90
/// cases.
const STACK: Duration = Duration::from_millis(40);

/// The time of an attempt of a client from outside: a page of a running browser, or a process.
const OUTSIDE: Duration = Duration::from_millis(150);

/// Predicts the cost of a run of `compat`.
pub(crate) fn compat(plan: &CompatPlan) -> Cost {
    let cases = plan.cases.len() as f64;
    let stacks = times(STACK, cases * plan.stacks.len() as f64);
    Cost {
        time: stacks + times(OUTSIDE, cases * plan.clients.len() as f64),
        pieces: plan.planned(),
        unit: "tries",
        shorter: "--case or fewer stacks",
    }
}
