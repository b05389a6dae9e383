use itertools::Itertools;
use netbench_model::ship::{AdvisoryReach, ShipOutcome, Shipped, ShippedAdvisory};

use super::{ShipRow, ShipSummary};
use crate::{
    cell::{Cell, Digits},
    document::{Document, Extent, Item, Report, Section, Table},
    text::in_place_of,
};

impl Report for ShipSummary {
    fn tells(&self) -> bool {
        self.stacks.iter().any(|row| row.shipped().is_some())
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        let stacks: Vec<&str> = self.stacks.iter().map(|row| row.stack.as_str()).collect();
        Document {
            about: in_place_of(&stacks),
            lead: "The cost of shipping a minimal client of hyper with each stack.".to_owned(),
            sections: vec![costs(self), crates(self)],
            ..Document::of_run("ship", &run.head, self)
        }
    }
}

fn costs(summary: &ShipSummary) -> Section {
    let run = &summary.run;
    let mut items: Vec<Item> = Vec::new();
    items.extend(summary.differences.iter().cloned().map(Item::Headline));
    items.extend(Item::warnings(&summary.warnings));
    items.push(
        Table::of(&summary.stacks)
            .text("stack", 0, |row| &row.stack)
            .col("program", 0, |row| {
                row.cell(|of| decimal(of.program_bytes as f64 / 1e6, "MB"))
            })
            .col("build, CPU", 0, |row| {
                row.cell(|of| decimal(of.build_cpu_ms as f64 / 1e3, "s"))
            })
            .col("crates", 0, |row| {
                row.cell(|of| Cell::count(of.crates.len()))
            })
            .col("lines with unsafe", 1, |row| {
                row.cell(|of| Cell::count(of.unsafe_lines()))
            })
            .col("lines of C", 1, |row| {
                row.cell(|of| Cell::count(of.c_lines()))
            })
            .col("build tools", 0, |row| {
                row.words(|of| match of.tools.as_slice() {
                    [] => "none".to_owned(),
                    tools => tools.join(", "),
                })
            })
            .col("advisories", 1, |row| row.words(advisories_in_words))
            .item(),
    );
    items.extend(
        Table::of(&summary.stacks)
            .text("stack", 0, |row| &row.stack)
            .col("licences", 0, |row| row.words(licences))
            .col("FIPS 140", 0, |row| row.words(|of| of.fips.clone()))
            .under("Licences and validated versions"),
    );
    let advisories = summary.stacks.iter().flat_map(|row| {
        let found = row.shipped().map(|of| of.advisories.as_slice());
        let listed = found.unwrap_or_default().iter();
        listed
            .filter(|of| reaches_clients(of))
            .map(move |of| (row, of))
    });
    items.extend(
        Table::of(advisories)
            .text("stack", 0, |(row, _)| &row.stack)
            .text("advisory", 0, |(_, of)| &of.id)
            .text("crate", 0, |(_, of)| &of.name)
            .optional("date", 2, |(_, of)| of.date.as_deref())
            .optional("severity", 2, |(_, of)| of.severity.as_deref())
            .optional("affects", 1, |(_, of)| of.reach.map(AdvisoryReach::words))
            .text("what", 1, |(_, of)| &of.title)
            .under("Advisories"),
    );
    let mut dates = summary.stacks.iter().filter_map(ShipRow::shipped);
    let advisories = dates.next().map_or(String::new(), |of| {
        format!(
            " Advisories are of a table in netbench of {}, not of a database of today; those on code of servers, QUIC and \
             other formats are counted, and listed in the JSON alone.",
            of.advisories_of
        )
    });
    Section::new("ship", "What shipping each stack costs", items).explained(format!(
            "The same few lines of Rust, which make a connector and a request, built by {} with optimisation and stripped of \
             symbols. Versions are those of the Cargo.lock: {}. The CPU time is that of cargo and of the programs that it \
             starts, without any cache. Lines are those of the sources of all crates, for all platforms, without tests; C \
             that the system has is not among them. Build tools are those that the build started beside rustc; every stack needs a \
             linker.{advisories}",
            run.rustc, run.lock
        ))
}

/// Returns whether a client of TLS can run the code of an advisory.
fn reaches_clients(advisory: &ShippedAdvisory) -> bool {
    advisory.reach != Some(AdvisoryReach::Other)
}

/// Returns the number of advisories, and that of those on code that every client of TLS runs.
fn advisories_in_words(shipped: &Shipped) -> String {
    let all = shipped.advisories.len();
    let has_reach = shipped.advisories.iter().all(|of| of.reach.is_some());
    if all == 0 || !has_reach {
        return all.to_string();
    }
    let reaches = shipped.advisories.iter().filter_map(|of| of.reach);
    let clients = reaches.filter(|reach| *reach == AdvisoryReach::Client);
    format!("{all}, {} of clients", clients.count())
}

impl ShipRow {
    /// Returns the cell of a client, if it was built.
    fn cell(&self, cell: fn(&Shipped) -> Cell) -> Cell {
        self.shipped().map_or(Cell::Missing, cell)
    }

    /// Returns the words about a client, or that it was not built.
    fn words(&self, words: fn(&Shipped) -> String) -> Cell {
        match &self.outcome {
            Some(ShipOutcome::Failed { .. }) => Cell::text("not built"),
            _ => Cell::maybe(self.shipped().map(words)),
        }
    }
}

fn decimal(value: f64, unit: &'static str) -> Cell {
    Cell::number(value, Digits::Decimals(1), unit)
}

/// Returns every licence once.
fn licences(shipped: &Shipped) -> String {
    let licences = shipped.crates.iter().map(|of| &of.licence);
    let licences = licences.map(|licence| licence.as_deref().unwrap_or("a file of its own"));
    licences.unique().sorted().join("; ")
}

/// Builds the section of the crates that not every stack has.
fn crates(summary: &ShipSummary) -> Section {
    let built: Vec<(&ShipRow, &Shipped)> = summary
        .stacks
        .iter()
        .filter_map(|row| Some((row, row.shipped()?)))
        .collect();
    let crates = built.iter();
    let crates = crates.flat_map(|(row, shipped)| shipped.crates.iter().map(|of| (&row.stack, of)));
    let rows = crates.filter(|(_, of)| {
        let mut others = built.iter();
        built.len() == 1 || !others.all(|(_, shipped)| shipped.crates.contains(of))
    });
    let table = Table::of(rows)
        .text("stack", 0, |(stack, _)| *stack)
        .text("crate", 0, |(_, of)| &of.name)
        .text("version", 0, |(_, of)| &of.version)
        .optional("licence", 1, |(_, of)| of.licence.as_ref())
        .count("lines with unsafe", 1, |(_, of)| of.unsafe_lines)
        .count("lines of C", 1, |(_, of)| of.c_lines);
    Section::new(
        "crates",
        match built.len() {
            1 => "Its crates".to_owned(),
            _ => "Crates that not every stack has".to_owned(),
        },
        vec![table.item()],
    )
}
