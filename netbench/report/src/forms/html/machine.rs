use std::collections::BTreeSet;

use netbench_model::WorkerRecord;

use crate::{
    cell::Cell,
    document::{Item, Machine, Section, Table},
};

/// The machines of runs, side by side, and what was measured with. None where no run depends on one.
pub(super) fn machine_section(machines: &[Machine<'_>]) -> Option<Section> {
    if machines.is_empty() {
        return None;
    }
    let items: Vec<Item> = [facts(machines), workers(machines)]
        .into_iter()
        .flatten()
        .collect();
    Some(Section {
        id: "machine".to_owned(),
        heading: "The machine".to_owned(),
        explanation: "Figures hold for this machine, these versions and these builds. Ratios carry over better than \
                      times; neither has to."
            .to_owned(),
        missing: items
            .is_empty()
            .then(|| "The runs say nothing of the machine.".to_owned()),
        items,
    })
}

/// A fact of the machine, or a variable of its environment.
enum Fact<'a> {
    Known(&'a String),
    Variable(&'a String),
}

fn facts(machines: &[Machine<'_>]) -> Option<Item> {
    let environments = || machines.iter().map(|machine| machine.environment);
    let facts: BTreeSet<&String> = environments().flat_map(|e| e.facts.keys()).collect();
    let variables: BTreeSet<&String> = environments().flat_map(|e| e.variables.keys()).collect();
    let facts = facts.into_iter().map(Fact::Known);
    let rows: Vec<Fact<'_>> = facts
        .chain(variables.into_iter().map(Fact::Variable))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut table =
        Table::of(rows)
            .caption("facts of the machine")
            .col("fact", 0, |fact| match fact {
                Fact::Known(name) => Cell::text(name),
                Fact::Variable(name) => Cell::text(format!("variable {name}")),
            });
    for machine in machines {
        table = table.col(machine.run, 0, |fact| {
            Cell::maybe(match fact {
                Fact::Known(name) => machine.environment.facts.get(*name),
                Fact::Variable(name) => machine.environment.variables.get(*name),
            })
        });
    }
    Some(table.item())
}

fn workers(machines: &[Machine<'_>]) -> Option<Item> {
    let workers = machines
        .iter()
        .flat_map(|machine| machine.workers.iter().map(|worker| (machine.run, worker)));
    let workers: Vec<(&str, &WorkerRecord)> = workers.collect();
    if workers.is_empty() {
        return None;
    }
    let build = |worker: &WorkerRecord| {
        let build = worker
            .build
            .iter()
            .map(|(name, value)| format!("{name} {value}"));
        build.collect::<Vec<_>>().join(", ")
    };
    let table = Table::of(workers)
        .caption("what measured")
        .col("run", 0, |(run, _)| Cell::text(run))
        .col("stack", 0, |(_, worker)| Cell::text(&worker.stack))
        .col("library", 0, |(_, worker)| Cell::text(&worker.library))
        .col("provider", 0, |(_, worker)| {
            Cell::maybe(worker.provider.as_ref())
        })
        .col("connector", 0, |(_, worker)| Cell::text(&worker.connector))
        .col("build", 0, |(_, worker)| Cell::text(build(worker)));
    Some(table.item())
}
