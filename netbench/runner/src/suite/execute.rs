use std::{collections::HashSet, time::Instant};

use netbench_model::{SCHEMA_VERSION, Scenario, SuiteOutcome, SuitePlan, SuiteSample, Work};
use netbench_stats::{SplitMix, mix};
use netbench_store::Appender;

use super::{SuiteEvent, SuiteFeedback, SuiteListener, SuiteTrials, held, instructions, timed};
use crate::{RunError, clock::unix_ms, schedule::round_order};

/// Runs the rounds of the plan, continuing after the `earlier` samples of the same run.
///
/// `decided`, if given, is asked after each round which scenarios may be left out from then on. Returns early
/// without an error when the session's flag becomes true.
///
/// # Errors
/// Returns only errors that make continuing pointless. A worker's fault becomes a failed sample.
pub fn execute_suite(
    session: &SuiteTrials<'_>,
    earlier: Vec<SuiteSample>,
    mut appender: Appender,
    decided: Option<&SuiteFeedback<'_>>,
    listener: &SuiteListener<'_>,
) -> Result<(), RunError> {
    let plan = session.plan;
    let done = done(plan, &earlier);
    let stacks = plan.stacks.len() as u64;
    let mut left = trials(plan, 0..plan.scenarios.len(), 0);
    listener(SuiteEvent::Begin {
        trials: left,
        done: done.len() as u64 * stacks,
    });
    let mut samples = earlier;
    let mut open: Vec<usize> = (0..plan.scenarios.len()).collect();
    for round in 0..plan.rounds {
        let late = session
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        if open.is_empty() || (round > 0 && late) {
            break;
        }
        let mut order = open.clone();
        let mut random = round_order(plan.seed, round);
        random.shuffle(&mut order);
        for at in order {
            let scenario = &plan.scenarios[at];
            if round >= scenario.rounds_of_use(plan.rounds) {
                continue;
            }
            left = left.saturating_sub(stacks);
            if done.contains(&(scenario.to_string(), round)) {
                continue;
            }
            let started_unix_ms = unix_ms();
            let seed = layout_seed(plan.seed, round, at);
            let Some(outcomes) = one(session, scenario, round, seed, &mut random) else {
                return Ok(());
            };
            for (stack, outcome) in plan.stacks.iter().zip(outcomes) {
                if let SuiteOutcome::Failed(failure) = &outcome {
                    listener(SuiteEvent::WorkerLost {
                        stack,
                        why: format!("{scenario}: {}", failure.detail),
                    });
                }
                let sample = SuiteSample {
                    schema: SCHEMA_VERSION,
                    name: scenario.to_string(),
                    scenario: *scenario,
                    stack: stack.clone(),
                    round,
                    started_unix_ms,
                    outcome,
                };
                appender.append(&sample)?;
                listener(SuiteEvent::Sampled(&sample));
                samples.push(sample);
            }
        }
        if let Some(decided) = decided {
            let settled: HashSet<usize> = decided(&samples, round + 1).into_iter().collect();
            let before = open.len();
            open.retain(|at| !settled.contains(at));
            if open.len() < before {
                let still = trials(plan, open.iter().copied(), round + 1);
                listener(SuiteEvent::Decided {
                    saved: left.saturating_sub(still),
                    left: open.len(),
                });
                left = still;
            }
        }
    }
    Ok(())
}

fn one(
    session: &SuiteTrials<'_>,
    scenario: &Scenario,
    round: u32,
    layout_seed: u64,
    random: &mut SplitMix,
) -> Option<Vec<SuiteOutcome>> {
    if session.is_stopped() {
        return None;
    }
    let outcomes = match scenario.work {
        _ if scenario.counted => instructions::trial(session, scenario),
        Work::Memory {
            sessions, after, ..
        } => {
            let stacks = session
                .plan
                .stacks
                .iter()
                .take_while(|_| !session.is_stopped());
            stacks
                .map(|stack| held::trial(session, stack, scenario, sessions, after))
                .collect()
        }
        _ => timed::trial(session, scenario, round, layout_seed, random)?,
    };
    // A worker whose answer was not awaited has not failed.
    (!session.is_stopped()).then_some(outcomes)
}

/// Returns the seed of the layouts of the processes of one round and scenario.
fn layout_seed(seed: u64, round: u32, scenario: usize) -> u64 {
    mix(mix(mix(seed) ^ u64::from(round)) ^ scenario as u64)
}

/// Returns the number of trials of these scenarios from a round on.
fn trials(plan: &SuitePlan, scenarios: impl Iterator<Item = usize>, from: u32) -> u64 {
    let rounds: u64 = scenarios
        .map(|at| plan.scenarios[at].rounds_of_use(plan.rounds))
        .map(|rounds| u64::from(rounds.saturating_sub(from)))
        .sum();
    rounds * plan.stacks.len() as u64
}

/// Returns the scenarios and rounds that an earlier session completed: those that have every stack.
fn done(plan: &SuitePlan, earlier: &[SuiteSample]) -> HashSet<(String, u32)> {
    earlier
        .iter()
        .map(|sample| (sample.name.clone(), sample.round))
        .filter(|(name, round)| {
            plan.stacks.iter().all(|stack| {
                let mut earlier = earlier.iter();
                earlier.any(|s| s.name == *name && s.round == *round && s.stack == *stack)
            })
        })
        .collect()
}
