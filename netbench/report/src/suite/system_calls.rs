//! The system calls of operations.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{MEMORY_CALLS, SuiteMeasured, SuiteSample, SystemCalls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StackFigures, SuiteSummary};
use crate::{
    cell::{Cell, Digits},
    document::{Item, Table},
};

/// The number of calls of an operation from which they are shown.
const SHOWN: f64 = 0.1;

/// The system calls of one operation, of both sides of a session together: the mean over all counted operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCallFigures {
    /// Number of counted operations.
    #[schemars(extend("x-unit" = "operations"))]
    pub operations: u64,
    /// All calls, except those that read a clock.
    #[schemars(extend("x-unit" = "calls/operation"))]
    pub all: f64,
    /// The calls that take memory from the system or return it: brk, madvise, mmap, mremap and munmap.
    #[schemars(extend("x-unit" = "calls/operation"))]
    pub memory: f64,
    /// Each call by its name.
    #[schemars(extend("x-unit" = "calls/operation"))]
    pub by_name: BTreeMap<String, f64>,
}

/// Returns the calls of an operation; `None` if no round counted them.
pub(super) fn figures(measured: &[&SuiteMeasured]) -> Option<SystemCallFigures> {
    let (mut operations, mut sums) = (0, BTreeMap::<&str, u64>::new());
    for counted in measured.iter().filter_map(|m| m.system_calls.as_ref()) {
        if let SystemCalls::Counted {
            operations: of_round,
            calls,
        } = counted
        {
            operations += of_round;
            for (name, times) in calls {
                *sums.entry(name).or_default() += times;
            }
        }
    }
    if operations == 0 {
        return None;
    }
    let by_name = sums.into_iter();
    let by_name = by_name.map(|(name, times)| (name.to_owned(), times as f64 / operations as f64));
    let by_name: BTreeMap<String, f64> = by_name.collect();
    let of_memory = by_name.iter();
    let of_memory = of_memory.filter(|(name, _)| MEMORY_CALLS.contains(&name.as_str()));
    Some(SystemCallFigures {
        operations,
        all: by_name.values().fold(0.0, |sum, calls| sum + calls),
        // An empty sum of floats is minus zero.
        memory: of_memory.fold(0.0, |sum, (_, calls)| sum + calls),
        by_name,
    })
}

/// Returns a warning for each reason why calls were not counted.
pub(super) fn warnings(samples: &[SuiteSample]) -> Vec<String> {
    let measured = samples.iter().filter_map(|sample| {
        let calls = sample.outcome.ok()?.system_calls.as_ref()?;
        match calls {
            SystemCalls::Counted { .. } => None,
            SystemCalls::Uncounted { reason } => Some((reason.as_str(), &sample.stack)),
        }
    });
    let by_reason = measured.into_group_map();
    let sorted = by_reason.into_iter().sorted_by_key(|(reason, _)| *reason);
    let words = sorted.map(|(reason, stacks)| {
        let stacks: BTreeSet<&str> = stacks.iter().map(|stack| stack.as_str()).collect();
        format!(
            "System calls of {} were not counted in some trials: {reason}.",
            stacks.iter().join(", ")
        )
    });
    words.collect()
}

/// Tabulates the calls of the work in which a stack makes some.
pub(super) fn items(summary: &SuiteSummary) -> Vec<Item> {
    let cases = summary.cases.iter().unique_by(|case| case.case.scenario);
    let cases = cases.filter(|case| {
        let mut calls = case.stacks.iter().filter_map(|f| f.system_calls.as_ref());
        calls.any(|calls| calls.all >= SHOWN)
    });
    let rows = cases.flat_map(|case| {
        let stacks = case.stacks.iter();
        stacks.filter_map(move |figures| Some((case, figures, figures.system_calls.as_ref()?)))
    });
    Table::of(rows)
        .text("work", 0, |(case, ..)| case.case.scenario.to_string())
        .text("stack", 0, |(_, figures, _): &(_, &StackFigures, _)| &figures.stack)
        .col("all", 0, |(.., calls)| calls_cell(calls.all))
        .col("for memory", 0, |(.., calls)| calls_cell(calls.memory))
        .text("by name", 1, |(.., calls)| by_name(calls))
        .explained(
            "System calls",
            "Calls of one operation, of both sides together, in processes that are not timed. For memory: brk, madvise, mmap, \
             mremap and munmap, by which an allocator takes memory from the system and returns it.",
        )
}

fn calls_cell(calls: f64) -> Cell {
    Cell::number(calls, Digits::Decimals(2), "")
}

/// Returns the calls in words, the most frequent first.
fn by_name(calls: &SystemCallFigures) -> String {
    let names = calls.by_name.iter();
    let names = names.filter(|(_, times)| **times >= SHOWN);
    let sorted = names.sorted_by(|(_, a), (_, b)| b.total_cmp(a));
    sorted
        .map(|(name, times)| format!("{name} {times:.2}"))
        .join(", ")
}
