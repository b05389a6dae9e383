use std::time::Duration;

use netbench_model::roots::RootsPlan;

use super::{Cost, times};

/// The time of a layout with all sources of one stack: a process for each source, which reads its
/// store.
const LAYOUT: Duration = Duration::from_millis(250);

/// Predicts the cost of a run of `compat roots`.
pub(crate) fn roots(plan: &RootsPlan) -> Cost {
    let (layouts, stacks) = (plan.layouts.len(), plan.stacks.len());
    Cost {
        time: times(LAYOUT, (layouts * stacks) as f64),
        // Only workers know the sources of their stacks.
        pieces: (layouts * plan.clients.len().max(stacks)) as u64,
        unit: "stores",
        shorter: "--layout or fewer stacks",
    }
}
