use netbench_model::roots::RootsOutcome;

use super::{RootsRow, RootsSummary};
use crate::{
    cell::Cell,
    document::{
        Check, CheckSuite, Checked, Document, Extent, Filling, Item, Report, Section, Table,
    },
    text::count,
};

impl Report for RootsSummary {
    fn tells(&self) -> bool {
        let mut cells = self.layouts.iter().flat_map(|row| &row.clients).flatten();
        cells.any(|cell| !matches!(cell, RootsOutcome::Unsupported { .. }))
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        Document {
            lead: format!(
                "What each client trusts by itself, with {} of a system's trust store.",
                count(self.layouts.len(), "layout", "layouts")
            ),
            sections: vec![surprises(self), trusted(self), times(self)],
            checks: checks(self),
            data: vec![self],
            ..Document::of_run("compat roots", &run.head)
        }
    }
}

fn surprises(summary: &RootsSummary) -> Section {
    let found = &summary.surprises;
    let mut items = vec![Item::Headline(if found.is_empty() {
        "Every client trusts what a user of the system expects.".to_owned()
    } else {
        format!(
            "{} what a user of the system does not expect.",
            count(
                surprised(summary),
                "time a client does",
                "times a client does"
            )
        )
    })];
    items.extend(Item::warnings(&summary.warnings));
    if !found.is_empty() {
        items.push(
            Table::of(found)
                .col("client", 0, |row| Cell::text(&row.client))
                .col("what a user sees", 0, |row| Cell::text(&row.seen))
                .col("layouts", 0, |row| Cell::text(row.layouts.join(", ")))
                .col("the library's words", 2, |row| {
                    Cell::maybe(row.detail.as_ref())
                })
                .col("what to do", 1, |row| Cell::text(&row.advice))
                .unfolded()
                .item(),
        );
    }
    Section::new("surprises", "What a user does not expect", items).explained("A client is a stack with the roots that it finds by itself. Its process sees the layout in the \
                      place of this system's folders, and verifies the chain of each site.")
}

/// Returns the number of mismatches between a client and a layout.
fn surprised(summary: &RootsSummary) -> usize {
    summary
        .surprises
        .iter()
        .map(|found| found.layouts.len())
        .sum()
}

fn trusted(summary: &RootsSummary) -> Section {
    let table = Table::of(&summary.layouts)
        .col("layout", 0, |row| Cell::text(&row.layout.name))
        .col("what it is", 3, |row| Cell::text(&row.layout.about))
        .col("a user expects", 0, |row| {
            Cell::text(listed(&row.layout.trusts))
        });
    let sites = summary.run.sites.iter();
    let sites: Vec<_> = sites
        .map(|site| format!("{}: {}", site.name, site.about))
        .collect();
    Section::new(
        "trusted",
        "Which sites are trusted",
        vec![with_clients(table, summary, said).item()],
    )
    .explained(format!(
        "{}. A client with roots of its own has none of them.",
        sites.join("; ")
    ))
}

fn times(summary: &RootsSummary) -> Section {
    let table = Table::of(&summary.layouts).col("layout", 0, |row| Cell::text(&row.layout.name));
    Section::new(
        "times",
        "How long making the connector takes",
        vec![with_clients(table, summary, took).item()],
    )
    .explained(
        "Once, in a new process. A folder with hashed links is read only when a chain is verified.",
    )
}

fn with_clients<'a>(
    table: Filling<&'a RootsRow>,
    summary: &RootsSummary,
    cell: fn(&RootsOutcome) -> Cell,
) -> Filling<&'a RootsRow> {
    let clients = summary.run.clients.iter().enumerate();
    clients.fold(table, |table, (number, client)| {
        table.col(&client.to_string(), 0, move |row: &&RootsRow| {
            let outcome = row.clients.get(number).and_then(Option::as_ref);
            outcome.map_or(Cell::Missing, cell)
        })
    })
}

fn said(outcome: &RootsOutcome) -> Cell {
    Cell::text(outcome)
}

fn listed(sites: &[String]) -> String {
    if sites.is_empty() {
        "nothing".to_owned()
    } else {
        sites.join(", ")
    }
}

fn took(outcome: &RootsOutcome) -> Cell {
    match outcome {
        RootsOutcome::Made { connector_ns, .. } => Cell::time(Some(*connector_ns as f64)),
        _ => Cell::Missing,
    }
}

/// Builds one suite for each client, with a check for each layout.
fn checks(summary: &RootsSummary) -> Vec<CheckSuite> {
    let clients = summary.run.clients.iter().enumerate();
    clients
        .map(|(number, client)| CheckSuite {
            name: client.to_string(),
            checks: summary
                .layouts
                .iter()
                .filter_map(|row| {
                    let outcome = row.clients.get(number)?.as_ref()?;
                    let is_this = |found: &&super::RootsSurprise| {
                        found.layouts.contains(&row.layout.name) && found.client == *client
                    };
                    let surprise = summary.surprises.iter().find(is_this);
                    Some(Check {
                        name: row.layout.name.clone(),
                        class: None,
                        outcome: match (surprise, outcome) {
                            (Some(found), _) => Checked::Failed {
                                why: found.seen.clone(),
                                class: "trust".to_owned(),
                            },
                            (None, RootsOutcome::Unsupported { reason }) => Checked::Skipped {
                                why: reason.clone(),
                            },
                            (None, _) => Checked::Passed,
                        },
                        said: None,
                    })
                })
                .collect(),
        })
        .collect()
}
