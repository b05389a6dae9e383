use std::{collections::BTreeSet, path::Path, sync::Arc};

use anyhow::Context;
use netbench_model::TlsVersion;
use netbench_protocol::StackDescription;
use netbench_runner::{WorkerSource, Workers, known_stacks};
use serde::Serialize;

use super::args::List;
use crate::{
    exit::{Ended, in_a_line},
    output,
    workers::{Program, SourceTree},
};

/// A stack as `--json` has it.
#[derive(Serialize)]
struct Listed {
    stack: &'static str,
    about: &'static str,
    /// Where its worker is.
    worker: Option<String>,
    /// What its worker says of it.
    description: Option<StackDescription>,
    /// Why there is no description.
    problem: Option<String>,
}

/// Lists the stacks. Those whose worker is there describe themselves; nothing is built.
pub(super) fn list(options: &List) -> anyhow::Result<Ended> {
    let mut lines = Vec::new();
    let mut all = Vec::new();
    for source in known_stacks() {
        lines.push(format!("{}: {}", source.stack, source.about));
        let found = Program::of(source).find()?;
        let (description, problem) = match &found {
            None => (None, Some(missing(source))),
            Some(found) => match described(source.stack, &found.path) {
                Ok(description) => (Some(description), None),
                Err(error) => (None, Some(format!("does not work: {}", in_a_line(&error)))),
            },
        };
        lines.extend(description.iter().flat_map(of_worker));
        lines.extend(problem.iter().map(|problem| format!("    {problem}")));
        lines.extend(found.iter().map(|found| format!("    {found}")));
        all.push(Listed {
            stack: source.stack,
            about: source.about,
            worker: found.map(|found| found.path.display().to_string()),
            description,
            problem,
        });
    }
    if options.json {
        output::write_json(&all)?;
    } else {
        let library = Program::HEAP_LIBRARY;
        let found = library.find()?;
        let place = found.map_or_else(|| "missing".to_owned(), |found| found.to_string());
        lines.push(format!("{library} (suite memory): {place}"));
        output::write_lines(&lines)?;
    }
    Ok(Ended::Well)
}

/// What a worker says of its stack.
pub(super) fn described(stack: &str, program: &Path) -> anyhow::Result<StackDescription> {
    let workers = Workers::probe(
        [(stack.to_owned(), program.to_owned())].into(),
        None,
        Arc::default(),
    )?;
    let description = workers.description(stack).cloned();
    description.context("the worker did not describe it")
}

/// That there is no worker of a stack, and what makes one.
fn missing(source: &WorkerSource) -> String {
    match SourceTree::find() {
        Some(_) => format!(
            "not built; netbench stacks build {} builds it",
            source.stack
        ),
        None => "missing; neither its worker nor netbench's source is here".to_owned(),
    }
}

fn of_worker(description: &StackDescription) -> [String; 3] {
    let record = &description.record;
    let provider = record.provider.as_ref();
    let provider = provider.map(|p| format!(", {p}")).unwrap_or_default();
    let groups: Vec<_> = description.groups.iter().map(ToString::to_string).collect();
    let versions: BTreeSet<TlsVersion> = description
        .suites
        .iter()
        .map(|suite| suite.version())
        .collect();
    let versions: Vec<_> = versions.iter().map(ToString::to_string).collect();
    [
        format!("    {}{provider}, {}", record.library, record.connector),
        format!(
            "    TLS {}, {} cipher suites, groups {}",
            versions.join(" and "),
            description.suites.len(),
            groups.join(", ")
        ),
        format!("    does {}", description.operations.join(", ")),
    ]
}
