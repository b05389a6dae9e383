//! The reliability of verdicts on cases of the suite, on machines of many kinds, with fixed seeds. Turns are
//! chosen and compared by the function that the report calls.
//!
//! `NETBENCH_SIMULATED_RUNS` raises the number of runs for the printed intervals, for a closer look in a release build.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod machines;

use machines::{BUSY, Disturbance, IDLE_NS, MACHINES, Machine, PLAIN};
use netbench_stats::{
    FEWEST_OPERATIONS, Idle, IdleProgram, Interval, QuietLevel, Resampling, Rng, Turn, TurnPair,
    TurnsRatio, UndecidedReason, Verdict, compare_turns, interim_share, is_interim_analysis,
    median,
};

/// Number of turns of each side in a round by default: every fifth of 25 reads another clock.
const TURNS: usize = 20;

/// Default number of rounds.
const ROUNDS: u32 = 30;

/// Maximum number of rounds with `--until-decided`.
const MOST_ROUNDS: u32 = 60;

/// The changing state of a machine.
struct Run {
    machine: Machine,
    rng: Rng,
    /// The current disturbance.
    level: f64,
    /// The current slowdown of the host's clock.
    clock: f64,
}

impl Run {
    fn new(machine: Machine, seed: u64) -> Self {
        let mut run = Self {
            machine,
            rng: Rng::new(seed),
            level: 0.0,
            clock: 0.0,
        };
        run.change();
        run
    }

    fn change(&mut self) {
        let rng = &mut self.rng;
        self.clock = self.machine.clock * rng.normal().abs();
        self.level = match self.machine.disturbance {
            Disturbance::None => 0.0,
            Disturbance::OnOff(share, level) => {
                if rng.unit() < share {
                    level + 0.05 * rng.normal()
                } else {
                    0.0
                }
            }
            Disturbance::Graded(most) => most * rng.unit(),
            Disturbance::Always(level) => level + 0.01 * rng.normal(),
            Disturbance::Autocorrelated(deviation) => {
                let kept: f64 = 0.95;
                kept * self.level + (1.0 - kept * kept).sqrt() * deviation * rng.normal()
            }
        };
    }

    /// Returns one side's turn at the machine's current speed.
    fn turn(&mut self, side: usize, speed: f64) -> Turn {
        let machine = self.machine;
        // A disturbance never makes a machine faster than when idle.
        let level = self.level.abs();
        let noise = machine.noise[side].draw(&mut self.rng);
        let slow = machine.drift * speed + self.clock;
        let mut reference = IDLE_NS;
        for (ns, shows) in reference.iter_mut().zip(machine.shows) {
            let noise = machine.reference * self.rng.normal();
            *ns *= (shows * level + slow + noise).exp();
        }
        Turn {
            operations: 20,
            first_ns: None,
            low_ns: 1e5 * (machine.hit[side] * level + slow + noise).exp(),
            median_ns: None,
            mean_ns: None,
            reference_ns: Some(reference),
        }
    }

    /// Returns the pairs of one round of `ROUNDS`, given the logarithm of B's true ratio.
    fn round(&mut self, round: u32, log_ratio: f64) -> Vec<TurnPair> {
        let machine = self.machine;
        let [a, mut b] = [(); 2].map(|()| machine.process * self.rng.normal());
        if self.rng.unit() < machine.slow_process.0 {
            b += machine.slow_process.1;
        }
        let speed = f64::from(round) / f64::from(ROUNDS);
        (0..TURNS)
            .map(|_| {
                let steady = matches!(machine.disturbance, Disturbance::Autocorrelated(_));
                if steady || self.rng.below(8) == 0 {
                    self.change();
                }
                let (mut first, mut other) = (self.turn(0, speed), self.turn(1, speed));
                first.low_ns *= a.exp();
                other.low_ns *= (b + log_ratio).exp();
                TurnPair {
                    round,
                    a: first,
                    b: other,
                }
            })
            .collect()
    }
}

fn decide(turns: &[TurnPair], share: f64) -> TurnsRatio {
    let settings = Resampling {
        resamples: 300,
        ..Resampling::for_case(5, share)
    };
    let idle = Idle {
        level: QuietLevel::of_loops(IDLE_NS),
        program: IdleProgram::Same,
    };
    compare_turns(turns, [&[idle], &[idle]], &settings).unwrap()
}

/// Returns the number of runs to simulate.
fn simulated(default: u64) -> u64 {
    let asked = std::env::var("NETBENCH_SIMULATED_RUNS").ok();
    asked
        .and_then(|number| number.parse().ok())
        .unwrap_or(default)
}

