use std::{collections::BTreeMap, time::Duration};

use netbench_model::{
    Distribution, LayoutRecord, Measure, Scenario, SliceFigures, SuiteMeasured, SuiteOutcome,
};
use netbench_protocol::{Clocks, Prepared, Slice, Sliced};
use netbench_stats::{SplitMix, mix, quantile_sorted};

use super::{
    SuiteTrials,
    proof::prove_slice,
    system_calls::{self, COUNTED_ROUNDS},
    turn::{CALIBRATION, TurnSize, TurnTime},
    workers::{Lost, Ready, TURN_LIMIT, ready},
};
use crate::{Launch, Layout};

/// The quantile of a turn's operations that verdicts rest on. On a shared machine every disturbance makes an
/// operation longer, so that low quantiles vary less than medians and means, which are recorded as well.
const LOW: f64 = 0.1;

/// The interval of the turns that use the CPU clock instead of the wall clock.
const CPU_EVERY: u64 = 5;

/// The minimum number of turns of a trial.
pub const MIN_TURNS: u32 = 5;

/// The time of a turn of many threads: starting them takes a tenth of a millisecond.
pub const THREADS_TURN: Duration = Duration::from_millis(40);

/// Runs one scenario on every stack, in turns. Returns the outcomes in the order of the plan's stacks, or `None` if
/// the run was stopped before the end.
pub(super) fn trial(
    trials: &SuiteTrials<'_>,
    scenario: &Scenario,
    round: u32,
    layout_seed: u64,
    random: &mut SplitMix,
) -> Option<Vec<SuiteOutcome>> {
    let threads = scenario.threads().is_some();
    let numbers = (0..).take(trials.plan.stacks.len());
    let launches = numbers.map(|number: u64| Launch {
        core: trials.plan.core().filter(|_| !threads),
        layout: match trials.plan.layout {
            LayoutRecord::Fixed => Layout::Fixed,
            LayoutRecord::Random => Layout::System,
            LayoutRecord::Varied => Layout::Varied(mix(layout_seed ^ number)),
        },
        ..trials.workers.launch(None)
    });
    let launches: Vec<Launch<'_>> = launches.collect();
    let mut arms = Vec::new();
    for (stack, launch) in trials.plan.stacks.iter().zip(&launches) {
        arms.push(Arm::start(ready(trials, stack, scenario, launch)));
        if trials.is_stopped() {
            return None;
        }
    }
    // Each stack's first turn does not count: caches, lazily made tables, the first pages of the heap. It
    // measures the time of an operation.
    let calibration = TurnSize::Time(if threads {
        trials.plan.slice().max(THREADS_TURN)
    } else {
        CALIBRATION
    });
    let times: Vec<TurnTime> = arms
        .iter_mut()
        .filter_map(|arm| arm.calibrate(scenario, calibration))
        .collect();
    let size = if threads {
        calibration
    } else {
        TurnSize::of_operations(&times, trials.plan.slice())
    };
    let turns = trials.plan.trial().as_micros() / size.longest().as_micros().max(1);
    let turns = u64::try_from(turns)
        .unwrap_or(u64::MAX)
        .max(MIN_TURNS.into());
    let mut order: Vec<usize> = (0..arms.len()).collect();
    for number in 0..turns {
        let clocks = if number % CPU_EVERY == CPU_EVERY - 1 && !threads {
            Clocks::Cpu
        } else {
            Clocks::Wall
        };
        random.shuffle(&mut order);
        for at in &order {
            if trials.is_stopped() {
                return None;
            }
            arms[*at].turn(scenario, size, clocks);
        }
    }
    let mut outcomes: Vec<SuiteOutcome> = arms.into_iter().map(Arm::outcome).collect();
    if round < COUNTED_ROUNDS && !threads {
        let stacks = trials.plan.stacks.iter().zip(&launches).zip(&mut outcomes);
        for ((stack, launch), outcome) in stacks {
            if trials.is_stopped() {
                return None;
            }
            if let SuiteOutcome::Ok(measured) = outcome {
                let calls = system_calls::count(trials, stack, scenario, launch);
                measured.system_calls = Some(calls);
            }
        }
    }
    Some(outcomes)
}

/// One stack's part in a trial.
struct Arm {
    ready: Result<Ready, Lost>,
    /// The figures so far, without the distributions of timings.
    measured: SuiteMeasured,
    wall: BTreeMap<Measure, Vec<u64>>,
    cpu: BTreeMap<Measure, Vec<u64>>,
}

impl Arm {
    fn start(ready: Result<Ready, Lost>) -> Self {
        let prepared = ready.as_ref().map(|ready| ready.prepared.clone());
        let Prepared { client, server, .. } = prepared.unwrap_or_default();
        Self {
            ready,
            measured: SuiteMeasured {
                client,
                server,
                ..SuiteMeasured::default()
            },
            wall: BTreeMap::new(),
            cpu: BTreeMap::new(),
        }
    }

