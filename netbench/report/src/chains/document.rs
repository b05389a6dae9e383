use netbench_model::chains::Due;

use super::{ChainDifference, ChainKind, ChainTally, ChainsSummary};
use crate::{
    cell::Cell,
    document::{Check, CheckSuite, Checked, Document, Extent, Item, Report, Section, Table},
    text::{count, in_place_of},
};

impl Report for ChainsSummary {
    fn tells(&self) -> bool {
        let mut stacks = self.kinds.iter().flat_map(|kind| &kind.stacks);
        stacks.any(|tally| tally.right + tally.wrong + tally.hang + tally.crash > 0)
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        let stacks: Vec<&str> = run.stacks.iter().map(|s| s.stack.as_str()).collect();
        let sections = vec![
            differences(self, &stacks),
            kinds(self, &stacks),
            astray(self),
        ];
        Document {
            about: in_place_of(&stacks),
            lead: format!(
                "What each stack's own verifier says of {}, and what it should say.",
                count(run.chains, "certificate chain", "certificate chains")
            ),
            sections,
            checks: checks(self),
            data: vec![self],
            ..Document::of_run("compat chains", &run.head)
        }
    }
}

fn differences(summary: &ChainsSummary, stacks: &[&str]) -> Section {
    let first = stacks.first().copied().unwrap_or_default();
    let found = &summary.differences;
    let all: usize = found.iter().map(|group| group.cases.len()).sum();
    let worse = found.iter().filter(|group| group.advice.is_some());
    let worse: usize = worse.map(|group| group.cases.len()).sum();
    let mut items = vec![Item::Headline(match (stacks.len(), all) {
        (..2, _) => "One stack was asked: there is nothing to compare it with.".to_owned(),
        (_, 0) => "The stacks accept and reject the same chains.".to_owned(),
        _ => format!(
            "{} judged otherwise than by {first}; in {worse} of them something is lost.",
            count(all, "chain is", "chains are")
        ),
    })];
    items.extend(Item::warnings(&summary.warnings));
    if !summary.broken.is_empty() {
        items.push(
            Table::of(&summary.broken)
                .col("chain", 0, |row| Cell::text(&row.case))
                .col("stack", 0, |row| Cell::text(&row.stack))
                .col("outcome", 0, |row| Cell::text(&row.outcome))
                .col("detail", 1, |row| Cell::text(&row.detail))
                .item(),
        );
    }
    if !found.is_empty() {
        let mut table = Table::of(found).col("chains", 0, |group| Cell::count(group.cases.len()));
        if stacks.len() > 2 {
            table = table.col("stack", 0, |group| Cell::text(&group.stack));
        }
        items.push(
            table
                .col("now", 0, |group| Cell::text(group.change.name()))
                .col("effect", 0, |group| Cell::maybe(group.effect))
                .col("reason", 0, |group| Cell::text(name(group)))
                .col("who rejects says", 3, |group| Cell::text(faults(group)))
                .col("what a user sees", 1, |group| Cell::text(&group.seen))
                .col("example", 2, |group| Cell::maybe(group.cases.first()))
                .unfolded()
                .item(),
        );
        items.extend(reasons(found));
    }
    let libraries = summary.run.stacks.iter();
    let libraries: Vec<_> = libraries
        .map(|stack| format!("{} is {}", stack.stack, stack.library))
        .collect();
    Section::new("differences", "What changes", items).explained(format!(
            "Each chain is put to the verifier as the stack's clients use it, with its roots, its host and its time. {}.",
            libraries.join(", ")
        ))
}

fn name(group: &ChainDifference) -> &str {
    group.reason.as_deref().unwrap_or("not known")
}

fn faults(group: &ChainDifference) -> String {
    let faults: Vec<&str> = group.faults.keys().map(String::as_str).collect();
    faults.join(", ")
}

