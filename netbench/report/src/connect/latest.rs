use std::collections::HashMap;

use netbench_model::{Condition, Role, Sample, StackName};

/// Of the measured samples of one stack, site, condition and round, the last: a trial that was
/// broken off is made again, with its pair, by the session that goes on.
pub(crate) fn latest(samples: &[Sample]) -> Vec<&Sample> {
    type Key<'a> = (Condition, u32, &'a str, &'a StackName);
    fn key(sample: &Sample) -> Key<'_> {
        (sample.condition, sample.round, &sample.site, &sample.stack)
    }
    let measured = || {
        samples
            .iter()
            .filter(|sample| sample.role == Role::Measured)
    };
    let last: HashMap<Key<'_>, &Sample> = measured().map(|sample| (key(sample), sample)).collect();
    measured()
        .filter(|sample| {
            last.get(&key(sample))
                .is_some_and(|l| std::ptr::eq(*l, *sample))
        })
        .collect()
}