/// Returns the ratios of `runs` runs with `rounds` rounds each.
fn runs(machine: Machine, seed: u64, runs: u64, rounds: u32, ratio: f64) -> Vec<TurnsRatio> {
    (0..runs)
        .map(|number| {
            let mut run = Run::new(machine, seed * 10_000 + number);
            let turns: Vec<TurnPair> = (0..rounds)
                .flat_map(|round| run.round(round, ratio.ln()))
                .collect();
            decide(&turns, 1.0)
        })
        .collect()
}

/// Returns the share of runs with this verdict.
fn share(found: &[TurnsRatio], verdict: Verdict) -> f64 {
    let with = found.iter().filter(|ratio| ratio.low.verdict == verdict);
    with.count() as f64 / found.len() as f64
}

/// Returns the share of runs without a verdict for this reason.
fn without(found: &[TurnsRatio], reason: UndecidedReason) -> f64 {
    let with = found.iter().filter(|ratio| ratio.undecided == Some(reason));
    with.count() as f64 / found.len() as f64
}

#[test]
fn equal_stacks_are_not_called_different() {
    for ((name, machine), seed) in MACHINES.iter().zip(1..) {
        let found = runs(*machine, seed, 200, ROUNDS, 1.0);
        let (faster, slower) = (
            share(&found, Verdict::Faster),
            share(&found, Verdict::Slower),
        );
        println!(
            "{name}: faster {faster}, slower {slower}, same {}, too few quiet turns {}, never quiet {}, depends on \
             disturbance {}; pairs {}",
            share(&found, Verdict::Same),
            without(&found, UndecidedReason::FewQuietTurns),
            without(&found, UndecidedReason::NeverQuiet),
            without(&found, UndecidedReason::DependsOnDisturbance),
            found[0].low.pairs(),
        );
        assert!(
            faster <= 0.02 && slower <= 0.02,
            "{name}: {faster} {slower}"
        );
    }
}

#[test]
fn a_machine_that_was_never_quiet_is_found_out() {
    for at in [12, 16] {
        let (name, machine) = MACHINES[at];
        let found = runs(machine, 31, 50, ROUNDS, 1.0);
        let share = without(&found, UndecidedReason::NeverQuiet);
        assert!(share >= 0.99, "{name}: {share}");
    }
}

/// Beside OpenSSL's ChaCha20 with AVX-512, the AES loop takes 5.3 % more time, and the others do not.
#[test]
fn code_that_slows_the_aes_loop_beside_one_side_is_judged() {
    for (slower, ratio, expected) in [
        (0, 1.01, Verdict::Slower),
        (1, 1.01, Verdict::Slower),
        (0, 1.0, Verdict::Same),
    ] {
        let found: Vec<TurnsRatio> = (0..100)
            .map(|number| {
                let mut run = Run::new(PLAIN, 510_000 + number);
                let mut turns: Vec<TurnPair> = (0..ROUNDS)
                    .flat_map(|round| run.round(round, f64::ln(ratio)))
                    .collect();
                for pair in &mut turns {
                    let side = [&mut pair.a, &mut pair.b].into_iter().nth(slower);
                    let loops = side.and_then(|turn| turn.reference_ns.as_mut());
                    loops.unwrap()[1] *= 1.053;
                }
                decide(&turns, 1.0)
            })
            .collect();
        let share = share(&found, expected);
        assert!(share >= 0.9, "{expected}: {share}");
    }
}

/// Work of another program that slows the AES loop alone slows it beside both sides.
#[test]
fn a_machine_whose_aes_unit_was_never_quiet_is_found_out() {
    let machine = Machine {
        disturbance: Disturbance::Always(0.3),
        hit: [1.0, 1.15],
        shows: [0.0, 1.0, 0.0],
        ..PLAIN
    };
    let found = runs(machine, 52, 50, ROUNDS, 1.0);
    let share = without(&found, UndecidedReason::NeverQuiet);
    assert!(share >= 0.99, "{share}");
}

#[test]
fn what_is_slower_by_a_percent_is_found() {
    let (_, changing_clock) = MACHINES[14];
    for (machine, seed) in [(PLAIN, 41), (BUSY, 42), (changing_clock, 43)] {
        let found = runs(machine, seed, 200, ROUNDS, 1.01);
        let share = share(&found, Verdict::Slower);
        println!("a true percent: {share}");
        assert!(share >= 0.9, "{share}");
    }
}

