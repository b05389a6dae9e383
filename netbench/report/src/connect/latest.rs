use std::collections::HashMap;

use netbench_model::{Role, Sample, SampleKey};

/// Of the measured samples of one stack, site, condition and round, the last: a trial that was
/// broken off is made again, with its pair, by the session that goes on. Void ones say nothing.
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
