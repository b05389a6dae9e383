use std::collections::{BTreeMap, HashMap};

use netbench_model::{
    Case, IdleReference, SliceFigures, StackName, SuiteMeasured, SuitePlan, SuiteSample, Unit,
};
use netbench_stats::{
    Autocorrelation, CASE_MARGIN, Change, Choice, Idle, IdleProgram, LOOPS, Pair, QuietLevel,
    Resampling, Turn, TurnPair, compare_turns, compare_whole, interim_share, is_interim_analysis,
};

use super::{
    CaseVerdict,
    figures::{measured, reference_ns, whole},
};
use crate::{differences::against_first, gate::Judged};

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
        let known = plan.idle_beside.iter();
        let known = known.map(|(stack, idle)| (stack, level_of(idle)));
        let here = quiet_levels(samples);
        let any = plan.idle.iter().map(level_of).chain(here.values().copied());
        Self {
            seed: plan.seed,
            until_decided: plan.until_decided,
            idle: any.reduce(QuietLevel::lower),
            idle_beside: lowest(known.chain(here.iter().map(|(stack, level)| (stack, *level)))),
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
        let firsts: BTreeMap<u32, _> = measured(case.scenario, first, samples).collect();
        let both: Vec<Round<'_>> = measured(case.scenario, other, samples)
            .filter_map(|(round, b)| Some((round, *firsts.get(&round)?, b)))
            .collect();
        let rounds = both.iter().map(|(round, ..)| round + 1).max()?;
        let share = if self.until_decided {
            interim_share(rounds)
        } else {
            1.0
        };
        let settings = Resampling::for_case(self.seed, share);
        let (change, turns, found) = if case.unit() == Unit::Nanoseconds {
            let turns = turns(case, &both);
            let [of_first, of_other] = [first, other].map(|stack| self.idle(stack));
            let found = compare_turns(&turns, [&of_first, &of_other], &settings)?;
            (found.low, turns.len(), Some(found))
        } else {
            let pairs = wholes(case, &both);
            let change = compare_whole(&pairs, settings.verdict_level)?;
            (change, pairs.len(), None)
        };
        let judged = Judged::of(&change, Autocorrelation::default(), None, CASE_MARGIN);
        Some(CaseVerdict {
            first: first.clone(),
            other: other.clone(),
            change,
            turns: turns as u64,
            choice: found.map_or(Choice::All, |found| found.choice),
            all_turns: found.map(|found| found.all_turns),
            median: found.and_then(|found| found.median),
            mean: found.and_then(|found| found.mean),
            after_pause: found.and_then(|found| found.after_pause),
            turn_operations: found.map(|found| found.operations),
            undecided: found.and_then(|found| found.undecided),
            rounds_needed: judged.rounds_needed,
        })
    }
}

/// The figures of both stacks in a round.
type Round<'a> = (u32, &'a SuiteMeasured, &'a SuiteMeasured);

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
    let trials = trials.iter();
    lowest(trials.filter_map(|((_, stack), turns)| Some((*stack, QuietLevel::of(turns)?))))
}

/// Returns the lowest level of each stack.
fn lowest<'a>(
    levels: impl Iterator<Item = (&'a StackName, QuietLevel)>,
) -> BTreeMap<StackName, QuietLevel> {
    let mut lowest: BTreeMap<StackName, QuietLevel> = BTreeMap::new();
    for (stack, level) in levels {
        lowest
            .entry(stack.clone())
            .and_modify(|lowest| *lowest = lowest.lower(level))
            .or_insert(level);
    }
    lowest
}

/// Returns the pairs of turns of rounds that both stacks have.
fn turns(case: &Case, both: &[Round<'_>]) -> Vec<TurnPair> {
    both.iter()
        .flat_map(|(round, a, b)| a.slices.iter().zip(&b.slices).map(|pair| (*round, pair)))
        .filter_map(|(round, (a, b))| {
            Some(TurnPair {
                round,
                a: turn(case, a)?,
                b: turn(case, b)?,
            })
        })
        .collect()
}

fn turn(case: &Case, slice: &SliceFigures) -> Option<Turn> {
    Some(Turn {
        operations: slice.operations,
        first_ns: slice.first_ns.get(&case.measure).copied(),
        low_ns: *slice.low_ns.get(&case.measure)?,
        median_ns: slice.median_ns.get(&case.measure).copied(),
        mean_ns: slice.mean_ns.get(&case.measure).copied(),
        reference_ns: reference_ns(slice),
    })
}

/// Returns the pairs of figures of which a round has one.
fn wholes(case: &Case, both: &[Round<'_>]) -> Vec<Pair> {
    both.iter()
        .filter_map(|(round, a, b)| Some(Pair::of(whole(case, a)?, whole(case, b)?, *round)))
        .collect()
}

/// Returns the indices of the plan's scenarios on which every verdict is decided after `rounds` rounds, and known
/// to 2 %: they need no further measurement. The result is empty between interim analyses.
pub fn decided(plan: &SuitePlan, samples: &[SuiteSample], rounds: u32) -> Vec<usize> {
    if !is_interim_analysis(rounds) {
        return Vec::new();
    }
    let verdicts = Verdicts::of(plan, samples);
    let scenarios = plan.scenarios.iter().enumerate();
    scenarios
        .filter(|(_, scenario)| {
            scenario.cases().all(|case| {
                against_first(&plan.stacks).all(|(first, other)| {
                    let verdict = verdicts.of_case(&case, first, other, samples);
                    // A case that one side does not support is not decided by further rounds.
                    verdict.is_none_or(|verdict| is_precise(&verdict.change))
                })
            })
        })
        .map(|(at, _)| at)
        .collect()
}

/// Returns whether a verdict is decided and its ratio known.
fn is_precise(change: &Change) -> bool {
    change.verdict.is_decided()
        && change.interval.is_some_and(|i| {
            i.high <= change.ratio * (1.0 + PRECISE) && i.low >= change.ratio * (1.0 - PRECISE)
        })
}
