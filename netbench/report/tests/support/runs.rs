//! Runs that never were, as rows of tables, each with the one right verdict: `connect`, the gate of `compare`, and the suite.

use netbench_model::{
    Condition, ConnectManifest, IdleReference, Outcome, Sample, SuiteManifest, SuiteSample,
    compat::Judgement,
};
use netbench_report::{
    Answer::{self, No, Open, WithLosses, Yes},
    Gate,
};
use netbench_stats::{
    Rng, UndecidedReason,
    Verdict::{self, Faster, NotJudged, Same, Slower, Undecided},
};

use super::{fixture::Fixture, suite_made, whole::MadeCase};

pub const CLEAN: &[Condition] = &[Condition::Clean];
pub const COLD: &[Condition] = &[Condition::Cold];
pub const TWO: &[Condition] = &[Condition::Clean, Condition::Resumed];

/// Rounds, noise of a round, the new stack's time in percent of the old one's, conditions, the verdict on the total of
/// each condition, and the answer to the last question: whether it is fast enough.
pub type Row = (
    u32,
    f64,
    f64,
    &'static [Condition],
    &'static [Verdict],
    Answer,
);

pub const CONNECT: &[Row] = &[
    (20, 0.001, 100.0, CLEAN, &[Same], Yes),
    (20, 0.001, 80.0, CLEAN, &[Faster], Yes),
    (20, 0.001, 103.0, CLEAN, &[Slower], Yes),
    (20, 0.001, 120.0, CLEAN, &[Slower], No),
    (20, 0.02, 100.5, CLEAN, &[Undecided], Yes),
    (20, 0.5, 100.0, CLEAN, &[Undecided], Open),
    (20, 0.5, 105.0, CLEAN, &[Undecided], Open),
    (2, 0.001, 100.0, CLEAN, &[NotJudged], Open),
    (2, 0.001, 300.0, CLEAN, &[NotJudged], Open),
    (20, 0.001, 120.0, TWO, &[Slower, Slower], No),
    (20, 0.5, 100.0, TWO, &[Undecided, Undecided], Open),
    (20, 0.001, 100.0, COLD, &[Same], Open),
    (20, 0.5, 100.0, COLD, &[Undecided], Open),
];

/// A run of connect to `sites`, with the figures of the row.
pub fn connect(row: &Row, sites: &[&str], seed: u64) -> (ConnectManifest, Vec<Sample>) {
    let (rounds, noise, percent, conditions, ..) = *row;
    let (manifest, mut samples) = connect_to(rounds, conditions, sites);
    let mut rng = Rng::new(seed);
    set_totals(&mut samples, |sample| {
        let factor = match sample.stack.as_str() {
            "openssl" => 1.0,
            _ => percent / 100.0,
        };
        50e6 * factor * (noise * rng.normal()).exp()
    });
    (manifest, samples)
}

/// A run of the given number of rounds in which all connections to the sites succeed.
pub fn connect_to(
    rounds: u32,
    conditions: &[Condition],
    sites: &[&str],
) -> (ConnectManifest, Vec<Sample>) {
    let fixture = Fixture {
        rounds,
        conditions: conditions.to_vec(),
        ..Fixture::default()
    };
    let (mut manifest, mut samples) = (fixture.manifest(), fixture.samples());
    let planned = &mut manifest.plan.sites;
    planned.retain(|site| sites.contains(&site.name().as_str()));
    samples.retain(|sample| sites.contains(&sample.site.as_str()));
    (manifest, samples)
}

/// Gives each connection this total time, in nanoseconds.
pub fn set_totals(samples: &mut [Sample], mut total_ns: impl FnMut(&Sample) -> f64) {
    for sample in samples {
        let ns = total_ns(sample) as u64;
        let Outcome::Ok(measured) = &mut sample.outcome else {
            panic!("{sample:?}");
        };
        measured.phases.total_ns = ns;
    }
}

/// Milliseconds of wall clock that the first connection of a process takes more with the new stack than with the old one,
/// rounds, the answer to the last question, and its words.
pub const FIRST: [(f64, u32, Answer, &str); 7] = [
    (0.0, 20, Yes, "takes the same time"),
    (0.4, 20, Yes, "takes 400 µs longer"),
    (-2.0, 20, Yes, "takes 2.00 ms less"),
    (64.0, 20, Yes, "takes 64.0 ms longer"),
    (100.0, 20, Yes, "takes 100 ms longer"),
    (150.0, 20, WithLosses, "takes 150 ms longer"),
    (64.0, 5, Open, "takes 64.0 ms longer"),
];

