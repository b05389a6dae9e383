use std::collections::{BTreeMap, HashMap};

use netbench_model::{
    Case, IdleReference, SliceFigures, StackName, SuiteMeasured, SuitePlan, SuiteSample, Unit,
};
use netbench_stats::{
    CASE_MARGIN, Change, Choice, Idle, IdleProgram, LOOPS, Pair, Precision, QuietLevel, Resampling,
    RoundsNeeded, Turn, TurnPair, Verdict, compare_turns, compare_whole, interim_share,
    is_interim_analysis,
};

use super::{
    CaseVerdict,
    figures::{measured, whole},
};

/// The half-width up to which the interval of a decided case is precise. A stack that takes a third of the other's
/// time is known to be faster after six rounds, but the ratio is not yet known.
const PRECISE: f64 = 0.02;

/// The settings by which the verdicts of a run are reached.
pub(super) struct Verdicts {
    seed: u64,
    until_decided: bool,
    /// The idle level with any stack, from earlier runs or turns of this run.
    idle: Option<QuietLevel>,
    /// The idle level with each stack, from earlier runs or turns of this run.
    idle_beside: BTreeMap<StackName, QuietLevel>,
}

impl Verdicts {
    pub(super) fn of(plan: &SuitePlan, samples: &[SuiteSample]) -> Self {
        let mut idle_beside: BTreeMap<StackName, QuietLevel> = plan
            .idle_beside
            .iter()
            .map(|(stack, idle)| (stack.clone(), level_of(idle)))
            .collect();
        for (stack, here) in quiet_levels(samples) {
            idle_beside
                .entry(stack)
                .and_modify(|known| *known = known.lower(here))
                .or_insert(here);
        }
        let known = plan.idle.as_ref().map(level_of);
        let here = quiet_levels(samples)
            .into_values()
            .reduce(QuietLevel::lower);
        Self {
            idle_beside,
            seed: plan.seed,
            until_decided: plan.until_decided,
            idle: match (known, here) {
                (Some(known), Some(here)) => Some(known.lower(here)),
                (known, here) => known.or(here),
            },
        }
    }

    /// Returns the times of the loops on an idle machine, with the stack and with any stack.
    pub(super) fn idle(&self, stack: &StackName) -> Vec<Idle> {
        let same = self.idle_beside.get(stack).map(|level| Idle {
            level: *level,
            program: IdleProgram::Same,
        });
        let any = self.idle.map(|level| Idle {
            level,
            program: IdleProgram::Any,
        });
        same.into_iter().chain(any).collect()
    }

    /// Returns the verdict on `other` compared with `first`; `None` if they have no round in common.
    pub(super) fn of_case(
        &self,
        case: &Case,
        first: &StackName,
        other: &StackName,
        samples: &[SuiteSample],
    ) -> Option<CaseVerdict> {
        let firsts: BTreeMap<u32, _> = measured(case, first, samples).collect();
        let both: Vec<(u32, &SuiteMeasured, &SuiteMeasured)> = measured(case, other, samples)
            .filter_map(|(round, b)| Some((round, *firsts.get(&round)?, b)))
            .collect();
        let rounds = both.iter().map(|(round, ..)| round + 1).max()?;
        let share = if self.until_decided {
            interim_share(rounds)
        } else {
            1.0
        };
        let settings = Resampling::for_case(self.seed, share);
        let (first, other) = (first.clone(), other.clone());
        if case.unit() != Unit::Nanoseconds {
            let pairs = wholes(case, &both);
            let change = compare_whole(&pairs, settings.verdict_level)?;
            return Some(CaseVerdict {
                first,
                other,
                change,
                turns: pairs.len() as u64,
                choice: Choice::All,
                all_turns: None,
                median: None,
                mean: None,
                after_pause: None,
                turn_operations: None,
                undecided: None,
                rounds_needed: rounds_needed(&change),
            });
        }
        let turns = turns(case, &both);
        let [of_first, of_other] = [&first, &other].map(|stack| self.idle(stack));
        let found = compare_turns(&turns, [&of_first, &of_other], &settings)?;
        Some(CaseVerdict {
            first,
            other,
            change: found.low,
            turns: turns.len() as u64,
            choice: found.choice,
            all_turns: Some(found.all_turns),
            median: found.median,
            mean: found.mean,
            after_pause: found.after_pause,
            turn_operations: Some(found.operations),
            undecided: found.undecided,
            rounds_needed: rounds_needed(&found.low),
        })
    }
}

/// Returns the rounds that would decide a case, if it is undecided.
fn rounds_needed(change: &Change) -> Option<RoundsNeeded> {
    let precision = Precision::of(change).filter(|_| change.verdict == Verdict::Undecided);
    precision.map(|precision| precision.rounds_to_decide_beyond(CASE_MARGIN))
}

