use std::sync::Arc;

use anyhow::Context;
use netbench_model::{Profile, RootsSource, StackName, scan::Offer};
use netbench_protocol::{Operation, StackDescription};
use netbench_report::{BuildTime, LicenceRow, StackRow, StacksReport, WorkerState};
use netbench_runner::{
    WorkerProgram, Workers,
    scan::{client_settings, offers},
};
use netbench_stacks::Stack;

use crate::{
    exit::{Ended, in_a_line},
    options::Output,
    output::print,
    targets::{self, example_site},
    workers::{Program, SourceTree},
};

/// Lists the stacks. Stacks with a built worker describe themselves; no worker is built.
pub(super) fn list(output: &Output) -> anyhow::Result<Ended> {
    let rows = netbench_stacks::stacks()?.iter().map(row);
    let rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
    let library = Program::heap_library().find()?;
    let library = library.map(|found| found.path.display().to_string());
    print(&StacksReport::new(rows, library), output)?;
    Ok(Ended::Well)
}

fn row(source: &Stack) -> anyhow::Result<StackRow> {
    let found = Program::of(source).find()?;
    let licences = source.licences.iter().map(|licence| LicenceRow {
        library: licence.library.clone(),
        spdx: licence.spdx.clone(),
    });
    let time = found.as_ref().and_then(|found| found.build_time());
    let build = time.map(|time| BuildTime {
        wall_ms: time.wall_ms,
        cpu_ms: time.cpu_ms,
    });
    let mut row = StackRow {
        stack: source.name.clone(),
        about: source.about.clone(),
        state: WorkerState::NotBuilt,
        worker: found.as_ref().map(|found| found.path.display().to_string()),
        place: found.as_ref().map(|found| found.place.to_owned()),
        licences: licences.collect(),
        build,
        description: None,
        hello: None,
        problem: None,
    };
    let Some(found) = found else {
        row.problem = Some(missing(source));
        return Ok(row);
    };
    let said = probed(&source.name, &found.path.as_path().into()).and_then(|workers| {
        let description = description(&workers, &source.name)?;
        let hello = match workers.does(&source.name, Operation::Connect) {
            true => Some(hello(&workers, &source.name)?),
            false => None,
        };
        Ok((description, hello))
    });
    match said {
        Ok((description, hello)) => {
            row.state = WorkerState::Built;
            (row.description, row.hello) = (Some(description), hello);
        }
        Err(error) => {
            row.state = WorkerState::Broken;
            row.problem = Some(format!("does not work: {}", in_a_line(&error)));
        }
    }
    Ok(row)
}

/// Returns a worker's description of its stack.
pub(super) fn described(stack: &str, program: &WorkerProgram) -> anyhow::Result<StackDescription> {
    description(&probed(stack, program)?, stack)
}

fn probed(stack: &str, program: &WorkerProgram) -> anyhow::Result<Workers> {
    let programs = [(stack.to_owned(), program.clone())].into();
    Ok(Workers::probe(programs, None, Arc::default())?)
}

fn description(workers: &Workers, stack: &str) -> anyhow::Result<StackDescription> {
    let description = workers.description(stack).cloned();
    description.context("the worker did not describe it")
}

/// Returns the ClientHello of a stack with the library's own settings.
fn hello(workers: &Workers, stack: &str) -> anyhow::Result<Offer> {
    let roots = targets::roots(&RootsSource::Mozilla, None)?;
    let stacks = [StackName::new(stack)];
    let client = client_settings(Profile::Library, &stacks, workers);
    let site = example_site()?;
    let hellos = offers(&stacks, workers, None, &client, &roots.pem, &site)?;
    hellos.into_iter().next().context("it sent no ClientHello")
}

/// Returns the note that a stack has no worker, with the command that builds the worker.
fn missing(source: &Stack) -> String {
    match SourceTree::find() {
        Some(_) => format!("not built; netbench stacks build {} builds it", source.name),
        None => "missing; neither its worker nor netbench's source is here".to_owned(),
    }
}
