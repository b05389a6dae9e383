use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{Environment, WorkerRecord};

use crate::{
    cell::Cell,
    document::{Item, Machine, Section, Shown, Table},
};

/// Returns the machines of runs, side by side, and the measuring programs; `None` if no run depends on a machine.
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
            .then(|| "The runs have no record of the machine.".to_owned()),
        items,
        shown: Shown::Folded,
        ..Section::default()
    })
}

fn facts(machines: &[Machine<'_>]) -> Option<Item> {
    type Of = fn(&Environment) -> &BTreeMap<String, String>;
    let kinds: [(&str, Of); 2] = [("", |e| &e.facts), ("variable ", |e| &e.variables)];
    let rows = kinds.into_iter().flat_map(|(prefix, of)| {
        let names = machines.iter().flat_map(|m| of(m.environment).keys());
        let names: BTreeSet<&String> = names.collect();
        names.into_iter().map(move |name| (prefix, of, name))
    });
    let mut table =
        Table::of(rows)
            .caption("facts of the machine")
            .col("fact", 0, |(prefix, _, name)| {
                Cell::text(format!("{prefix}{name}"))
            });
    for machine in machines {
        table = table.col(machine.run, 0, |(_, of, name)| {
            Cell::maybe(of(machine.environment).get(*name))
        });
    }
    let table = table.table();
    (!table.rows.is_empty()).then_some(Item::Table(table))
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
        let build = worker.build.iter();
        build
            .map(|(name, value)| format!("{name} {value}"))
            .join(", ")
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