#[test]
fn half_a_percent_is_not_called_slower_however_long_one_looks() {
    for (machine, seed) in [(PLAIN, 51), (BUSY, 53)] {
        for rounds in [9, ROUNDS, 2 * ROUNDS] {
            let found = runs(machine, seed, 200, rounds, 1.005);
            let slower = share(&found, Verdict::Slower);
            println!("{rounds} rounds: {slower}");
            assert!(slower <= 0.05, "{rounds} rounds: {slower}");
        }
        let total = 150;
        let slower = (0..total)
            .filter(|number| {
                let mut run = Run::new(machine, seed * 1_000 + number);
                let mut turns = Vec::new();
                (1..=MOST_ROUNDS).any(|rounds| {
                    turns.extend(run.round(rounds - 1, 1.005f64.ln()));
                    is_interim_analysis(rounds)
                        && decide(&turns, interim_share(rounds)).low.verdict == Verdict::Slower
                })
            })
            .count();
        println!("until decided: {slower} of {total}");
        assert!(slower as f64 <= 0.05 * total as f64, "{slower} of {total}");
    }
}

#[test]
fn a_turn_of_too_few_operations_gives_no_verdict() {
    let mut run = Run::new(PLAIN, 61);
    let turns: Vec<TurnPair> = (0..ROUNDS)
        .flat_map(|round| run.round(round, 0.5))
        .collect();
    assert_eq!(decide(&turns, 1.0).low.verdict, Verdict::Slower);
    for side in [0, 1] {
        let mut few = turns.clone();
        for pair in &mut few {
            let turn = [&mut pair.a, &mut pair.b].into_iter().nth(side).unwrap();
            turn.operations = FEWEST_OPERATIONS - 1;
        }
        let found = decide(&few, 1.0);
        assert_eq!(found.low.verdict, Verdict::NotJudged);
        assert_eq!(found.undecided, Some(UndecidedReason::FewOperations));
        assert_eq!(found.operations, FEWEST_OPERATIONS - 1);
    }
}

#[test]
fn the_first_operations_are_a_condition_by_themselves() {
    let mut run = Run::new(PLAIN, 62);
    let mut turns: Vec<TurnPair> = (0..ROUNDS)
        .flat_map(|round| run.round(round, 0.0))
        .collect();
    let warm = decide(&turns, 1.0);
    for pair in &mut turns {
        pair.a.first_ns = Some(1.4 * pair.a.low_ns);
        pair.b.first_ns = Some(2.1 * pair.b.low_ns);
    }
    let found = decide(&turns, 1.0);
    assert_eq!(found.low, warm.low);
    let after_pause = found.after_pause.unwrap();
    assert!((after_pause.ratio / found.low.ratio - 1.5).abs() < 1e-9);
    assert!(after_pause.disagrees);
}

/// Returns the true ratio: the median over pairs of turns on an undisturbed machine. If some processes of one side are
/// slow, they are a part of it.
fn true_ratio(machine: Machine, ratio: f64) -> f64 {
    let undisturbed = Machine {
        disturbance: Disturbance::None,
        ..machine
    };
    let mut run = Run::new(undisturbed, 7);
    let logs: Vec<f64> = (0..4_000)
        .flat_map(|_| run.round(0, ratio.ln()))
        .map(|pair| (pair.b.low_ns / pair.a.low_ns).ln())
        .collect();
    median(&logs).unwrap().exp()
}

#[test]
fn printed_intervals_hold_the_true_ratio_where_a_verdict_is_given() {
    for ((name, machine), seed) in MACHINES.iter().zip(71..) {
        for ratio in [1.0, 1.03] {
            let found = runs(*machine, seed, simulated(150), ROUNDS, ratio);
            let truth = true_ratio(*machine, ratio);
            let judged: Vec<Interval> = found
                .iter()
                .filter(|found| found.low.verdict != Verdict::NotJudged)
                .filter_map(|found| found.low.interval)
                .collect();
            let hold = judged.iter().filter(|i| i.low <= truth && truth <= i.high);
            let (hold, judged) = (hold.count() as f64, judged.len() as f64);
            println!("{name}: {truth:.4} in {hold} of {judged}");
            // Two standard deviations of the share of this number of runs, with intervals that hold in 93 % of runs.
            let chance = 2.0 * (0.93 * 0.07 * judged).sqrt();
            assert!(hold >= 0.93 * judged - chance, "{name}: {hold} of {judged}");
        }
    }
}
