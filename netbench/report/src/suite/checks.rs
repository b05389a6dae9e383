use super::{CaseVerdict, SuiteFailure, SuiteSummary};
use crate::{
    document::{Check, CheckSuite, Checked},
    text::{change, count, interval},
};

/// Builds a suite for each stack, with a check for each case.
pub(super) fn checks(summary: &SuiteSummary) -> Vec<CheckSuite> {
    let suites = summary.run.stacks.iter().map(|(stack, _)| {
        let measured = summary.cases.iter().filter_map(|case| {
            let figures = case.of(stack)?;
            Some(Check {
                name: case.name.clone(),
                class: Some(stack.to_string()),
                outcome: Checked::Passed,
                said: Some(match case.against_first(stack) {
                    Some(CaseVerdict { change: of, .. }) => {
                        format!("{} ({})", change(of.ratio), interval(of.interval))
                    }
                    None => count(figures.rounds, "round", "rounds"),
                }),
            })
        });
        let without = |rows: &'_ [SuiteFailure], outcome: fn(&SuiteFailure) -> Checked| {
            let rows = rows.iter().filter(|row| row.stack == *stack);
            let check = |row: &SuiteFailure| Check {
                name: row.scenario.clone(),
                class: None,
                outcome: outcome(row),
                said: None,
            };
            rows.map(check).collect::<Vec<_>>()
        };
        let failed = without(&summary.failures, |row| Checked::Failed {
            why: row.reason.clone(),
            class: row.class.clone().unwrap_or_default(),
        });
        let skipped = without(&summary.unsupported, |row| Checked::Skipped {
            why: row.reason.clone(),
        });
        CheckSuite {
            name: stack.to_string(),
            checks: measured.chain(failed).chain(skipped).collect(),
        }
    });
    suites.collect()
}
