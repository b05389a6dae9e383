//! `netbench workers`: which workers there are, and building those that are missing.

pub(crate) mod args;

use anyhow::bail;
use netbench_runner::{WorkerSource, known_stacks};

use self::args::{Build, Workers, WorkersCommand};
use crate::{
    commands::stacks::{described, missing},
    exit::Ended,
    output,
    workers::{Program, SourceTree, known},
};

pub(crate) fn workers(options: &Workers) -> anyhow::Result<Ended> {
    match &options.command {
        WorkersCommand::List => list(),
        WorkersCommand::Build(build) => self::build(build),
    }
}

fn list() -> anyhow::Result<Ended> {
    let mut lines = Vec::new();
    for source in known_stacks() {
        let Some(found) = Program::of(source).find()? else {
            lines.push(format!("{}: {}", source.stack, missing(source)));
            continue;
        };
        lines.push(match described(source.stack, &found.path) {
            Ok(description) => {
                let record = description.record;
                format!("{}: {}, {}", source.stack, record.library, record.connector)
            }
            Err(error) => format!("{}: does not work: {error:#}", source.stack),
        });
        lines.push(format!("    {found}"));
    }
    let library = Program::HEAP_LIBRARY;
    let found = library.find()?;
    let place = found.map_or_else(|| "missing".to_owned(), |found| found.to_string());
    lines.push(format!("{library} (suite memory): {place}"));
    output::write_lines(&lines)?;
    Ok(Ended::Well)
}

/// Builds what was asked for, one after another; that one cannot be built does not keep the others from it.
fn build(options: &Build) -> anyhow::Result<Ended> {
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
