use netbench_model::StackName;

use super::SuiteSummary;
use crate::{
    document::{Check, CheckSuite, Checked},
    row::in_words,
    text::count,
};

/// Builds a suite for each stack, with a check for each case.
pub(super) fn checks(summary: &SuiteSummary) -> Vec<CheckSuite> {
    let stacks = summary.run.stacks.iter();
    stacks.map(|(stack, _)| of_stack(summary, stack)).collect()
}

fn of_stack(summary: &SuiteSummary, stack: &StackName) -> CheckSuite {
    let measured = summary.cases.iter().filter_map(|case| {
        let rounds = case.of(stack)?.rounds;
        let said = match case.against_first(stack) {
            Some(verdict) => in_words(&verdict.change),
            None => count(rounds, "round", "rounds"),
        };
        let check = Check::new(&case.name, Checked::Passed);
        Some(check.of(stack.as_str()).saying(said))
    });
    let failed = summary.failures.iter().filter(|row| row.stack == *stack);
    let failed = failed.map(|row| {
        let class = row.class.as_deref().unwrap_or_default();
        Check::new(&row.scenario, Checked::failed(&row.reason, class))
    });
    let skipped = summary.unsupported.iter();
    let skipped = skipped.filter(|row| row.stack == *stack);
    let skipped = skipped.map(|row| Check::skipped(&row.scenario, &row.reason));
    CheckSuite::new(stack.as_str(), measured.chain(failed).chain(skipped))
}