/// The run of a row of [`FIRST`], to one site, without noise.
pub fn first(row: &(f64, u32, Answer, &str)) -> (ConnectManifest, Vec<Sample>) {
    let (more_ms, rounds, ..) = *row;
    let (manifest, mut samples) = connect_to(
        rounds,
        &[Condition::Clean, Condition::Cold],
        &["near.example"],
    );
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome {
            measured.phases.connector_ns = Some(1_000_000);
        }
    }
    set_totals(&mut samples, |sample| {
        let is_first = sample.condition == Condition::Cold;
        let more_ms = match sample.stack.as_str() {
            "rustls-ring" if is_first => 10.0 + more_ms,
            _ if is_first => 10.0,
            _ => 0.0,
        };
        50e6 + more_ms * 1e6
    });
    (manifest, samples)
}

/// Rounds, noise of a round, factor of the other run in percent, threshold in percent, outcome.
pub const GATES: &[GateRow] = &[
    // Equal runs.
    (12, 0.001, 100.0, 5.0, Gate::Passed),
    (12, 0.005, 100.0, 5.0, Gate::Passed),
    (12, 0.001, 100.0, 2.0, Gate::Passed),
    (12, 0.5, 100.0, 5.0, Gate::CannotTell),
    (12, 0.3, 100.0, 5.0, Gate::CannotTell),
    (3, 0.001, 100.0, 5.0, Gate::CannotTell),
    (1, 0.001, 100.0, 5.0, Gate::CannotTell),
    // The other run is slower.
    (12, 0.001, 120.0, 5.0, Gate::Regressed),
    (12, 0.005, 120.0, 5.0, Gate::Regressed),
    (12, 0.001, 110.0, 5.0, Gate::Regressed),
    (12, 0.001, 110.0, 20.0, Gate::Passed),
    (12, 0.5, 120.0, 20.0, Gate::CannotTell),
    (3, 0.001, 300.0, 5.0, Gate::CannotTell),
    // It is faster, or seems to be.
    (12, 0.001, 65.0, 5.0, Gate::Passed),
    (12, 2.0, 65.0, 5.0, Gate::CannotTell),
    (3, 0.001, 65.0, 5.0, Gate::CannotTell),
];

/// The new stack's time as a ratio of the old one's, rounds, share of disturbed turns, threshold, outcome.
pub const STACKS: &[StackRow] = &[
    (1.0, 12, 0, 0.05, Gate::Passed),
    (0.5, 12, 0, 0.05, Gate::Passed),
    (1.02, 12, 0, 0.05, Gate::Passed),
    (1.2, 12, 0, 0.05, Gate::Regressed),
    (2.0, 12, 0, 0.05, Gate::Regressed),
    (1.2, 12, 0, 0.5, Gate::Passed),
    (1.0, 1, 0, 0.05, Gate::CannotTell),
    (0.5, 1, 0, 0.05, Gate::CannotTell),
    // Never quiet: no sample shows the time on a quiet machine.
    (0.5, 12, 100, 0.05, Gate::CannotTell),
];

/// A row of [`GATES`].
pub type GateRow = (u32, f64, f64, f64, Gate);

/// The two runs of a row of [`GATES`] to the first of three sites, as many as said.
pub fn gate(row: &GateRow, sites: usize, seed: u64) -> (ConnectManifest, [Vec<Sample>; 2]) {
    let (rounds, noise, percent, ..) = *row;
    let sites = &["near.example", "middle.example", "far.example"][..sites];
    let (manifest, samples) = connect_to(rounds, &[Condition::Clean, Condition::Resumed], sites);
    let mut rng = Rng::new(seed);
    let runs = [1.0, percent / 100.0].map(|factor| {
        let mut samples = samples.clone();
        set_totals(&mut samples, |_| {
            50e6 * factor * (noise * rng.normal()).exp()
        });
        samples
    });
    (manifest, runs)
}

/// A row of [`STACKS`].
pub type StackRow = (f64, u32, u32, f64, Gate);

