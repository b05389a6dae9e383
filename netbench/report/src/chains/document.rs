use itertools::Itertools;
use netbench_model::{StackName, chains::Due, compat::Judgement};

use super::{ChainDifference, ChainKind, ChainsSummary};
use crate::{
    cell::Cell,
    document::{Check, Checked, Document, Extent, Item, Report, Section, Table},
    matrix::{ComparedStack, Judgements},
    text::{ONE_STACK, count, in_place_of},
};

impl Report for ChainsSummary {
    fn tells(&self) -> bool {
        self.matrix.cells().any(|judged| judged.reported() > 0)
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let run = &self.run;
        let stacks: Vec<&str> = run.stacks.iter().map(|s| s.stack.as_str()).collect();
        let sections = vec![differences(self, &stacks), kinds(self), wrong(self)];
        Document {
            about: in_place_of(&stacks),
            lead: format!(
                "The verdicts of each stack's own verifier on {}, and the correct verdicts.",
                count(run.chains, "certificate chain", "certificate chains")
            ),
            sections,
            checks: self.matrix.suites(stacks.len(), check),
            ..Document::of_run("compat chains", &run.head, self)
        }
    }
}

fn differences(summary: &ChainsSummary, stacks: &[&str]) -> Section {
    let first = stacks.first().copied().unwrap_or_default();
    let found = &summary.differences;
    let all: usize = found.iter().map(|group| group.cases.len()).sum();
    let worse = found.iter().filter(|group| group.switch.advice.is_some());
    let worse: usize = worse.map(|group| group.cases.len()).sum();
    let mut items = vec![Item::Headline(match (stacks.len(), all) {
        (..2, _) => ONE_STACK.to_owned(),
        (_, 0) => "The stacks accept and reject the same chains.".to_owned(),
        _ => format!(
            "{} a verdict other than that of {first}; {worse} of them are changes for the worse.",
            count(all, "chain has", "chains have")
        ),
    })];
    items.extend(Item::warnings(&summary.warnings));
    items.extend(
        Table::of(&summary.broken)
            .text("chain", 0, |row| &row.case)
            .text("stack", 0, |row| &row.stack)
            .text("outcome", 0, |row| &row.outcome)
            .text("detail", 1, |row| &row.detail)
            .if_any(),
    );
    items.extend(
        Table::of(found)
            .count("chains", 0, |group| group.cases.len())
            .col_if((stacks.len() > 2).then_some("stack"), 0, |group| {
                Cell::text(&group.switch.stack)
            })
            .text("now", 0, |group| group.verdict())
            .optional("effect", 0, |group| group.switch.effect)
            .text("reason", 0, |group| name(group))
            .text("reason given", 3, |group| group.faults.keys().format(", "))
            .text("what a user sees", 1, |group| &group.switch.seen)
            .optional("example", 2, |group| group.cases.first())
            .unfolded()
            .if_any(),
    );
    items.extend(reasons(found));
    Section::new("differences", "What changes", items).explained(format!(
        "Each verifier is set up as in the stack's clients, and is given the chain with its roots, its host and its time. {}.",
        ComparedStack::libraries(&summary.run.stacks)
    ))
}

fn name(group: &ChainDifference) -> &str {
    group.reason.as_deref().unwrap_or("not known")
}

/// Returns every reason once, first those whose chains are judged wrongly.
fn reasons(found: &[ChainDifference]) -> Vec<Item> {
    let mut rows: Vec<&ChainDifference> = Vec::new();
    for group in found {
        match rows.iter_mut().find(|row| row.reason == group.reason) {
            None => rows.push(group),
            Some(row) if row.switch.advice.is_none() => *row = group,
            Some(_) => {}
        }
    }
    Table::of(rows)
        .text("reason", 0, |group| name(group))
        .text("why they disagree", 0, |group| &group.why)
        .optional("what to do", 1, |group| group.switch.advice.as_ref())
        .under("Why they disagree")
}

fn kinds(summary: &ChainsSummary) -> Section {
    let table = Table::of(&summary.matrix.cases)
        .text("kind", 0, |row| &row.case.kind)
        .text("verifiers", 0, |row| row.case.due)
        .count("chains", 0, |row| row.case.chains)
        .clients(&summary.matrix.clients, right);
    Section::new(
        "kinds",
        "How many are judged as they should be",
        vec![table.item()],
    )
    .explained(
        "Where standards leave a choice, it is said what a verifier should do; whoever does otherwise is stricter or \
         laxer, and not broken.",
    )
}

/// Returns the number of right verdicts, and the chains without a verdict.
fn right(judged: &Judgements) -> Cell {
    let right = judged.of(Judgement::Right);
    let others = [Judgement::Hung, Judgement::Crashed, Judgement::Unsupported]
        .into_iter()
        .filter(|without| judged.of(*without) > 0)
        .map(|without| format!("{} {without}", judged.of(without)));
    match others.collect::<Vec<_>>().as_slice() {
        [] => Cell::count(right),
        [only] if right + judged.misjudged() == 0 => Cell::text(only),
        more => Cell::text(format!("{right}, {}", more.join(", "))),
    }
}

fn wrong(summary: &ChainsSummary) -> Section {
    let rows = &summary.wrong;
    let must = rows
        .iter()
        .filter(|row| matches!(row.due, Due::MustAccept | Due::MustReject));
    let must: u32 = must.map(|row| row.chains).sum();
    let table = Table::of(rows)
        .text("stack", 0, |row| &row.stack)
        .text("kind", 0, |row| &row.kind)
        .text("verifiers", 0, |row| row.due)
        .text("and it is", 0, |row| &row.says)
        .count("chains", 0, |row| row.chains)
        .text("example", 1, |row| &row.example);
    let against = count(
        must,
        "judgement is against a rule",
        "judgements are against a rule",
    );
    let mut items = vec![Item::Text(format!("{against} that leaves no choice."))];
    items.extend(table.if_any());
    Section::new("wrong", "What is not as it should be", items)
        .explained("What all stacks do is here too: that is no matter of the switch.")
}

fn check(kind: &ChainKind, _: &StackName, judged: &Judgements) -> Check {
    let wrong = judged.wrong();
    let outcome = if wrong > 0 {
        let why = format!("{wrong} of {} chains not as they should be", kind.chains);
        Checked::failed(why, "chains")
    } else if judged.reported() == 0 {
        Checked::skipped("its verifier was not asked")
    } else {
        Checked::Passed
    };
    let (group, _) = kind.kind.split_once('/').unwrap_or((&kind.kind, ""));
    Check::new(format!("{} ({})", kind.kind, kind.due), outcome).of(group)
}
