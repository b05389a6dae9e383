use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hasher, RandomState},
};

use netbench_model::StackName;

/// Labels the second copy of a stack, so that a stack can be compared with itself.
pub(crate) fn stack_names(names: &[String]) -> Vec<StackName> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    names
        .iter()
        .map(|name| {
            let ordinal = seen.entry(name).or_default();
            *ordinal += 1;
            StackName::copy(name, *ordinal)
        })
        .collect()
}

/// A seed that is easy to read and to type again.
pub(crate) fn new_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000_000
}
