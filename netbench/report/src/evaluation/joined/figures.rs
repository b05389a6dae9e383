//! Figures of several evaluations, joined.

use itertools::Itertools;
use netbench_model::{Case, StackName};
use netbench_stats::{SAME_MARGIN, join_runs};

use super::{JoinedMean, JoinedTime};
use crate::{
    Evaluation, JoinedCase,
    evaluation::{
        Evidence, fast,
        means::{PARTS, geometric_mean},
    },
    suite::{Verdicts, held_back, joined_cases},
};

/// Returns the library of a stack with its version, as the newest evaluation that has a run of it names it.
pub(super) fn library(runs: &[&Evaluation], stack: &StackName) -> String {
    let suites = runs.iter().rev().flat_map(|run| &run.found.suites);
    let mut stacks = suites.flat_map(|suite| &suite.run.stacks);
    let about = stacks.find(|(name, _)| name == stack);
    about.map_or_else(|| stack.to_string(), |(_, about)| about.clone())
}

/// Joins the cases of the suite that two evaluations or more have.
pub(super) fn cases(runs: &[&Evaluation]) -> Vec<(Case, JoinedCase)> {
    let evidence = runs.iter().map(|run| evidence(run));
    let verdicts = evidence.map(|evidence| evidence.verdicts().collect());
    let verdicts: Vec<Verdicts<'_>> = verdicts.collect();
    joined_cases(&verdicts).collect()
}

fn evidence(run: &Evaluation) -> Evidence<'_> {
    Evidence::of_evaluation(&run.run, &run.found)
}

/// Returns the mean of each part of the suite, over the cases that are joined and judged.
pub(super) fn means(runs: &[&Evaluation], cases: &[(Case, JoinedCase)]) -> Vec<JoinedMean> {
    let parts = PARTS.into_iter().filter_map(|(part, measure, label)| {
        let of_part: Vec<&JoinedCase> = cases
            .iter()
            .filter(|(case, joined)| joined.part == part && case.measure == measure)
            .map(|(_, joined)| joined)
            .filter(|joined| joined.joined.is_some() && joined.undecided.is_none())
            .collect();
        let ratios = of_part.iter().filter_map(|case| Some(case.joined?.ratio));
        let ratios: Vec<f64> = ratios.collect();
        (!ratios.is_empty()).then(|| JoinedMean {
            label: label.to_owned(),
            part,
            measure,
            cases: ratios.len() as u64,
            runs: (0..runs.len()).map(|run| of_run(&of_part, run)).collect(),
            ratio: geometric_mean(ratios.into_iter()),
        })
    });
    parts.collect()
}

/// Returns the mean of one run; `None` unless the run has a ratio of each case that it can be judged by.
fn of_run(cases: &[&JoinedCase], run: usize) -> Option<f64> {
    let ratios = cases
        .iter()
        .map(|case| case.runs.get(run).copied().flatten())
        .map(|of_run| of_run.filter(|of_run| held_back(of_run.undecided).is_none()))
        .map(|of_run| Some(of_run?.ratio));
    let ratios: Option<Vec<f64>> = ratios.collect();
    Some(geometric_mean(ratios?.into_iter()))
}

pub(super) fn connections(runs: &[&Evaluation]) -> Vec<JoinedTime> {
    let evidence = runs.iter().map(|run| evidence(run));
    let totals: Vec<_> = evidence.map(|it| fast::totals(&it)).collect();
    let conditions = totals.iter().flatten().map(|(condition, _)| *condition);
    let times = conditions.unique().filter_map(|condition| {
        let rows: Vec<_> = totals
            .iter()
            .map(|rows| rows.iter().find(|(of_row, _)| *of_row == condition))
            .map(|row| row.map(|(_, row)| *row))
            .collect();
        let changes = rows.iter().flatten().map(|row| &row.change);
        Some(JoinedTime {
            condition,
            phase: rows.iter().flatten().next()?.key.phase,
            runs: rows
                .iter()
                .map(|row| Some(row.as_ref()?.change.ratio))
                .collect(),
            joined: join_runs(changes, SAME_MARGIN)?,
        })
    });
    times.collect()
}
