use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{Condition, Measured, Outcome, Phase, Sample, StackName, Unit};
use netbench_stats::{Autocorrelation, Change, Precision, SAME_MARGIN, compare_apart, median};

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
        let reached = |sides: &&[Vec<&Sample>; 2]| {
            let mut sides = sides.iter();
            sides.all(|side| side.iter().any(|sample| sample.outcome.ok().is_some()))
        };
        let sites = self.sites.iter();
        sites
            .filter(move |(_, sides)| reached(sides))
            .map(|(site, _)| *site)
    }

    /// Returns the times of a phase on a site in each run, with their rounds.
    fn times(&self, site: &str, phase: Phase) -> [Vec<(u32, f64)>; 2] {
        let of = |side: &Vec<&Sample>| -> Vec<(u32, f64)> {
            let time = |sample: &&Sample| {
                let ns = phase.of(sample.outcome.ok()?)?;
                // The maximum with 1 is for a clock that did not advance.
                Some((sample.round, ns.max(1) as f64))
            };
            side.iter().filter_map(time).collect()
        };
        match self.sites.get(site) {
            Some([first, other]) => [of(first), of(other)],
            None => [Vec::new(), Vec::new()],
        }
    }
}

pub(super) fn site_change(
    rounds: &Rounds<'_>,
    site: &str,
    level: f64,
    threshold: Option<f64>,
) -> Option<ChangedSite> {
    let [first, other] = rounds.times(site, Phase::Total).map(|times| {
        let times = times.into_iter().map(|(_, ns)| ns);
        times.collect::<Vec<f64>>()
    });
    let change = compare_apart(&first, &other, level)?;
    Some(Row {
        key: SiteOfRuns {
            site: site.to_owned(),
            stacks: rounds.stacks(),
            differs: differs(rounds, site),
        },
        unit: Unit::Nanoseconds,
        first: median(&first)?,
        other: median(&other)?,
        judged: judged(&change, [&first, &other], threshold),
        change,
    })
}

/// Judges a change by the rounds of both runs, in their order.
fn judged(change: &Change, rounds: [&[f64]; 2], threshold: Option<f64>) -> Judged {
    let correlation = Autocorrelation::of(&rounds);
    let precision = Precision::of(change).map(|precision| precision.with_correlation(correlation));
    Judged::of(change.interval, precision, threshold).with_verdict(
        change.verdict,
        precision,
        SAME_MARGIN,
    )
}

/// Returns the difference between the last successful connections of the runs.
fn differs(rounds: &Rounds<'_>, site: &str) -> Option<String> {
    let sides = rounds.sites.get(site)?;
    let last = |side: &Vec<&'_ Sample>| -> Option<Measured> {
        let mut good = side.iter().rev().filter_map(|sample| sample.outcome.ok());
        good.next().cloned()
    };
    difference(&last(&sides[0])?, &last(&sides[1])?)
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
        let logs =
            |side: &Vec<(u32, f64)>| -> Vec<f64> { side.iter().map(|(_, ns)| ns.ln()).collect() };
        let (Some(first), Some(other)) = (median(&logs(&times[0])), median(&logs(&times[1])))
        else {
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
    let change = compare_apart(&medians[0], &medians[1], level)?;
    let judged = judged(
        &change,
        [&medians[0], &medians[1]],
        threshold.filter(|_| phase == Phase::Total),
    );
    Some(Row {
        key: PhaseOfRuns {
            stacks: rounds.stacks(),
            phase,
            sites,
        },
        unit: Unit::Nanoseconds,
        first: median(&all[0])?,
        other: median(&all[1])?,
        change,
        judged,
    })
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
    let mut found = Failures {
        failed: 0,
        trials: 0,
        why: String::new(),
    };
    for sample in samples {
        match &sample.outcome {
            Outcome::Ok(_) => found.trials += 1,
            Outcome::Failed(failure) => {
                if found.failed == 0 {
                    found.why = format!("{}: {}", failure.class, failure.reason);
                }
                found.failed += 1;
                found.trials += 1;
            }
            Outcome::Unsupported { .. } | Outcome::Discarded { .. } => {}
        }
    }
    (found.trials > 0).then_some(found)
}
