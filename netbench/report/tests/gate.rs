//! The error rate of the gate of `compare`, by simulation: equal runs that it calls regressed, and a true change
//! that it finds as often as it states.

use netbench_model::{ConnectManifest, Outcome, Phase, Sample, StackName};
use netbench_report::{Gate, Judged, Power, compare_runs_of_connect};
use netbench_stats::Rng;

use crate::support::fixture::Fixture;

const COMPARISONS: u32 = 400;
const THRESHOLD: f64 = 0.05;

/// The time of an undisturbed connection.
const USUAL_NS: f64 = 200e6;

#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Each round differs by 3 %, and one of twenty loses a packet.
    Losses,
    /// Each round differs by 3 %, and resembles the preceding one: their correlation is 0.7.
    Drift,
}

impl Noise {
    /// Returns the totals of the rounds of a run.
    fn rounds(self, rounds: u32, more_ns: f64, rng: &mut Rng) -> Vec<f64> {
        const CORRELATION: f64 = 0.7;
        let mut state = rng.normal();
        let rounds = (0..rounds).map(|_| match self {
            Self::Losses => {
                let lost = if rng.below(20) == 0 { 200e6 } else { 0.0 };
                (USUAL_NS + more_ns) * (0.03 * rng.normal()).exp() + lost
            }
            Self::Drift => {
                let new = (1.0 - CORRELATION * CORRELATION).sqrt() * rng.normal();
                state = CORRELATION * state + new;
                (USUAL_NS + more_ns) * (0.03 * state).exp()
            }
        });
        rounds.collect()
    }
}

struct Outcomes {
    regressed: u32,
    passed: u32,
    /// The average stated share of regressed runs that are found.
    stated: f64,
    /// The average stated share of equal runs that pass.
    stated_pass: f64,
    /// The chance that an interval of the rows does not contain the true ratio.
    chance: f64,
}

fn simulate(noise: Noise, more_ns: f64, seed: u64) -> Outcomes {
    const ROUNDS: u32 = 16;
    let fixture = Fixture {
        rounds: ROUNDS,
        ..Fixture::clean()
    };
    let stack = StackName::new("openssl");
    let mut manifest = fixture.manifest();
    manifest
        .plan
        .sites
        .retain(|site| site.name() == "near.example");
    manifest.plan.stacks.truncate(1);
    let mut samples = fixture.samples();
    samples.retain(|sample| sample.site == "near.example" && sample.stack == stack);
    let mut rng = Rng::new(seed);
    let mut found = Outcomes {
        regressed: 0,
        passed: 0,
        stated: 0.0,
        stated_pass: 0.0,
        chance: 0.0,
    };
    for _ in 0..COMPARISONS {
        let before = timed(&samples, &noise.rounds(ROUNDS, 0.0, &mut rng));
        let after = timed(&samples, &noise.rounds(ROUNDS, more_ns, &mut rng));
        let (gate, judged, level) = compare(&manifest, &before, &after);
        found.regressed += u32::from(gate == Gate::Regressed);
        found.passed += u32::from(gate == Gate::Passed);
        let Power {
            change,
            found: stated,
            equal_pass,
        } = judged.power.unwrap();
        assert!((change - 2.0 * THRESHOLD).abs() < 1e-9);
        found.stated += stated / f64::from(COMPARISONS);
        found.stated_pass += equal_pass / f64::from(COMPARISONS);
        found.chance = 1.0 - level;
    }
    found
}

fn timed(samples: &[Sample], totals: &[f64]) -> Vec<Sample> {
    let mut samples = samples.to_vec();
    for (sample, total) in samples.iter_mut().zip(totals) {
        let Outcome::Ok(measured) = &mut sample.outcome else {
            panic!("{sample:?}");
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time"
        )]
        let total = *total as u64;
        measured.phases.total_ns = total;
    }
    samples
}

fn compare(manifest: &ConnectManifest, before: &[Sample], after: &[Sample]) -> (Gate, Judged, f64) {
    let found =
        compare_runs_of_connect((manifest, before), (manifest, after), None, Some(THRESHOLD));
    let mut phases = found.phases.iter();
    let total = phases.find(|row| row.key.phase == Phase::Total).unwrap();
    let level = total.change.interval.unwrap().level;
    (found.gate.result().unwrap(), total.judged, level)
}

#[test]
fn equal_runs_regress_no_more_often_than_the_level_allows() {
    for noise in [Noise::Losses, Noise::Drift] {
        let found = simulate(noise, 0.0, 400);
        let expected = found.chance * f64::from(COMPARISONS);
        let most = expected + 3.0 * expected.sqrt();
        println!(
            "{noise:?}: {} of {COMPARISONS}, at most {most:.1}",
            found.regressed
        );
        assert!(
            f64::from(found.regressed) <= most,
            "{noise:?}: {}",
            found.regressed
        );
        assert_as_stated(noise, "passed", found.passed, found.stated_pass);
    }
}

/// Checks that a share of the comparisons is within five points of the stated one.
fn assert_as_stated(noise: Noise, what: &str, found: u32, stated: f64) {
    let share = f64::from(found) / f64::from(COMPARISONS);
    println!("{noise:?}: {what} {share:.3}, stated {stated:.3}");
    assert!(
        (share - stated).abs() < 0.05,
        "{noise:?}: {what} {share} {stated}"
    );
}

#[test]
fn a_true_change_is_found_as_often_as_is_stated() {
    for noise in [Noise::Losses, Noise::Drift] {
        // 10 %: the change whose power is stated.
        let found = simulate(noise, 20e6, 401);
        assert_as_stated(noise, "found", found.regressed, found.stated);
    }
}
