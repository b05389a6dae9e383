use std::collections::HashSet;

use netbench_model::{
    SwitchEffect,
    compat::{CompatOutcome, Judgement},
};

use super::{
    CompatCell, CompatDifference, CompatRow, CompatStack, CompatSummary, embedder, outside,
};
use crate::{
    cell::Cell,
    document::{
        Check, CheckSuite, Checked, Document, Extent, Filling, Item, Report, Section, Table,
    },
    text::{count, in_place_of, profile_in_words},
};

impl Report for CompatSummary {
    fn tells(&self) -> bool {
        self.cases
            .iter()
            .any(|row| row.cells.iter().any(Option::is_some))
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        let stacks: Vec<&str> = run.stacks.iter().map(|s| s.stack.as_str()).collect();
        let clients = run.clients.iter().map(|client| client.name.as_str());
        let tried: Vec<&str> = stacks.iter().copied().chain(clients).collect();
        let mut sections = vec![outside::section(self)];
        sections.extend(embedder::sections(self));
        sections.extend([
            differences(self, &stacks),
            astray(self, &tried),
            outside::words(self),
            all(self, &tried),
        ]);
        Document {
            about: in_place_of(&stacks),
            lead: format!(
                "What each stack does with {} right, wrong, old or odd, and what a browser should do.",
                count(self.cases.len(), "server that is", "servers that are")
            ),
            sections: sections.into_iter().flatten().collect(),
            checks: checks(self),
            data: vec![self],
            ..Document::of_run("compat", &run.head)
        }
    }
}

fn differences(summary: &CompatSummary, stacks: &[&str]) -> Option<Section> {
    let mut items: Vec<Item> = Vec::new();
    let found = &summary.differences;
    let effects = SwitchEffect::ALL.iter().filter_map(|effect| {
        let of = found.iter().filter(|found| found.effect == Some(*effect));
        let of = of.count();
        (of > 0).then(|| format!("{effect}: {of}"))
    });
    let effects = effects.collect::<Vec<_>>().join(", ");
    let effects = match effects.as_str() {
        "" => "none of them changes whether a server is reached".to_owned(),
        effects => effects.to_owned(),
    };
    items.push(Item::Headline(match (stacks.len(), found.len()) {
        (..2, _) => "One stack was tried: there is nothing to compare it with.".to_owned(),
        (_, 0) => "The stacks do the same with every server.".to_owned(),
        (_, all) => format!(
            "{} {}; {effects}.",
            count(all, "difference from", "differences from"),
            stacks.first().copied().unwrap_or_default()
        ),
    }));
    items.extend(Item::warnings(&summary.warnings));
    let several = stacks.len() > 2;
    if !found.is_empty() {
        let mut table = Table::of(alike(found)).col("case", 0, |row| Cell::text(&row.is.case));
        if several {
            table = table.col("stack", 0, |row| Cell::text(row.stacks.join(", ")));
        }
        items.push(
            table
                .col("should be", 3, |row| Cell::text(&row.is.expected))
                .col(stacks.first().copied().unwrap_or("before"), 2, |row| {
                    Cell::text(&row.is.did)
                })
                .col(if several { "it" } else { stacks[1] }, 0, |row| {
                    Cell::text(&row.is.does)
                })
                .col("effect", 0, |row| Cell::maybe(row.is.effect))
                .col("what a user sees", 1, |row| Cell::text(&row.is.seen))
                .unfolded()
                .item(),
        );
        items.extend(what_to_do(found));
    }
    let libraries = summary.run.stacks.iter();
    let libraries: Vec<_> = libraries
        .map(|stack| format!("{} is {}", stack.stack, stack.library))
        .collect();
    Some(
        Section::new("differences", "What changes", items).explained(format!(
            "{} Through hyper's connectors: {}.",
            profile_in_words(summary.run.client_profile),
            libraries.join(", ")
        )),
    )
}

/// A difference, with every stack that has it.
struct Alike<'a> {
    is: &'a CompatDifference,
    stacks: Vec<&'a str>,
}

/// Groups the differences that stacks have in common.
fn alike(found: &[CompatDifference]) -> Vec<Alike<'_>> {
    let mut rows: Vec<Alike<'_>> = Vec::new();
    for is in found {
        let same = |row: &&mut Alike<'_>| {
            (&row.is.case, &row.is.does, &row.is.seen) == (&is.case, &is.does, &is.seen)
        };
        let stack = is.stack.as_str();
        match rows.iter_mut().find(same) {
            Some(row) => row.stacks.push(stack),
            None => rows.push(Alike {
                is,
                stacks: vec![stack],
            }),
        }
    }
    rows
}

