use itertools::Itertools;
use netbench_model::{
    StackName,
    compat::{CompatCase, CompatOutcome, Judgement},
};

use super::{CompatCell, CompatDifference, CompatSummary, embedder, outside};
use crate::{
    cell::Cell,
    document::{Check, Document, Extent, Item, Report, Section, Table},
    matrix::ComparedStack,
    text::{ONE_STACK, alike, count, in_place_of, profile_in_words},
};

impl Report for CompatSummary {
    fn tells(&self) -> bool {
        self.matrix.cells().next().is_some()
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        let stacks: Vec<&str> = run.stacks.iter().map(|s| s.stack.as_str()).collect();
        let mut sections = Vec::from_iter(outside::section(self));
        sections.extend(embedder::sections(self));
        sections.extend([differences(self, &stacks), wrong(self)]);
        sections.extend(outside::words(self));
        sections.push(all(self));
        Document {
            about: in_place_of(&stacks),
            lead: format!(
                "The outcome for each stack with {}; and the outcome that a browser should have.",
                match self.matrix.cases.len() {
                    1 => "one server".to_owned(),
                    servers => format!("{servers} servers: valid, invalid, old and unusual ones"),
                }
            ),
            sections,
            checks: self.matrix.suites(run.stacks.len(), check),
            ..Document::of_run("compat", &run.head, self)
        }
    }
}

fn differences(summary: &CompatSummary, stacks: &[&str]) -> Section {
    let found = &summary.differences;
    let effects = found.iter().filter_map(|found| found.switch.effect);
    let effects = effects.counts().into_iter().sorted();
    let effects = match effects
        .map(|(effect, of)| format!("{effect}: {of}"))
        .join(", ")
    {
        none if none.is_empty() => "none of them changes whether a server is reached".to_owned(),
        effects => effects,
    };
    let mut items = vec![Item::Headline(match (stacks.len(), found.len()) {
        (..2, _) => ONE_STACK.to_owned(),
        (_, 0) => "The stacks do the same with every server.".to_owned(),
        (_, all) => format!(
            "{} {}; {effects}.",
            count(all, "difference from", "differences from"),
            stacks.first().copied().unwrap_or_default()
        ),
    })];
    items.extend(Item::warnings(&summary.warnings));
    let several = stacks.len() > 2;
    let rows = alike(
        found
            .iter()
            .map(|is| ((&is.case, &is.does, &is.switch.seen), is)),
    );
    items.extend(
        Table::of(rows)
            .text("case", 0, |(_, of)| &of[0].case)
            .col_if(several.then_some("stack"), 0, |(_, of)| stacks_of(of))
            .text("should be", 3, |(_, of)| &of[0].expected)
            .text(stacks.first().copied().unwrap_or("before"), 2, |(_, of)| {
                &of[0].did
            })
            .col_if(
                stacks
                    .get(1)
                    .map(|second| if several { "this stack" } else { second }),
                0,
                |(_, of)| Cell::text(&of[0].does),
            )
            .optional("effect", 0, |(_, of)| of[0].switch.effect)
            .text("what a user sees", 1, |(_, of)| &of[0].switch.seen)
            .unfolded()
            .if_any(),
    );
    items.extend(what_to_do(found));
    Section::new("differences", "What changes", items).explained(format!(
        "{} Through hyper's connectors: {}.",
        profile_in_words(summary.run.client_profile),
        ComparedStack::libraries(&summary.run.stacks)
    ))
}

fn stacks_of(differences: &[&CompatDifference]) -> Cell {
    let stacks = differences.iter().map(|is| &is.switch.stack);
    Cell::text(stacks.format(", "))
}

/// Returns the advice on every case that got worse, once for all stacks with the same advice.
fn what_to_do(found: &[CompatDifference]) -> Vec<Item> {
    let worse = found.iter().filter(|found| found.switch.advice.is_some());
    let rows = alike(worse.map(|is| ((&is.case, &is.switch.advice), is)));
    let differs = !rows.iter().map(|((case, _), _)| case).all_unique();
    Table::of(rows)
        .text("case", 0, |(_, of)| &of[0].case)
        .col_if(differs.then_some("stack"), 0, |(_, of)| stacks_of(of))
        .text("the server", 1, |(_, of)| &of[0].about)
        .optional("what to do", 0, |(_, of)| of[0].switch.advice.as_ref())
        .under("What to do")
}

/// Builds the section of the cases that some stack does not handle correctly.
fn wrong(summary: &CompatSummary) -> Section {
    let stacks = summary.run.stacks.len();
    let rows = summary.matrix.cases.iter().filter(|row| {
        let mut cells = row.cells.iter().take(stacks).flatten();
        cells.any(|cell| cell.judgement != Judgement::Right)
    });
    let rows = Table::of(rows)
        .text("case", 0, |row| &row.case.name)
        .text("should be", 1, |row| &row.case.expected)
        .clients(&summary.matrix.clients, |cell| Cell::text(cell))
        .text("why", 2, |row| &row.case.why);
    let items = [Some(totals(summary)), rows.if_any()];
    let items = items.into_iter().flatten().collect();
    Section::new("wrong", "What is not as it should be", items).explained(
        "What no stack does as a browser should is here too: that is no matter of the switch.",
    )
}

fn totals(summary: &CompatSummary) -> Item {
    let name = if summary.run.clients.is_empty() {
        "stack"
    } else {
        "client"
    };
    // Only protocol tests have excuses.
    let judgements = Judgement::ALL.iter().rev();
    let judgements = judgements.filter(|judgement| **judgement != Judgement::Excused);
    let judgements: Vec<&Judgement> = judgements.collect();
    Table::of(summary.matrix.clients.iter().zip(&summary.totals))
        .text(name, 0, |(client, _)| *client)
        .cols(&judgements, |(_, cases), number| {
            Cell::count(cases.of(*judgements[number]))
        })
        .item()
}

fn all(summary: &CompatSummary) -> Section {
    let table = Table::of(&summary.matrix.cases)
        .text("case", 0, |row| &row.case.name)
        .text("the server", 3, |row| &row.case.about)
        .text("should be", 1, |row| &row.case.expected)
        .clients(&summary.matrix.clients, |cell| Cell::text(cell));
    Section::new("cases", "Every case", vec![table.item()])
}

fn check(case: &CompatCase, _: &StackName, cell: &CompatCell) -> Check {
    let outcome = cell.checked(|| match &cell.result.outcome {
        CompatOutcome::Unsupported { reason } => reason.clone(),
        _ => format!("{cell}, and should be {}", case.expected),
    });
    let (group, _) = case.name.split_once('/').unwrap_or((&case.name, ""));
    Check::new(&case.name, outcome).of(group)
}
