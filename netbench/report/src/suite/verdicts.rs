use std::collections::BTreeMap;

use netbench_model::{Case, StackName, SuitePlan, SuiteSample, Unit};
use netbench_stats::{
    Pair, Resampling, Verdict, compare, compare_whole, interim_share, is_interim_analysis, quiet,
};

use super::{
    CaseVerdict,
    figures::{measured, whole},
};

/// How wide the interval of what is decided may be, to either side. A stack that takes a third of
/// the other's time is known to be faster after six rounds, but not yet how much.
const PRECISE: f64 = 0.02;

/// How the verdicts of a run are reached.
pub(super) struct Verdicts {
    seed: u64,
    until_decided: bool,
}

impl Verdicts {
    pub(super) fn of(plan: &SuitePlan) -> Self {
        Self {
            seed: plan.seed,
            until_decided: plan.until_decided,
        }
    }

    /// The verdict on `other` against `first`; none where they have no round in common.
    pub(super) fn of_case(
        &self,
        case: &Case,
        first: &StackName,
        other: &StackName,
        samples: &[SuiteSample],
    ) -> Option<CaseVerdict> {
        let all = pairs(case, first, other, samples);
        let rounds = all.iter().map(|pair| pair.round + 1).max()?;
        let share = if self.until_decided {
            interim_share(rounds)
        } else {
            1.0
        };
        let settings = Resampling::for_case(self.seed, share);
        let undisturbed = undisturbed(case, &all);
        let paired = if case.unit() == Unit::Nanoseconds {
            compare(&undisturbed, &settings)
        } else {
            compare_whole(&undisturbed, settings.verdict_level)
        };
        Some(CaseVerdict {
            first: first.clone(),
            other: other.clone(),
            paired: paired?,
            turns: all.len() as u64,
        })
    }
}

/// Two figures that were taken right after one another.
struct Both {
    round: u32,
    first: f64,
    other: f64,
}

/// Pairs of turns; pairs of rounds where there are no turns.
fn pairs(case: &Case, first: &StackName, other: &StackName, samples: &[SuiteSample]) -> Vec<Both> {
    let firsts: BTreeMap<u32, _> = measured(case, first, samples).collect();
    let mut pairs = Vec::new();
    for (round, b) in measured(case, other, samples) {
        let Some(a) = firsts.get(&round) else {
            continue;
        };
        let both = |first: f64, other: f64| Both {
            round,
            first: first.max(1.0),
            other: other.max(1.0),
        };
        if let (Some(a), Some(b)) = (whole(case, a), whole(case, b)) {
            pairs.push(both(a, b));
        }
        for (a, b) in a.slices.iter().zip(&b.slices) {
            if let (Some(a), Some(b)) = (a.low_ns.get(&case.measure), b.low_ns.get(&case.measure)) {
                pairs.push(both(*a, *b));
            }
        }
    }
    pairs
}

/// The pairs that verdicts rest on: of timings, those taken while nothing disturbed the machine.
fn undisturbed(case: &Case, all: &[Both]) -> Vec<Pair> {
    let levels: Vec<f64> = all
        .iter()
        .map(|pair| f64::midpoint(pair.first.ln(), pair.other.ln()))
        .collect();
    let kept = if case.unit() == Unit::Nanoseconds {
        quiet(&levels)
    } else {
        vec![true; all.len()]
    };
    let kept = all.iter().zip(kept).filter(|(_, kept)| *kept);
    kept.map(|(pair, _)| Pair {
        log_ratio: (pair.other / pair.first).ln(),
        block: pair.round,
    })
    .collect()
}

/// The indices of the plan's scenarios on which every verdict is decided after `rounds` rounds, and
/// known to 2 %: nothing more need be measured of them. Empty between interim analyses.
pub fn decided(plan: &SuitePlan, samples: &[SuiteSample], rounds: u32) -> Vec<usize> {
    let Some((first, others)) = plan.stacks.split_first() else {
        return Vec::new();
    };
    if !is_interim_analysis(rounds) {
        return Vec::new();
    }
    let verdicts = Verdicts::of(plan);
    let is_decided = |case: Case| {
        others.iter().all(|other| {
            let paired = verdicts.of_case(&case, first, other, samples);
            // What one side cannot do will not be decided by trying again.
            paired.is_none_or(|CaseVerdict { paired, .. }| {
                let precise = paired.interval.is_some_and(|i| {
                    i.high <= paired.ratio * (1.0 + PRECISE)
                        && i.low >= paired.ratio * (1.0 - PRECISE)
                });
                paired.verdict != Verdict::Undecided && precise
            })
        })
    };
    let scenarios = plan.scenarios.iter().enumerate();
    scenarios
        .filter(|(_, scenario)| scenario.cases().all(is_decided))
        .map(|(at, _)| at)
        .collect()
}