/// Returns the advice on every case that got worse, once for all stacks with the same advice.
fn what_to_do(found: &[CompatDifference]) -> Vec<Item> {
    let mut rows: Vec<Alike<'_>> = Vec::new();
    for is in found.iter().filter(|found| found.advice.is_some()) {
        let same = |row: &&mut Alike<'_>| (&row.is.case, &row.is.advice) == (&is.case, &is.advice);
        let stack = is.stack.as_str();
        match rows.iter_mut().find(same) {
            Some(row) => row.stacks.push(stack),
            None => rows.push(Alike {
                is,
                stacks: vec![stack],
            }),
        }
    }
    let cases: HashSet<&str> = rows.iter().map(|row| row.is.case.as_str()).collect();
    let differs = cases.len() < rows.len();
    let mut table = Table::of(rows).col("case", 0, |row| Cell::text(&row.is.case));
    if differs {
        table = table.col("stack", 0, |row| Cell::text(row.stacks.join(", ")));
    }
    table
        .col("the server", 1, |row| Cell::text(&row.is.about))
        .col("what to do", 0, |row| Cell::maybe(row.is.advice.as_ref()))
        .under("What to do")
}

/// Builds the section of the cases that some stack does not handle correctly.
fn astray(summary: &CompatSummary, stacks: &[&str]) -> Option<Section> {
    let is_astray = |row: &&CompatRow| {
        let mut cells = row.cells.iter().take(summary.run.stacks.len()).flatten();
        cells.any(|cell| cell.judgement != Judgement::Right)
    };
    let rows: Vec<_> = summary.cases.iter().filter(is_astray).collect();
    let mut items = vec![totals(summary)];
    if !rows.is_empty() {
        let table = Table::of(rows)
            .col("case", 0, |row| Cell::text(&row.case.name))
            .col("should be", 1, |row| Cell::text(&row.case.expected));
        items.push(
            with_stacks(table, stacks)
                .col("why", 2, |row| Cell::text(&row.case.why))
                .item(),
        );
    }
    Some(
        Section::new("astray", "What is not as it should be", items).explained(
            "What no stack does as a browser should is here too: that is no matter of the switch.",
        ),
    )
}

fn totals(summary: &CompatSummary) -> Item {
    let name = if summary.run.clients.is_empty() {
        "stack"
    } else {
        "client"
    };
    let mut table = Table::of(&summary.totals).col(name, 0, |row| Cell::text(&row.stack));
    for judgement in Judgement::ALL.iter().rev() {
        table = table.col(judgement.name(), 0, |row| {
            Cell::count(row.cases.get(judgement).copied().unwrap_or_default())
        });
    }
    table.item()
}

fn all(summary: &CompatSummary, stacks: &[&str]) -> Option<Section> {
    let table = Table::of(&summary.cases)
        .col("case", 0, |row| Cell::text(&row.case.name))
        .col("the server", 3, |row| Cell::text(&row.case.about))
        .col("should be", 1, |row| Cell::text(&row.case.expected));
    Some(Section::new(
        "cases",
        "Every case",
        vec![with_stacks(table, stacks).item()],
    ))
}

fn with_stacks<'a>(table: Filling<&'a CompatRow>, stacks: &[&str]) -> Filling<&'a CompatRow> {
    stacks
        .iter()
        .enumerate()
        .fold(table, |table, (number, stack)| {
            table.col(stack, 0, |row| {
                let cell = row.cells.get(number).and_then(Option::as_ref);
                Cell::maybe(cell)
            })
        })
}

/// Builds one suite for each stack.
fn checks(summary: &CompatSummary) -> Vec<CheckSuite> {
    let stacks = summary.run.stacks.iter().enumerate();
    let suite = |(number, stack): (usize, &CompatStack)| {
        let checks = summary.cases.iter().filter_map(|row| {
            let cell = row.cells.get(number)?.as_ref()?;
            Some(Check {
                name: row.case.name.clone(),
                class: row.case.name.split('/').next().map(str::to_owned),
                outcome: checked(row, cell),
                said: None,
            })
        });
        CheckSuite {
            name: stack.stack.to_string(),
            checks: checks.collect(),
        }
    };
    stacks.map(suite).collect()
}

fn checked(row: &CompatRow, cell: &CompatCell) -> Checked {
    match (&cell.outcome, cell.judgement) {
        (_, Judgement::Right) => Checked::Passed,
        (CompatOutcome::Unsupported { reason }, _) => Checked::Skipped {
            why: reason.clone(),
        },
        (_, judgement) => Checked::Failed {
            why: format!("{cell}, and should be {}", row.case.expected),
            class: judgement.name().to_owned(),
        },
    }
}
