use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::Environment;

use crate::{
    cell::Cell,
    document::{Item, Machine, Section, Table},
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
    let missing = items
        .is_empty()
        .then_some("The runs have no record of the machine.");
    let section = Section::new("machine", "The machine", items).explained(
        "Figures hold for this machine, these versions and these builds. Ratios carry over better than times; neither \
         has to.",
    );
    Some(section.missing(missing).folded())
}

fn facts(machines: &[Machine<'_>]) -> Option<Item> {
    type Of = fn(&Environment) -> &BTreeMap<String, String>;
    let kinds: [(&str, Of); 2] = [("", |e| &e.facts), ("variable ", |e| &e.variables)];
    let rows = kinds.into_iter().flat_map(|(prefix, of)| {
        let names = machines.iter().flat_map(|m| of(m.environment).keys());
        let names: BTreeSet<&String> = names.collect();
        names.into_iter().map(move |name| (prefix, of, name))
    });
    Table::of(rows)
        .caption("facts of the machine")
        .text("fact", 0, |(prefix, _, name)| format!("{prefix}{name}"))
        .cols(
            machines.iter().map(|it| it.run),
            |(_, of, name), machine| Cell::maybe(of(machines[machine].environment).get(*name)),
        )
        .if_any()
}

fn workers(machines: &[Machine<'_>]) -> Option<Item> {
    let workers = machines
        .iter()
        .flat_map(|machine| machine.workers.iter().map(|worker| (machine.run, worker)));
    Table::of(workers)
        .caption("what measured")
        .text("run", 0, |(run, _)| *run)
        .text("stack", 0, |(_, worker)| &worker.stack)
        .text("library", 0, |(_, worker)| &worker.library)
        .optional("provider", 0, |(_, worker)| worker.provider.as_ref())
        .text("connector", 0, |(_, worker)| &worker.connector)
        .col("build", 0, |(_, worker)| {
            let build = worker.build.iter();
            let build = build.map(|(name, value)| format!("{name} {value}"));
            Cell::text(build.format(", "))
        })
        .if_any()
}
