//! The page faults of operations.

use itertools::Itertools;

use super::SuiteSummary;
use crate::{
    cell::{Cell, Digits},
    document::{Item, Table},
};

/// The number of page faults of an operation from which they are shown.
const MANY_FAULTS: f64 = 1.0;

/// Tabulates the page faults of the cases in which a stack has some in every operation. Both sides of a session share the
/// count, which is shown once.
pub(super) fn items(summary: &SuiteSummary) -> Vec<Item> {
    let cases = summary.cases.iter().filter(|case| {
        let mut faults = case.stacks.iter().filter_map(|figures| figures.page_faults);
        faults.any(|faults| faults >= MANY_FAULTS)
    });
    let stacks = &summary.run.stacks;
    Table::of(cases.unique_by(|case| case.case.scenario))
        .text("work", 0, |case| case.case.scenario)
        .cols(stacks.iter().map(|(stack, _)| stack), |case, at| {
            let faults = case.of(&stacks[at].0)?.page_faults?;
            Some(Cell::number(faults, Digits::Decimals(1), ""))
        })
        .explained(
            "Page faults",
            "Minor page faults of one operation, of both sides together. An allocator that returns memory to the system and \
             takes it again pays for each page.",
        )
}
