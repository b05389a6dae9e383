//! The page faults of operations.

use itertools::Itertools;

use super::{CaseRow, StackFigures, SuiteSummary};
use crate::{
    cell::{Cell, Digits},
    document::{Item, Table},
};

/// The number of page faults of an operation from which they are shown.
const MANY_FAULTS: f64 = 1.0;

/// Tabulates the page faults of the cases in which a stack has some in every operation. Both sides of a session share the
/// count, which is shown once.
pub(super) fn items(summary: &SuiteSummary) -> Vec<Item> {
    let faults = |figures: &StackFigures| figures.page_faults;
    let has_many = |case: &&CaseRow| {
        let mut stacks = case.stacks.iter().filter_map(faults);
        stacks.any(|faults| faults >= MANY_FAULTS)
    };
    let cases = summary.cases.iter().filter(has_many);
    let cases: Vec<&CaseRow> = cases.unique_by(|case| case.case.scenario).collect();
    if cases.is_empty() {
        return Vec::new();
    }
    let explanation = Item::text(
        "Minor page faults of one operation, of both sides together. An allocator that returns memory to the system and \
         takes it again pays for each page.",
    );
    let stacks = summary.run.stacks.iter();
    let table = Table::of(cases).col("work", 0, |case| Cell::text(case.case.scenario.to_string()));
    let table = stacks.fold(table, |table, (stack, _)| {
        table.col(stack.as_str(), 0, move |case| {
            let faults = case.of(stack).and_then(faults);
            faults.map_or(Cell::Missing, |faults| {
                Cell::number(faults, Digits::Decimals(1), "")
            })
        })
    });
    vec![Item::heading("Page faults"), explanation, table.item()]
}
