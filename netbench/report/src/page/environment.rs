use std::collections::BTreeSet;

use netbench_model::{Environment, WorkerRecord};

use super::{Cell, Item, PageColumn, PageTable, Section};

/// Where a run was made, and with what.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    /// The run's name.
    pub run: &'a str,
    /// The machine.
    pub environment: &'a Environment,
    /// The processes that measured and served.
    pub workers: &'a [WorkerRecord],
}

/// The section on the machines of runs, side by side, and on what was measured with.
pub fn environment_section(id: &str, machines: &[Machine<'_>]) -> Section {
    let mut items = Vec::new();
    let facts: BTreeSet<&String> = machines
        .iter()
        .flat_map(|machine| machine.environment.facts.keys())
        .collect();
    let variables: BTreeSet<&String> = machines
        .iter()
        .flat_map(|machine| machine.environment.variables.keys())
        .collect();
    let mut columns = vec![PageColumn::words("fact")];
    columns.extend(
        machines
            .iter()
            .map(|machine| PageColumn::words(machine.run)),
    );
    let row = |name: &str, of: &dyn Fn(&Machine<'_>) -> Option<String>| {
        let mut cells = vec![Cell::words(name)];
        cells.extend(
            machines
                .iter()
                .map(|machine| Cell::words(of(machine).unwrap_or_else(|| "–".to_owned()))),
        );
        cells
    };
    let mut rows: Vec<Vec<Cell>> = facts
        .iter()
        .map(|fact| row(fact, &|m| m.environment.facts.get(*fact).cloned()))
        .collect();
    rows.extend(variables.iter().map(|name| {
        row(&format!("variable {name}"), &|m| {
            m.environment.variables.get(*name).cloned()
        })
    }));
    if !rows.is_empty() {
        items.push(Item::Table(PageTable {
            caption: "facts of the machine".to_owned(),
            columns,
            rows,
        }));
    }
    items.extend(workers(machines));
    let missing = items
        .is_empty()
        .then(|| "The runs say nothing of the machine.".to_owned());
    Section {
        id: id.to_owned(),
        heading: "The machine".to_owned(),
        explanation: "Figures hold for this machine, these versions and these builds. Ratios carry over better than \
                      times; neither has to."
            .to_owned(),
        items,
        missing,
    }
}

fn workers(machines: &[Machine<'_>]) -> Option<Item> {
    let names = ["run", "stack", "library", "provider", "connector", "build"];
    let rows: Vec<Vec<Cell>> = machines
        .iter()
        .flat_map(|machine| machine.workers.iter().map(|worker| (machine.run, worker)))
        .map(|(run, worker)| {
            let build: Vec<String> = worker
                .build
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            let cells = [
                run.to_owned(),
                worker.stack.clone(),
                worker.library.clone(),
                worker.provider.clone().unwrap_or_else(|| "–".to_owned()),
                worker.connector.clone(),
                build.join(", "),
            ];
            cells.map(Cell::words).to_vec()
        })
        .collect();
    (!rows.is_empty()).then(|| {
        Item::Table(PageTable {
            caption: "what measured".to_owned(),
            columns: names.map(PageColumn::words).to_vec(),
            rows,
        })
    })
}