/// The run of a row of [`STACKS`].
pub fn stacks(row: &StackRow) -> (SuiteManifest, Vec<SuiteSample>) {
    let (ratio, rounds, disturbed, ..) = *row;
    let fixture = suite_made::Fixture {
        ratio,
        rounds,
        disturbed,
        ..suite_made::Fixture::default()
    };
    let (mut manifest, mut samples) = (fixture.manifest(), fixture.samples());
    // Trials that fail or are unsupported are not the question here.
    manifest.plan.idle = Some(IDLE);
    let scenarios = &mut manifest.plan.scenarios;
    scenarios.retain(|scenario| {
        let name = scenario.to_string();
        name.starts_with("bulk") || name.starts_with("handshake")
    });
    samples.retain(|sample| scenarios.contains(&sample.scenario));
    (manifest, samples)
}

/// The reference loops of the machine at rest.
pub const IDLE: IdleReference = IdleReference {
    integer_ns: 2_600.0,
    aes_ns: 2_100.0,
    memory_ns: 1_500.0,
};

/// The outcome of the new stack with a second server, whether both stacks have the same outcome, and the number of failing
/// tests.
pub const COMPAT: [(Judgement, bool, usize); 5] = [
    (Judgement::Right, true, 0),
    (Judgement::FalseReject, false, 1),
    (Judgement::FalseAccept, false, 1),
    (Judgement::Crashed, false, 1),
    (Judgement::Hung, false, 1),
];

/// Cases of a run of the suite, the answer, and words of its reason.
pub fn suite_rows() -> Vec<(Vec<MadeCase>, Answer, &'static str)> {
    let fast = MadeCase::handshake(0.5, 0.52);
    let slow = MadeCase::handshake(1.2, 1.3);
    let receive = MadeCase::receive(0.9, 0.92);
    let send = MadeCase::send(0.9, 0.92);
    let [fast_unquiet, slow_unquiet, receive_unquiet, send_unquiet] =
        [fast, slow, receive, MadeCase::send(1.5, 1.9)]
            .map(|case| case.held_back(UndecidedReason::NeverQuiet));
    let [fast_few, receive_few] =
        [fast, receive].map(|case| case.held_back(UndecidedReason::FewQuietTurns));
    vec![
        (vec![fast], Yes, "In no part"),
        (vec![fast, send, receive], Yes, "In no part"),
        (vec![slow], No, "handshake +25 %"),
        (vec![slow, receive], No, "handshake +25 %"),
        (
            vec![fast, MadeCase::verify(1.2, 1.3)],
            WithLosses,
            "verify +25 %",
        ),
        (
            vec![slow, MadeCase::receive(1.2, 1.3)],
            No,
            "handshake +25 %, bulk received +25 %",
        ),
        // The sending cases have a mean as the others do.
        (
            vec![fast, MadeCase::send(1.2, 1.3), receive],
            No,
            "old: bulk sent +25 %.",
        ),
        (
            vec![fast, MadeCase::send(0.0, 1.7), receive],
            Open,
            "Not decided: sending of data in memory: 1 case with too few rounds",
        ),
        (
            vec![fast, send, send_unquiet, receive],
            Open,
            "Not decided: sending of data in memory: 1 case on a machine that was never quiet, which more rounds do not change",
        ),
        (
            vec![fast_unquiet],
            Open,
            "No case was decided: 1 case on a machine that was never quiet, which more rounds do not change.",
        ),
        (
            vec![fast_few],
            Open,
            "No case was decided: 1 case with too few quiet turns",
        ),
        (
            vec![fast_unquiet, receive_few, MadeCase::send(0.0, 0.5)],
            Open,
            "decided: 1 case on a machine that was never quiet, which more rounds do not change; 1 case with too few quiet \
             turns: more rounds on a quieter machine add to them; 1 case with too few rounds: more rounds decide.",
        ),
        (
            vec![slow_unquiet, receive],
            Open,
            "Not decided: client's side of a handshake in memory: 1 case on a machine that was never quiet",
        ),
        (
            vec![slow_unquiet, receive, receive_unquiet],
            Open,
            "No part of the suite has figures of all cases: 2 cases on a machine that was never quiet",
        ),
        (
            vec![MadeCase::handshake(0.9, 1.2)],
            Open,
            "No case was decided: 1 case with a wide interval: more rounds decide.",
        ),
        (
            vec![MadeCase::handshake(0.0, 0.5)],
            Open,
            "No case was decided: 1 case with too few rounds: more rounds decide.",
        ),
    ]
}
