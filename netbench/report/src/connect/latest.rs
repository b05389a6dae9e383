use std::collections::HashMap;

use netbench_model::{Role, Sample, SampleKey};

/// Returns the last of the measured samples of each stack, site, condition and round: an interrupted trial is
/// repeated, with its pair, by the session that continues. Discarded samples are left out.
pub(crate) fn latest(samples: &[Sample]) -> Vec<&Sample> {
    let measured = || {
        samples
            .iter()
            .filter(|sample| sample.role == Role::Measured && sample.outcome.counts())
    };
    let last: HashMap<SampleKey<'_>, &Sample> =
        measured().map(|sample| (sample.key(), sample)).collect();
    measured()
        .filter(|sample| {
            last.get(&sample.key())
                .is_some_and(|l| std::ptr::eq(*l, *sample))
        })
        .collect()
}
