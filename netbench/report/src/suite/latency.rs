//! The time of single operations by number of threads.

use itertools::Itertools;
use netbench_model::{Distribution, Measure, Scenario, StackName, SuiteSample, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SuiteSummary, figures::measured};
use crate::{
    cell::{Cell, Digits},
    document::{Chart, Drawing, Item, Line, Lines, Table},
    row::Named,
    text::alike,
};

/// The factor of the 99th percentile of which the number of threads is reported.
const FACTOR: f64 = 2.0;

/// The fewest operations of which a 99th percentile is reported.
const FEWEST_OPERATIONS: u64 = 1_000;

/// The times of one side's operations on one stack, by number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadLatency {
    /// The work, without the number of threads, and the side.
    #[schemars(extend("x-key" = "item"))]
    pub work: String,
    /// The stack.
    #[schemars(extend("x-key" = "first"))]
    pub stack: StackName,
    /// The side: its steps alone are timed.
    pub measure: Measure,
    /// The smallest number of threads at which the 99th percentile is at least twice that of one thread; absent if none of
    /// the measured numbers does that, or one thread was not measured.
    #[schemars(extend("x-unit" = "threads"))]
    pub p99_doubles_at_threads: Option<u16>,
    /// The times, by increasing number of threads.
    pub by_threads: Vec<LatencyOfThreads>,
}

/// The time of an operation at one number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyOfThreads {
    /// Number of threads.
    #[schemars(extend("x-key" = "condition"))]
    pub threads: u16,
    /// Number of operations of all threads and rounds.
    pub operations: u64,
    /// The median.
    pub p50_ns: f64,
    /// The 99th percentile; absent with fewer than a thousand operations.
    pub p99_ns: Option<f64>,
}

/// Returns the times of all scenarios of threads.
pub(super) fn latencies(
    scenarios: &[Scenario],
    stacks: &[StackName],
    samples: &[SuiteSample],
) -> Vec<ThreadLatency> {
    let works = scenarios.iter().filter_map(|scenario| {
        let (threads, work) = parts(scenario)?;
        Some((work, (threads, *scenario)))
    });
    let mut all = Vec::new();
    for (work, mut same) in alike(works) {
        same.sort_by_key(|(threads, _)| *threads);
        let measures = same.first().map_or(&[][..], |(_, first)| first.latencies());
        for measure in measures {
            let found = stacks
                .iter()
                .map(|stack| of_stack(&same, *measure, &work, stack, samples));
            all.extend(found.filter(|found| !found.by_threads.is_empty()));
        }
    }
    all
}

/// Returns the number of threads of a scenario, and its name without the number.
fn parts(scenario: &Scenario) -> Option<(u16, String)> {
    let threads = scenario.threads()?;
    let name = scenario.to_string();
    let work = name.strip_prefix(&format!("threads-{threads}_"))?;
    Some((threads, work.to_owned()))
}

fn of_stack(
    scenarios: &[(u16, Scenario)],
    measure: Measure,
    work: &str,
    stack: &StackName,
    samples: &[SuiteSample],
) -> ThreadLatency {
    let by_threads = scenarios.iter().filter_map(|(threads, scenario)| {
        let rounds = measured(*scenario, stack, samples);
        let all = Distribution::merged(rounds.filter_map(|(_, m)| m.wall.get(&measure)));
        let p99_ns = all.quantile_ns(0.99).map(|ns| ns as f64);
        Some(LatencyOfThreads {
            threads: *threads,
            operations: all.count,
            p50_ns: all.quantile_ns(0.5)? as f64,
            p99_ns: p99_ns.filter(|_| all.count >= FEWEST_OPERATIONS),
        })
    });
    let by_threads = by_threads.collect_vec();
    ThreadLatency {
        work: match measure {
            Measure::Whole => work.to_owned(),
            measure => format!("{work}_{measure}"),
        },
        stack: stack.clone(),
        measure,
        p99_doubles_at_threads: doubles_at(&by_threads),
        by_threads,
    }
}

fn doubles_at(by_threads: &[LatencyOfThreads]) -> Option<u16> {
    let one = by_threads.iter().find(|of| of.threads == 1)?.p99_ns?;
    let doubled = by_threads
        .iter()
        .find(|of| of.p99_ns.is_some_and(|p99| p99 >= FACTOR * one));
    Some(doubled?.threads)
}

pub(super) fn items(summary: &SuiteSummary) -> Vec<Item> {
    let latencies = &summary.latencies;
    let rows = latencies
        .iter()
        .flat_map(|latency| latency.by_threads.iter().map(move |of| (latency, of)));
    let table = Table::of(rows)
        .text("work", 0, |(latency, _)| &latency.work)
        .text("stack", 0, |(latency, _)| &latency.stack)
        .count("threads", 0, |(_, of)| of.threads)
        .time("p50", 0, |(_, of)| of.p50_ns)
        .time("p99", 0, |(_, of)| of.p99_ns)
        .col("operations", 1, |(_, of)| {
            Cell::number(of.operations as f64, Digits::Grouped, "")
        })
        .col("p99 doubles at", 0, |(latency, _)| doubles(latency));
    let mut items = table.explained(
        "Time of an operation by number of threads",
        "Each operation on each thread is timed, client and server apart, by wall clock: a thread that waits for a core or for \
         another thread takes longer. p99 doubles at: the smallest number of threads at which the 99th percentile is at least \
         twice that of one thread.",
    );
    let works = latencies.iter().chunk_by(|latency| &latency.work);
    let charts = works.into_iter().filter_map(|(work, latencies)| {
        let latencies = latencies.collect_vec();
        chart(work, &latencies)
    });
    items.extend(charts.map(|chart| Item::Charts(vec![chart])));
    items
}

fn doubles(latency: &ThreadLatency) -> Cell {
    let most = latency.by_threads.iter().map(|of| of.threads).max();
    let one = latency.by_threads.iter().find(|of| of.threads == 1);
    match (latency.p99_doubles_at_threads, most) {
        (Some(threads), _) => Cell::text(format!("{threads} threads")),
        (None, Some(most)) if most > 1 && one.is_some_and(|one| one.p99_ns.is_some()) => {
            Cell::text(format!("not up to {most}"))
        }
        _ => Cell::Missing,
    }
}

/// Draws the medians and the 99th percentiles of all stacks, if there are several numbers of threads.
fn chart(work: &str, latencies: &[&ThreadLatency]) -> Option<Chart> {
    let threads = latencies.iter().flat_map(|latency| &latency.by_threads);
    let threads = threads.map(|of| of.threads).sorted().dedup().collect_vec();
    if threads.len() < 2 {
        return None;
    }
    let quantiles: [Named<LatencyOfThreads, Option<f64>>; 2] =
        [("p50", |of| Some(of.p50_ns)), ("p99", |of| of.p99_ns)];
    let lines = latencies.iter().cartesian_product(quantiles);
    let lines = lines.map(|(latency, (name, quantile))| {
        let values = threads.iter().map(|threads| {
            let mut all = latency.by_threads.iter();
            quantile(all.find(|of| of.threads == *threads)?)
        });
        Line {
            name: format!("{} {name}", latency.stack),
            values: values.collect(),
        }
    });
    Some(Chart {
        title: "Time of an operation by number of threads: less is better".to_owned(),
        note: format!("{work}. Over all operations of all threads and rounds."),
        drawing: Drawing::Lines(Lines {
            lines: lines.collect(),
            places: threads.iter().map(ToString::to_string).collect(),
            unit: Unit::Nanoseconds,
        }),
    })
}