/// Returns every reason once, first those whose chains are judged wrongly.
fn reasons(found: &[ChainDifference]) -> Vec<Item> {
    let mut rows: Vec<&ChainDifference> = Vec::new();
    for group in found {
        match rows.iter_mut().find(|row| row.reason == group.reason) {
            None => rows.push(group),
            Some(row) if row.advice.is_none() => *row = group,
            Some(_) => {}
        }
    }
    Table::of(rows)
        .col("reason", 0, |group| Cell::text(name(group)))
        .col("why they disagree", 0, |group| Cell::text(&group.why))
        .col("what to do", 1, |group| Cell::maybe(group.advice.as_ref()))
        .under("Why they disagree")
}

fn kinds(summary: &ChainsSummary, stacks: &[&str]) -> Section {
    let table = Table::of(&summary.kinds)
        .col("kind", 0, |row| Cell::text(&row.kind))
        .col("verifiers", 0, |row| Cell::text(row.due))
        .col("chains", 0, |row| Cell::count(row.chains));
    let with_stacks = stacks
        .iter()
        .enumerate()
        .fold(table, |table, (number, stack)| {
            table.col(stack, 0, move |row: &&ChainKind| {
                row.stacks.get(number).map_or(Cell::Missing, said)
            })
        });
    Section::new("kinds", "How many are judged as they should be", vec![with_stacks.item()]).explained("Where standards leave a choice, it is said what a verifier should do; whoever does otherwise is \
                      stricter or laxer, and not broken.")
}

fn said(tally: &ChainTally) -> Cell {
    let others = [
        (tally.hang, "hang"),
        (tally.crash, "crash"),
        (tally.unsupported, "unsupported"),
    ];
    let others: Vec<String> = others
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match others.as_slice() {
        [] => Cell::count(tally.right),
        [only] if tally.right + tally.wrong == 0 => Cell::text(only),
        more => Cell::text(format!("{}, {}", tally.right, more.join(", "))),
    }
}

fn astray(summary: &ChainsSummary) -> Section {
    let rows = &summary.astray;
    let must = rows
        .iter()
        .filter(|row| matches!(row.due, Due::MustAccept | Due::MustReject));
    let must: u32 = must.map(|row| row.chains).sum();
    let table = Table::of(rows)
        .col("stack", 0, |row| Cell::text(&row.stack))
        .col("kind", 0, |row| Cell::text(&row.kind))
        .col("verifiers", 0, |row| Cell::text(row.due))
        .col("and it is", 0, |row| Cell::text(&row.says))
        .col("chains", 0, |row| Cell::count(row.chains))
        .col("example", 1, |row| Cell::text(&row.example));
    let mut items = vec![Item::Text(format!(
        "{} that leaves no choice.",
        count(
            must,
            "judgement is against a rule",
            "judgements are against a rule"
        )
    ))];
    if !rows.is_empty() {
        items.push(table.item());
    }
    Section::new("astray", "What is not as it should be", items)
        .explained("What all stacks do is here too: that is no matter of the switch.")
}

/// Builds one suite for each stack, with a check for each kind.
fn checks(summary: &ChainsSummary) -> Vec<CheckSuite> {
    let suite = |(number, stack): (usize, &crate::compat::CompatStack)| CheckSuite {
        name: stack.stack.to_string(),
        checks: summary
            .kinds
            .iter()
            .filter_map(|row| Some(check(row, row.stacks.get(number)?)))
            .collect(),
    };
    summary.run.stacks.iter().enumerate().map(suite).collect()
}

fn check(row: &ChainKind, tally: &ChainTally) -> Check {
    let broken = tally.hang + tally.crash;
    let outcome = if tally.wrong + broken > 0 {
        Checked::Failed {
            why: format!(
                "{} of {} chains not as they should be",
                tally.wrong + broken,
                row.chains
            ),
            class: "chains".to_owned(),
        }
    } else if tally.right == 0 {
        Checked::Skipped {
            why: "its verifier was not asked".to_owned(),
        }
    } else {
        Checked::Passed
    };
    Check {
        name: format!("{} ({})", row.kind, row.due),
        class: row.kind.split('/').next().map(str::to_owned),
        outcome,
        said: None,
    }
}
