use netbench_stats::JOINED_LEVEL;

use super::{
    JoinedCase, JoinedSummary,
    cases::{not_judged, reason},
    joined::held_back,
};
use crate::{
    cell::Cell,
    differences::difference_items,
    document::{Document, Extent, Item, Report, Section, Table},
    row::{tally, tally_in_words},
    text::count,
};

/// Number of runs that each have a separate column.
const COLUMNS: usize = 5;

impl Report for JoinedSummary {
    fn tells(&self) -> bool {
        !self.cases.is_empty()
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let mut items = vec![Item::Headline(headline(self))];
        items.extend(Item::warnings(&self.warnings));
        items.extend(runs(self));
        items.extend(difference_items(
            "What differs from the first run",
            &self.differences,
        ));
        cases(&mut items, self);
        let title = format!("netbench runs compare: {} runs joined", self.runs.len());
        Document::of_section("joined", title, Section::only(items), self)
    }
}

fn headline(summary: &JoinedSummary) -> String {
    let joined = summary.cases.iter().filter_map(|case| case.joined);
    let counts = tally(joined.map(|joined| joined.verdict));
    format!(
        "{} runs, {}: {} In {} the runs differ by more than their own errors (Q test, p < 0.01); {} of {} pairs of \
         intervals overlap.",
        summary.runs.len(),
        count(summary.cases.len(), "case", "cases"),
        tally_in_words(counts[0], counts),
        count(summary.heterogeneous, "case", "cases"),
        summary.overlapping,
        summary.pairs,
    )
}

fn runs(summary: &JoinedSummary) -> Vec<Item> {
    Table::of(summary.runs.iter().zip(1..))
        .text("run", 0, |(_, number)| *number)
        .text("name", 0, |(run, _)| &run.compared.run)
        .text("started", 1, |(run, _)| &run.started)
        .count("rounds", 1, |(run, _)| u64::from(run.rounds))
        .text("disturbed turns", 0, |(run, _)| {
            format!("{:.0} %", run.disturbed_share * 100.0)
        })
        .under("The runs")
}

fn cases(items: &mut Vec<Item>, summary: &JoinedSummary) {
    items.push(Item::heading("Case by case"));
    items.push(Item::Text(format!(
        "Factor: the first stack's time or size over the other's; above 1 the other is better. Each run measured a ratio \
         of its own, which varies about the one that is looked for (random effects): the variance between runs is by \
         Paule and Mandel, the interval, of {:.0} %, by Hartung and Knapp. p: how likely runs are to differ as much by \
         chance (Cochran's Q). Between runs: the deviation beyond what the runs' own errors explain.",
        JOINED_LEVEL * 100.0
    )));
    items.extend(joined_table(&summary.cases, summary.runs.len()));
}

/// Tabulates joined cases. The results of this number of runs get columns, unless there are too many.
pub(crate) fn joined_table(cases: &[JoinedCase], runs: usize) -> Option<Item> {
    let mut table = Table::of(cases)
        .text("case", 0, |case| &case.name)
        .text("stack", 0, |case| &case.other);
    if runs <= COLUMNS {
        for at in 0..runs {
            let name = format!("run {}", at + 1);
            table = table.factors([(&name, 2), ("interval", 3)], |case| {
                let run = case.runs.get(at).copied().flatten()?;
                Some((run.ratio, run.interval))
            });
        }
    }
    let has_notes = cases.iter().any(|case| !note(case).is_empty());
    table
        .col("p", 1, |case| match case.joined {
            Some(joined) if joined.q_p < 0.001 => Cell::text("< 0.001"),
            joined => Cell::maybe(joined.map(|joined| format!("{:.3}", joined.q_p))),
        })
        .optional("between runs", 1, |case| {
            Some(format!("{:.2} %", case.joined?.between_runs * 100.0))
        })
        .factor("factor", 0, |case| Some(case.joined?.ratio))
        .col("joined interval", 0, |case| {
            Cell::Factors(case.joined.map(|joined| joined.interval))
        })
        .col("verdict", 0, |case| {
            Some(Cell::Verdict(case.joined?.verdict, case.unit))
        })
        .col_if(has_notes.then_some(""), 0, |case| Cell::text(note(case)))
        .if_any()
}

/// Returns the reason why a case is not judged, or the runs that are left out of the joint result.
fn note(case: &JoinedCase) -> String {
    if let Some(reason) = case.undecided {
        return not_judged(reason);
    }
    let runs = case.runs.iter().zip(1..);
    let left_out = runs.filter_map(|(run, number)| {
        let held_back = held_back(run.as_ref()?.undecided)?;
        Some(format!("without run {number} ({})", reason(held_back)))
    });
    left_out.collect::<Vec<_>>().join("; ")
}
