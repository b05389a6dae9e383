use anyhow::bail;
use netbench_runner::{WorkerSource, known_stacks};

use super::args::Build;
use crate::{
    exit::Ended,
    output,
    workers::{Program, SourceTree, known},
};

/// Builds what was asked for, one after another; that one cannot be built does not keep the others from it.
pub(super) fn build(options: &Build) -> anyhow::Result<Ended> {
    let sources: Vec<&WorkerSource> = if options.all {
        known_stacks().iter().collect()
    } else {
        let known = options.stacks.iter().map(|stack| known(stack));
        known.collect::<anyhow::Result<_>>()?
    };
    if SourceTree::find().is_none() {
        bail!(
            "workers are built from netbench's source, and this is not in a checkout of it; \
             the release archive has workers"
        );
    }
    let mut programs: Vec<Program> = Vec::new();
    let library = options.all.then_some(Program::HEAP_LIBRARY);
    for program in sources.into_iter().map(Program::of).chain(library) {
        if !programs.iter().any(|other| other.is_built_with(&program)) {
            programs.push(program);
        }
    }
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for program in programs {
        match program.build().and_then(|built| program.store(&built)) {
            Ok(path) => lines.push(format!("{}: {}", program.name, path.display())),
            Err(error) => {
                note!("netbench: {error:#}");
                failed.push(program.name);
            }
        }
    }
    if !lines.is_empty() {
        output::write_lines(&lines)?;
    }
    if !failed.is_empty() {
        bail!("not built: {}", failed.join(", "));
    }
    Ok(Ended::Well)
}
