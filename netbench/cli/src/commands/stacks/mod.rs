pub(crate) mod args;

use std::{path::Path, sync::Arc};

use anyhow::Context;
use netbench_protocol::StackDescription;
use netbench_runner::{WorkerSource, Workers, known_stacks};

use self::args::Stacks;
use crate::{
    exit::Ended,
    output,
    workers::{Program, SourceTree},
};

/// Lists the stacks. Those whose worker is there describe themselves; nothing is built.
pub(crate) fn stacks(options: &Stacks) -> anyhow::Result<Ended> {
    let mut lines = Vec::new();
    let mut all = Vec::new();
    for source in known_stacks() {
        lines.push(format!("{}: {}", source.stack, source.about));
        let Some(found) = Program::of(source).find()? else {
            lines.push(format!("    {}", missing(source)));
            continue;
        };
        match described(source.stack, &found.path) {
            Ok(description) => {
                lines.extend(of_worker(&description));
                all.push(description);
            }
            Err(error) => lines.push(format!("    unsupported here: {error:#}")),
        }
    }
    if options.json {
        output::write_json(&all)?;
    } else {
        output::write_lines(&lines)?;
    }
    Ok(Ended::Well)
}

/// What a worker says of its stack.
pub(crate) fn described(stack: &str, program: &Path) -> anyhow::Result<StackDescription> {
    let workers = Workers::probe(
        [(stack.to_owned(), program.to_owned())].into(),
        None,
        Arc::default(),
    )?;
    let description = workers.description(stack).cloned();
    description.context("the worker did not describe it")
}

/// That there is no worker of a stack, and what makes one.
pub(crate) fn missing(source: &WorkerSource) -> String {
    match SourceTree::find() {
        Some(_) => format!(
            "not built; netbench workers build {} builds it",
            source.stack
        ),
        None => "missing; neither its worker nor netbench's source is here".to_owned(),
    }
}

fn of_worker(description: &StackDescription) -> [String; 2] {
    let record = &description.record;
    let provider = record.provider.as_ref();
    let provider = provider.map(|p| format!(", {p}")).unwrap_or_default();
    let groups: Vec<_> = description.groups.iter().map(ToString::to_string).collect();
    [
        format!("    {}{provider}, {}", record.library, record.connector),
        format!("    groups {}", groups.join(", ")),
    ]
}
