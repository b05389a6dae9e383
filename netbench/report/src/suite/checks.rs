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
        Some(Check {
            name: case.name.clone(),
            class: Some(stack.to_string()),
            outcome: Checked::Passed,
            said: Some(match case.against_first(stack) {
                Some(verdict) => in_words(&verdict.change),
                None => count(rounds, "round", "rounds"),
            }),
        })
    });
    let failed = summary.failures.iter().filter(|row| row.stack == *stack);
    let failed = failed.map(|row| {
        let outcome = Checked::Failed {
            why: row.reason.clone(),
            class: row.class.clone().unwrap_or_default(),
        };
        Check::without_figures(row.scenario.clone(), outcome)
    });
    let skipped = summary.unsupported.iter();
    let skipped = skipped.filter(|row| row.stack == *stack);
    let skipped = skipped.map(|row| Check::skipped(row.scenario.clone(), &row.reason));
    CheckSuite {
        name: stack.to_string(),
        checks: measured.chain(failed).chain(skipped).collect(),
    }
}
