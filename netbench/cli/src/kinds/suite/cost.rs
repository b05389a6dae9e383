use std::time::Duration;

use netbench_model::{HandshakeKind, KeyType, Scenario, SuitePlan, Work};
use netbench_runner::{COUNTED_ROUNDS, MIN_TURNS, THREADS_TURN, WARM_UP};
use netbench_stats::FEWEST_OPERATIONS;

use crate::{
    cost::{Cost, cores, times},
    pipeline::Listed,
};

/// The time for certificates and keys.
const SET_UP: Duration = Duration::from_secs(1);

/// The time of a new process, its preparations and its end.
const PROCESS: Duration = Duration::from_millis(22);

/// The time of a session that is made and held, in one process and in another that counts allocations.
const HELD: Duration = Duration::from_micros(650);

/// The time for the start of a process under valgrind.
const COUNTED: Duration = Duration::from_millis(3500);

/// Returns the approximate time of an operation. Only slow operations matter: a turn of fast operations has the
/// requested length.
fn operation(scenario: &Scenario) -> Duration {
    let us = match scenario.work {
        Work::Handshake {
            kind: HandshakeKind::Full,
            settings,
        } => match settings.key {
            KeyType::Rsa4096 => 5_000,
            KeyType::Rsa3072 => 2_500,
            _ => 800,
        },
        Work::Connector { .. } => 4_000,
        Work::Bulk { .. } => 300,
        _ => 150,
    };
    Duration::from_micros(us)
}

/// Returns the time for counting the system calls of a scenario on one stack, in one round.
fn calls(scenario: &Scenario) -> Duration {
    /// Number of operations of the process that is traced.
    const OPERATIONS: u32 = 160;
    match scenario.work {
        _ if scenario.counted => Duration::ZERO,
        Work::Memory { .. } => Duration::ZERO,
        _ if scenario.threads().is_some() => Duration::ZERO,
        _ => PROCESS + operation(scenario) * OPERATIONS,
    }
}

pub(super) fn time(plan: &SuitePlan) -> Duration {
    let whole = plan.scenarios.iter().fold(SET_UP, |sum, scenario| {
        let rounds = scenario.rounds_of_use(plan.rounds);
        let stacks = plan.stacks.len() as f64;
        let calls = times(
            calls(scenario),
            stacks * f64::from(rounds.min(COUNTED_ROUNDS)),
        );
        sum.saturating_add(times(weight(plan, scenario), stacks * f64::from(rounds)))
            .saturating_add(calls)
    });
    plan.budget().map_or(whole, |budget| {
        // The round in which the budget ends is completed.
        let round = times(whole, 0.5 / f64::from(plan.rounds.max(1)));
        whole.min(budget.saturating_add(round))
    })
}

/// Returns the time of the remaining trials, after `done` trials.
pub(super) fn left(plan: &SuitePlan, done: u64) -> Duration {
    let cost = plan.cost();
    let trials = Cost {
        time: cost.time.saturating_sub(SET_UP),
        ..cost
    };
    trials.after(done).time
}

/// Returns the time of one trial of a scenario on one stack.
pub(super) fn weight(plan: &SuitePlan, scenario: &Scenario) -> Duration {
    if scenario.counted {
        return counted(scenario);
    }
    match scenario.work {
        Work::Memory { sessions, .. } => PROCESS * 2 + HELD * sessions,
        Work::Threads { .. } | Work::ParallelVerify { .. } => {
            timed(plan, plan.slice().max(THREADS_TURN))
        }
        _ => {
            let turn = operation(scenario) * (WARM_UP + FEWEST_OPERATIONS);
            timed(plan, plan.slice().max(turn))
        }
    }
}

/// Returns the time of a trial's turns, including the first turn, which is not counted.
fn timed(plan: &SuitePlan, turn: Duration) -> Duration {
    PROCESS + turn + plan.trial().max(turn * MIN_TURNS)
}

/// Returns the time of counted trials: both sides, with few and with many operations, on all cores.
fn counted(scenario: &Scenario) -> Duration {
    const PROCESSES: f64 = 4.0;
    let work = match scenario.work {
        Work::Handshake {
            kind: HandshakeKind::Full,
            settings,
        } => match settings.key {
            KeyType::Rsa3072 | KeyType::Rsa4096 => Duration::from_secs(4),
            _ => Duration::from_secs(1),
        },
        _ => Duration::from_millis(500),
    };
    times(COUNTED + work, PROCESSES / f64::from(cores().max(1)))
}
