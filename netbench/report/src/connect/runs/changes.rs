use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{Condition, Outcome, Phase, Sample, StackName, Unit};
use netbench_stats::{Autocorrelation, SAME_MARGIN, compare_apart, median};

use super::{ChangedSite, PhaseChange, PhaseOfRuns, ReachChange, SiteOfRuns, StacksOfRuns};
use crate::{
    Row,
    connect::pairs::difference,
    gate::{Judged, Regression},
};

/// The samples of a stack of each run under one condition, on the sites that both runs have.
pub(super) struct Rounds<'a> {
    condition: Condition,
    stacks: [&'a StackName; 2],
    /// The samples by site: of the first run and of the other, in the order of their rounds.
    sites: BTreeMap<&'a str, [Vec<&'a Sample>; 2]>,
}

impl<'a> Rounds<'a> {
    pub(super) fn of(
        condition: Condition,
        stacks: [&'a StackName; 2],
        samples: &[Vec<&'a Sample>; 2],
        common: &BTreeSet<&str>,
    ) -> Self {
        let mut sites: BTreeMap<&str, [Vec<&Sample>; 2]> = BTreeMap::new();
        for (side, samples) in samples.iter().enumerate() {
            let those = samples.iter().copied().filter(|sample| {
                sample.condition == condition
                    && sample.stack == *stacks[side]
                    && common.contains(sample.site.as_str())
            });
            for sample in those {
                sites.entry(&sample.site).or_default()[side].push(sample);
            }
        }
        for of_site in sites.values_mut() {
            for side in of_site {
                side.sort_by_key(|sample| sample.round);
            }
        }
        Self {
            condition,
            stacks,
            sites,
        }
    }

    fn stacks(&self) -> StacksOfRuns {
        let [first_stack, other_stack] = self.stacks.map(Clone::clone);
        StacksOfRuns {
            condition: self.condition,
            first_stack,
            other_stack,
        }
    }

    /// Returns the sites that both runs reach at least once.
    pub(super) fn reached(&self) -> impl Iterator<Item = &'a str> {
        let sites = self.sites.iter().filter(|(_, sides)| {
            let mut sides = sides.iter();
            sides.all(|side| side.iter().any(|sample| sample.outcome.ok().is_some()))
        });
        sites.map(|(site, _)| *site)
    }

    /// Returns the times of a phase on a site in each run, with their rounds.
    fn times(&self, site: &str, phase: Phase) -> [Vec<(u32, f64)>; 2] {
        [0, 1].map(|side| {
            let samples = self.sites.get(site).into_iter();
            let times = samples.flat_map(|sides| &sides[side]).filter_map(|sample| {
                let ns = phase.of(sample.outcome.ok()?)?;
                // The maximum with 1 is for a clock that did not advance.
                Some((sample.round, ns.max(1) as f64))
            });
            times.collect()
        })
    }
}

pub(super) fn site_change(
    rounds: &Rounds<'_>,
    site: &str,
    level: f64,
    threshold: Option<f64>,
) -> Option<ChangedSite> {
    let times = rounds.times(site, Phase::Total).map(|times| {
        let times = times.into_iter().map(|(_, ns)| ns);
        times.collect::<Vec<f64>>()
    });
    let key = SiteOfRuns {
        site: site.to_owned(),
        stacks: rounds.stacks(),
        differs: differs(rounds, site),
    };
    row(key, &times, &times, level, threshold)
}

/// Returns the row of two runs with the medians of their times, and the change by their rounds.
fn row<K>(
    key: K,
    times: &[Vec<f64>; 2],
    [first, other]: &[Vec<f64>; 2],
    level: f64,
    threshold: Option<f64>,
) -> Option<Row<K>> {
    let change = compare_apart(first, other, level)?;
    let correlation = Autocorrelation::of(&[first, other]);
    Some(Row {
        key,
        unit: Unit::Nanoseconds,
        first: median(&times[0])?,
        other: median(&times[1])?,
        judged: Judged::of(&change, correlation, threshold, SAME_MARGIN),
        change,
    })
}

/// Returns the difference between the last successful connections of the runs.
fn differs(rounds: &Rounds<'_>, site: &str) -> Option<String> {
    let sides = rounds.sites.get(site)?;
    let [first, other] = sides.each_ref().map(|side| {
        let mut good = side.iter().rev().filter_map(|sample| sample.outcome.ok());
        good.next()
    });
    difference(first?, other?)
}

/// Computes the median of every round over the sites, each relative to its own usual time, so that a site that is
/// missing in a round moves no median.
pub(super) fn phase_change(
    rounds: &Rounds<'_>,
    phase: Phase,
    level: f64,
    threshold: Option<f64>,
) -> Option<PhaseChange> {
    let mut by_round: [BTreeMap<u32, Vec<f64>>; 2] = [BTreeMap::new(), BTreeMap::new()];
    let mut all: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    let mut sites = 0;
    for site in rounds.reached() {
        let times = rounds.times(site, phase);
        let middles = times.each_ref().map(|side| {
            let logs: Vec<f64> = side.iter().map(|(_, ns)| ns.ln()).collect();
            median(&logs)
        });
        let [Some(first), Some(other)] = middles else {
            continue;
        };
        sites += 1;
        let usual = f64::midpoint(first, other);
        for (side, times) in times.into_iter().enumerate() {
            for (round, ns) in times {
                by_round[side]
                    .entry(round)
                    .or_default()
                    .push(ns.ln() - usual);
                all[side].push(ns);
            }
        }
    }
    let medians = by_round.map(|rounds| -> Vec<f64> {
        let of_round = rounds.values().filter_map(|logs| median(logs));
        of_round.map(f64::exp).collect()
    });
    let key = PhaseOfRuns {
        stacks: rounds.stacks(),
        phase,
        sites,
    };
    let threshold = threshold.filter(|_| phase == Phase::Total);
    row(key, &all, &medians, level, threshold)
}

/// Returns the sites that fail more often in one of the runs.
pub(super) fn reach(rounds: &Rounds<'_>, threshold: Option<f64>) -> Vec<ReachChange> {
    let mut found = Vec::new();
    for (site, sides) in &rounds.sites {
        let [first, other] = [0, 1].map(|side| failures(&sides[side]));
        let (Some(first), Some(other)) = (first, other) else {
            continue;
        };
        // Compared as shares, because the runs may have different numbers of rounds.
        let change = (other.failed * first.trials).cmp(&(first.failed * other.trials));
        if change.is_eq() {
            continue;
        }
        let lost = other.failed == other.trials && first.failed < first.trials;
        found.push(ReachChange {
            site: (*site).to_owned(),
            stacks: rounds.stacks(),
            first_failed: (first.failed, first.trials),
            other_failed: (other.failed, other.trials),
            why: if change.is_gt() { other.why } else { first.why },
            regression: match threshold {
                None => Regression::NotAsked,
                Some(_) if lost => Regression::Regressed,
                Some(_) => Regression::Within,
            },
        });
    }
    found
}

struct Failures {
    failed: u64,
    trials: u64,
    /// The reason of the first failure.
    why: String,
}

/// Returns the failures; `None` if there was no trial.
fn failures(samples: &[&Sample]) -> Option<Failures> {
    let failures = samples.iter().filter_map(|sample| match &sample.outcome {
        Outcome::Failed(failure) => Some(failure),
        _ => None,
    });
    let failed = failures.clone().count() as u64;
    let good = samples
        .iter()
        .filter(|sample| sample.outcome.ok().is_some());
    let trials = failed + good.count() as u64;
    let mut why = failures.map(|failure| format!("{}: {}", failure.class, failure.reason));
    (trials > 0).then(|| Failures {
        failed,
        trials,
        why: why.next().unwrap_or_default(),
    })
}
