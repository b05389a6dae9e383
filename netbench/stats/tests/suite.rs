//! How reliable verdicts on cases of the suite are: on a machine that is disturbed for most of the time, as
//! the project's own build machine is, with fixed seeds.

use netbench_stats::{
    Pair, Resampling, Rng, Verdict, compare, compare_runs, interim_share, is_interim_analysis,
    quiet,
};

/// A machine and a pair of stacks, as measured: in disturbed stretches both are slower by about 40 %, one
/// by more than the other.
struct Machine {
    /// The share of turns that are disturbed.
    disturbed: f64,
    /// How much more one stack suffers: 0.1 for 10 %.
    unequal: f64,
    /// The deviation of a turn's figure.
    turn: f64,
    /// The deviation of a process' own speed.
    process: f64,
}

const BUSY: Machine = Machine {
    disturbed: 0.8,
    unequal: 0.15,
    turn: 0.006,
    process: 0.003,
};

const QUIET: Machine = Machine {
    disturbed: 0.05,
    unequal: 0.15,
    turn: 0.006,
    process: 0.003,
};

impl Machine {
    /// The pairs of one round: twenty turns, of which stretches are disturbed.
    fn round(&self, rng: &mut Rng, log_ratio: f64) -> Vec<(f64, f64)> {
        let (a, b) = (self.process * rng.normal(), self.process * rng.normal());
        let mut disturbed = rng.unit() < self.disturbed;
        (0..20)
            .map(|_| {
                if rng.below(8) == 0 {
                    disturbed = rng.unit() < self.disturbed;
                }
                let slow = if disturbed {
                    0.35 + 0.05 * rng.normal()
                } else {
                    0.0
                };
                let first = a + slow + self.turn * rng.normal();
                let more = slow * self.unequal;
                (
                    first,
                    log_ratio + b + slow + more + self.turn * rng.normal(),
                )
            })
            .collect()
    }
}

/// The verdict after these rounds, as the report reaches it.
fn verdict(rounds: &[Vec<(f64, f64)>], share: f64) -> Verdict {
    let all: Vec<(u32, f64, f64)> = (0..)
        .zip(rounds)
        .flat_map(|(round, turns)| turns.iter().map(move |(a, b)| (round, *a, *b)))
        .collect();
    let levels: Vec<f64> = all.iter().map(|(_, a, b)| f64::midpoint(*a, *b)).collect();
    let pairs: Vec<Pair> = all
        .iter()
        .zip(quiet(&levels))
        .filter(|(_, kept)| *kept)
        .map(|((block, a, b), _)| Pair {
            log_ratio: b - a,
            block: *block,
        })
        .collect();
    let settings = Resampling {
        resamples: 400,
        ..Resampling::for_case(5, share)
    };
    compare(&pairs, &settings).map_or(Verdict::Undecided, |paired| paired.verdict)
}

fn runs(machine: &Machine, seed: u64, runs: u32, log_ratio: f64) -> Vec<Verdict> {
    let mut rng = Rng::new(seed);
    (0..runs)
        .map(|_| {
            let rounds: Vec<_> = (0..30)
                .map(|_| machine.round(&mut rng, log_ratio))
                .collect();
            verdict(&rounds, 1.0)
        })
        .collect()
}

fn share(verdicts: &[Verdict], wanted: &[Verdict]) -> f64 {
    let found = verdicts.iter().filter(|verdict| wanted.contains(verdict));
    found.count() as f64 / verdicts.len() as f64
}

#[test]
fn a_stack_against_itself_is_not_called_different() {
    for (machine, seed) in [(&BUSY, 1), (&QUIET, 2)] {
        let verdicts = runs(machine, seed, 400, 0.0);
        let wrong = share(&verdicts, &[Verdict::Faster, Verdict::Slower]);
        assert!(wrong <= 0.05, "{wrong}");
    }
}

#[test]
fn a_stack_that_is_slowed_by_two_percent_is_called_slower() {
    for (machine, seed) in [(&BUSY, 3), (&QUIET, 4)] {
        let verdicts = runs(machine, seed, 200, 1.02f64.ln());
        let found = share(&verdicts, &[Verdict::Slower]);
        assert!(found >= 0.9, "{found}");
    }
}

#[test]
fn looking_often_finds_nothing_that_is_not_there() {
    let mut rng = Rng::new(5);
    let total = 150;
    let wrong = (0..total)
        .filter(|_| {
            let mut rounds = Vec::new();
            (1..=38).any(|number| {
                rounds.push(BUSY.round(&mut rng, 0.0));
                is_interim_analysis(number)
                    && matches!(
                        verdict(&rounds, interim_share(number)),
                        Verdict::Faster | Verdict::Slower
                    )
            })
        })
        .count();
    assert!(
        wrong as f64 <= 0.05 * f64::from(total),
        "{wrong} of {total}"
    );
}

#[test]
fn without_leaving_disturbed_turns_out_the_machine_is_measured() {
    // What the choice of turns is for: the same machine, all turns taken, and two equal stacks of
    // which one suffers more from its neighbour.
    let mut rng = Rng::new(6);
    let mut ratios = Vec::new();
    for _ in 0..30 {
        let rounds: Vec<_> = (0..30).map(|_| BUSY.round(&mut rng, 0.0)).collect();
        let mean = |side: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            let of = |turns: &Vec<(f64, f64)>| turns.iter().map(side).sum::<f64>() / 20.0;
            rounds.iter().map(|turns| of(turns).exp()).collect()
        };
        let found = compare_runs(&mean(|t| t.0), &mean(|t| t.1), 0.95);
        ratios.push(found.map_or(1.0, |found| found.ratio));
    }
    let mean = ratios.iter().sum::<f64>() / 30.0;
    assert!(mean > 1.02, "{mean}");
}
