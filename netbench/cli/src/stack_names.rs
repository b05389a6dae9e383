use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, Hasher, RandomState},
};

use netbench_model::StackName;

use crate::{exit::WrongInput, output::unknown};

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

/// Returns the stacks for which workers are needed, without repetitions.
pub(crate) fn clients(stacks: &[StackName]) -> BTreeSet<String> {
    stacks
        .iter()
        .map(|stack| stack.stack().to_owned())
        .collect()
}

/// Refuses a stack that does not belong to a run.
pub(crate) fn is_of_run(name: &StackName, stacks: &[StackName]) -> Result<(), WrongInput> {
    if stacks.contains(name) {
        return Ok(());
    }
    let stacks: Vec<_> = stacks.iter().map(StackName::as_str).collect();
    Err(unknown("the run has no stack", name.as_str(), &stacks))
}

/// Returns a random seed that is easy to read and to type again.
pub(crate) fn new_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000_000
}