/// Returns the times of the reference loops with each stack while the machine was quietest; empty in runs without
/// them.
pub fn idle_reference(samples: &[SuiteSample]) -> BTreeMap<StackName, IdleReference> {
    let levels = quiet_levels(samples).into_iter();
    let levels = levels.map(|(stack, level)| {
        let [integer_ns, aes_ns, memory_ns] = level.loops_ns();
        let idle = IdleReference {
            integer_ns,
            aes_ns,
            memory_ns,
        };
        (stack, idle)
    });
    levels.collect()
}

fn level_of(idle: &IdleReference) -> QuietLevel {
    QuietLevel::of_loops([idle.integer_ns, idle.aes_ns, idle.memory_ns])
}

/// Returns the lowest level with each stack in any scenario.
fn quiet_levels(samples: &[SuiteSample]) -> BTreeMap<StackName, QuietLevel> {
    let mut trials: HashMap<(&str, &StackName), Vec<[f64; LOOPS]>> = HashMap::new();
    for sample in samples {
        let slices = sample.outcome.ok().map(|measured| measured.slices.iter());
        let references = slices.into_iter().flatten().filter_map(reference_ns);
        let trial = trials.entry((&sample.name, &sample.stack)).or_default();
        trial.extend(references);
    }
    let mut levels: BTreeMap<StackName, QuietLevel> = BTreeMap::new();
    for ((_, stack), turns) in trials {
        if let Some(level) = QuietLevel::of(&turns) {
            levels
                .entry(stack.clone())
                .and_modify(|lowest| *lowest = lowest.lower(level))
                .or_insert(level);
        }
    }
    levels
}

/// Returns a turn's reference loops, in their order.
pub(super) fn reference_ns(slice: &SliceFigures) -> Option<[f64; LOOPS]> {
    let figures = slice.reference?;
    Some([figures.integer_ns, figures.aes_ns, figures.memory_ns])
}

/// Returns the pairs of turns of rounds that both stacks have.
fn turns(case: &Case, both: &[(u32, &SuiteMeasured, &SuiteMeasured)]) -> Vec<TurnPair> {
    let turn = |slice: &SliceFigures| {
        Some(Turn {
            operations: slice.operations,
            first_ns: slice.first_ns.get(&case.measure).copied(),
            low_ns: *slice.low_ns.get(&case.measure)?,
            median_ns: slice.median_ns.get(&case.measure).copied(),
            mean_ns: slice.mean_ns.get(&case.measure).copied(),
            reference_ns: reference_ns(slice),
        })
    };
    let of_round = |&(round, a, b): &(u32, &SuiteMeasured, &SuiteMeasured)| {
        let slices = a.slices.iter().zip(&b.slices);
        let pairs = slices.filter_map(|(a, b)| {
            Some(TurnPair {
                round,
                a: turn(a)?,
                b: turn(b)?,
            })
        });
        pairs.collect::<Vec<_>>()
    };
    both.iter().flat_map(of_round).collect()
}

/// Returns the pairs of figures of which a round has one.
fn wholes(case: &Case, both: &[(u32, &SuiteMeasured, &SuiteMeasured)]) -> Vec<Pair> {
    let pair = |&(round, a, b): &(u32, &SuiteMeasured, &SuiteMeasured)| {
        let (a, b) = (whole(case, a)?.max(1.0), whole(case, b)?.max(1.0));
        Some(Pair {
            log_ratio: (b / a).ln(),
            block: round,
        })
    };
    both.iter().filter_map(pair).collect()
}

/// Returns the indices of the plan's scenarios on which every verdict is decided after `rounds` rounds, and known
/// to 2 %: they need no further measurement. The result is empty between interim analyses.
pub fn decided(plan: &SuitePlan, samples: &[SuiteSample], rounds: u32) -> Vec<usize> {
    let Some((first, others)) = plan.stacks.split_first() else {
        return Vec::new();
    };
    if !is_interim_analysis(rounds) {
        return Vec::new();
    }
    let verdicts = Verdicts::of(plan, samples);
    let is_decided = |case: Case| {
        others.iter().all(|other| {
            let paired = verdicts.of_case(&case, first, other, samples);
            // A case that one side does not support is not decided by further rounds.
            paired.is_none_or(|CaseVerdict { change, .. }| {
                let precise = change.interval.is_some_and(|i| {
                    i.high <= change.ratio * (1.0 + PRECISE)
                        && i.low >= change.ratio * (1.0 - PRECISE)
                });
                change.verdict.is_decided() && precise
            })
        })
    };
    let scenarios = plan.scenarios.iter().enumerate();
    scenarios
        .filter(|(_, scenario)| scenario.cases().all(is_decided))
        .map(|(at, _)| at)
        .collect()
}
