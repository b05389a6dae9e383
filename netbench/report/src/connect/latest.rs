use itertools::Itertools;
use netbench_model::{Role, Sample};

/// Returns the last of the measured samples of each stack, site, condition and round: an interrupted trial is
/// repeated, with its pair, by the session that continues. Discarded samples are left out.
pub(crate) fn latest(samples: &[Sample]) -> Vec<&Sample> {
    let measured = samples
        .iter()
        .filter(|sample| sample.role == Role::Measured && sample.outcome.counts());
    let mut latest = measured
        .rev()
        .unique_by(|sample| sample.key())
        .collect_vec();
    latest.reverse();
    latest
}
