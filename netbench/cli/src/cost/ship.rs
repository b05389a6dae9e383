use std::time::Duration;

use netbench_model::{Recorded, ship::ShipPlan};

use super::{Cost, times};

/// The time of a build on two cores. OpenSSL takes twice as long, ring half.
const BUILD: Duration = Duration::from_secs(90);

/// Predicts the cost of a run of `ship`.
pub(crate) fn ship(plan: &ShipPlan) -> Cost {
    let pieces = plan.planned();
    Cost {
        time: times(BUILD, pieces as f64),
        pieces,
        unit: "builds",
        shorter: "fewer stacks",
    }
}
