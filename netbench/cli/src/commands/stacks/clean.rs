use std::fs;

use anyhow::Context;
use netbench_runner::{WorkerSource, known_stacks};

use super::args::Clean;
use crate::{
    exit::Ended,
    output,
    workers::{Program, known},
};

/// Deletes workers in the cache folder. What Cargo built in a source tree is Cargo's to clean.
pub(super) fn clean(options: &Clean) -> anyhow::Result<Ended> {
    let sources: Vec<&WorkerSource> = if options.stacks.is_empty() {
        known_stacks().iter().collect()
    } else {
        let known = options.stacks.iter().map(|stack| known(stack));
        known.collect::<anyhow::Result<_>>()?
    };
    let library = options.stacks.is_empty().then_some(Program::HEAP_LIBRARY);
    let mut lines = Vec::new();
    for program in sources.into_iter().map(Program::of).chain(library) {
        let Some(path) = program.in_cache()? else {
            continue;
        };
        let bytes = fs::metadata(&path).map_or(0, |about| about.len());
        fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        lines.push(format!(
            "deleted {} ({} MB)",
            path.display(),
            bytes / 1_000_000
        ));
    }
    if lines.is_empty() {
        lines.push("there is nothing to delete".to_owned());
    }
    output::write_lines(&lines)?;
    Ok(Ended::Well)
}
