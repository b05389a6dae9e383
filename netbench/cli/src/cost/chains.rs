use std::time::Duration;

use netbench_model::{Recorded, chains::ChainsPlan};

use super::{Cost, times};

/// The time of a chain on one core: three signatures, parsing its certificates, and writing a
/// sample.
const CHAIN: Duration = Duration::from_micros(700);

/// Predicts the cost of a run of `compat chains`.
pub(crate) fn chains(plan: &ChainsPlan) -> Cost {
    let pieces = plan.planned();
    Cost {
        time: times(CHAIN, pieces as f64),
        pieces,
        unit: "chains",
        shorter: "--case or fewer stacks",
    }
}
