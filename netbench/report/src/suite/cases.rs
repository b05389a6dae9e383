use netbench_model::{Part, StackName, Unit};
use netbench_stats::UndecidedReason;

use super::{CaseRow, CaseVerdict, StackFigures, SuiteSummary};
use crate::{cell::Cell, document::Filling, row::figure};

impl CaseRow {
    pub(crate) fn of(&self, stack: &StackName) -> Option<&StackFigures> {
        self.stacks.iter().find(|figures| figures.stack == *stack)
    }

    pub(super) fn against_first(&self, other: &StackName) -> Option<&CaseVerdict> {
        self.verdicts.iter().find(|verdict| verdict.other == *other)
    }

    pub(super) fn verdict(&self, found: &CaseVerdict) -> Cell {
        Cell::Verdict(found.change.verdict, self.unit)
    }
}

/// Adds columns for each stack: its figure, and, for each except the first, the factor, its interval and the
/// verdict.
pub(super) fn by_stack<'a>(
    mut table: Filling<&'a CaseRow>,
    summary: &'a SuiteSummary,
    value: fn(&CaseRow, &StackFigures) -> Cell,
) -> Filling<&'a CaseRow> {
    let stacks: Vec<&StackName> = summary.run.stacks.iter().map(|(name, _)| name).collect();
    // A terminal has room for the names of cases and a few columns.
    let verdict_rank = u8::from(stacks.len() > 2);
    for stack in &stacks {
        table = table.col(stack.as_str(), 2, |case| Some(value(case, case.of(stack)?)));
    }
    for other in stacks.iter().skip(1) {
        let name = match stacks.len() {
            2 => "factor".to_owned(),
            _ => format!("× {other}"),
        };
        table = table.of_stack(other.as_str(), |table| {
            table
                .factors([(&name, 0), ("interval", 3)], |case| {
                    let change = &case.against_first(other)?.change;
                    Some((change.ratio, change.interval))
                })
                .col("verdict", verdict_rank, |case| {
                    Some(case.verdict(case.against_first(other)?))
                })
        });
    }
    table
}

/// Formats a stack's figure for people.
pub(super) fn value(case: &CaseRow, figures: &StackFigures) -> Cell {
    let is_rate = case.unit == Unit::Nanoseconds
        && !matches!(case.part, Part::Verify | Part::Connector | Part::Crypto);
    match (figures.bytes_per_second, figures.per_second) {
        (Some(rate), _) if is_rate => Cell::Throughput(rate),
        (None, Some(rate)) if is_rate => Cell::Rate(rate),
        _ => figure(figures.low, case.unit),
    }
}

/// Returns the name as published, without the part that all its rows share.
pub(crate) fn row_name(case: &str) -> String {
    case.replace("_write-1MiB_amount-1000MB", "")
}

/// Returns the words for a case without a verdict: `not judged: too few quiet turns`.
pub(super) fn not_judged(reason: UndecidedReason) -> String {
    format!("not judged: {}", self::reason(reason))
}

/// Returns the reason why a case has no verdict.
pub(super) fn reason(reason: UndecidedReason) -> &'static str {
    match reason {
        UndecidedReason::FewOperations => "turns of fewer than 20 operations",
        UndecidedReason::FewQuietTurns => "too few quiet turns",
        UndecidedReason::NeverQuiet => "the machine was never quiet",
        UndecidedReason::DependsOnDisturbance => "depends on how busy the machine is",
    }
}