    /// Performs a turn that is not recorded. Returns `None` if the stack is lost.
    fn calibrate(&mut self, scenario: &Scenario, size: TurnSize) -> Option<TurnTime> {
        self.sliced(scenario, size, Clocks::Wall)
            .map(|sliced| TurnTime::of(&sliced))
    }

    fn turn(&mut self, scenario: &Scenario, size: TurnSize, clocks: Clocks) {
        if let Some(sliced) = self.sliced(scenario, size, clocks) {
            self.keep(sliced, size, clocks);
        }
    }

    fn sliced(&mut self, scenario: &Scenario, size: TurnSize, clocks: Clocks) -> Option<Sliced> {
        let Ok(ready) = &mut self.ready else {
            return None;
        };
        let slice: Slice = size.request(clocks);
        let sliced = ready.slice(slice, size.longest() + TURN_LIMIT);
        let proved = sliced.and_then(|sliced| {
            prove_slice(scenario, &slice, &sliced)?;
            Ok(sliced)
        });
        match proved {
            Ok(sliced) => Some(sliced),
            Err(lost) => {
                self.ready = Err(lost);
                None
            }
        }
    }

    fn keep(&mut self, sliced: Sliced, size: TurnSize, clocks: Clocks) {
        let warm_up = size.warm_up();
        let measured = &mut self.measured;
        measured.handshakes += u64::from(sliced.handshakes);
        measured.client_resumed += u64::from(sliced.client_resumed);
        measured.server_resumed += u64::from(sliced.server_resumed);
        let timings_ns = match clocks {
            Clocks::Wall => {
                measured.slices.push(figures(&sliced, warm_up));
                &mut self.wall
            }
            Clocks::Cpu => &mut self.cpu,
        };
        for (measure, timings) in sliced.timings_ns {
            let warm = timings.into_iter().skip(warm_up as usize);
            let each = warm.map(|ns| (ns + u64::from(sliced.batch) / 2) / u64::from(sliced.batch));
            timings_ns.entry(measure).or_default().extend(each);
        }
    }

    fn outcome(self) -> SuiteOutcome {
        match self.ready {
            Err(lost) => lost.outcome(),
            Ok(_) => SuiteOutcome::Ok(Box::new(SuiteMeasured {
                wall: distributions(self.wall),
                cpu: distributions(self.cpu),
                ..self.measured
            })),
        }
    }
}

fn distributions(timings: BTreeMap<Measure, Vec<u64>>) -> BTreeMap<Measure, Distribution> {
    timings
        .into_iter()
        .map(|(measure, ns)| (measure, Distribution::of_ns(ns)))
        .collect()
}

fn figures(sliced: &Sliced, warm_up: u32) -> SliceFigures {
    let batch = f64::from(sliced.batch);
    let mut figures = SliceFigures {
        operations: sliced.operations.saturating_sub(warm_up),
        warm_up,
        batch: sliced.batch,
        first_ns: BTreeMap::new(),
        low_ns: BTreeMap::new(),
        median_ns: BTreeMap::new(),
        mean_ns: BTreeMap::new(),
        reference: sliced.reference,
        minor_faults: sliced.minor_faults,
    };
    for (measure, timings) in &sliced.timings_ns {
        let first = timings.first().filter(|_| warm_up > 0 && sliced.batch == 1);
        figures
            .first_ns
            .extend(first.map(|ns| (*measure, *ns as f64)));
        let warm = timings.iter().skip(warm_up as usize);
        let mut sorted: Vec<f64> = warm.map(|ns| *ns as f64 / batch).collect();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / sorted.len().max(1) as f64;
        for (kept, figure) in [
            (&mut figures.low_ns, quantile_sorted(&sorted, LOW)),
            (&mut figures.median_ns, quantile_sorted(&sorted, 0.5)),
            (&mut figures.mean_ns, Some(mean)),
        ] {
            // A tenth of a nanosecond is finer than the clock's resolution.
            kept.extend(figure.map(|ns| (*measure, (ns * 10.0).round() / 10.0)));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_warm_a_turn_up_are_in_no_figure_but_the_first() {
        let warm = (0..10).map(|at| 9_000 - 100 * at);
        let measured = (0..20).map(|at| 1_000 + at);
        let sliced = Sliced {
            operations: 30,
            timings_ns: BTreeMap::from([(Measure::Client, warm.chain(measured).collect())]),
            ..Sliced::default()
        };
        let found = figures(&sliced, 10);
        assert_eq!((found.operations, found.warm_up, found.batch), (20, 10, 1));
        assert_eq!(found.first_ns[&Measure::Client], 9_000.0);
        assert_eq!(found.low_ns[&Measure::Client], 1_001.9);
        assert_eq!(found.mean_ns[&Measure::Client], 1_009.5);
    }

    #[test]
    fn the_time_of_a_batch_is_divided_by_its_operations() {
        let sliced = Sliced {
            operations: 12,
            batch: 16,
            timings_ns: BTreeMap::from([(Measure::Whole, vec![11_240; 12])]),
            ..Sliced::default()
        };
        let found = figures(&sliced, 10);
        assert_eq!(found.low_ns[&Measure::Whole], 702.5);
        assert!(found.first_ns.is_empty());
    }
}
