use netbench_model::{
    Case, Distribution, Held, Measure, Scenario, SliceFigures, StackName, SuiteMeasured,
    SuiteSample, Unit,
};
use netbench_stats::{Idle, LOOPS, QuietLevel, SideTurns, median};

use super::{StackFigures, system_calls};

/// The multiple of the median above which operations are outliers.
const OUTLIER: f64 = 3.0;

/// Returns a stack's figures in a case; `None` if it has no figures.
pub(super) fn figures(
    case: &Case,
    stack: &StackName,
    samples: &[SuiteSample],
) -> Option<StackFigures> {
    let measured = measured(case.scenario, stack, samples);
    let measured: Vec<&SuiteMeasured> = measured.map(|(_, m)| m).collect();
    let by_round = rounds(case, &measured);
    let low = median(&by_round)?;
    let all = Distribution::merged(measured.iter().filter_map(|m| m.wall.get(&case.measure)));
    let cpu = Distribution::merged(measured.iter().filter_map(|m| m.cpu.get(&case.measure)));
    let [p5, p50, p95, p99] =
        [0.05, 0.5, 0.95, 0.99].map(|p| all.quantile_ns(p).map(|ns| ns as f64));
    let slices = measured.iter().flat_map(|m| &m.slices);
    let firsts = slices.filter_map(|slice| slice.first_ns.get(&case.measure).copied());
    let per_second = (case.unit() == Unit::Nanoseconds).then(|| 1e9 / low);
    let bytes = case.bytes_per_operation().map(|bytes| bytes as f64);
    Some(StackFigures {
        stack: stack.clone(),
        rounds: measured.len() as u64,
        operations: all.count,
        low,
        per_second,
        bytes_per_second: per_second.zip(bytes).map(|(rate, bytes)| rate * bytes),
        after_pause: median(&firsts.collect::<Vec<_>>()),
        mean: all.mean_ns(),
        p5,
        p50,
        p95,
        p99,
        max: (all.count > 0).then_some(all.max_ns as f64),
        mad: p50.and_then(|p50| mad(&all, p50)),
        outliers: p50.map_or(0, |p50| outliers(&all, p50)),
        cpu_p50: cpu.quantile_ns(0.5).map(|ns| ns as f64),
        page_faults: page_faults(&measured),
        system_calls: system_calls::figures(&measured),
        by_round,
        negotiated: measured.iter().find_map(|m| m.client.clone()),
    })
}

/// Returns the number of page faults of an operation; `None` if no turn counted them.
fn page_faults(measured: &[&SuiteMeasured]) -> Option<f64> {
    let slices = measured.iter().flat_map(|m| &m.slices);
    let counted = slices.filter_map(|slice| {
        let operations = u64::from(slice.operations + slice.warm_up) * u64::from(slice.batch);
        Some((slice.minor_faults?, operations))
    });
    let (faults, operations) = counted.fold((0, 0), |(faults, all), (of, operations)| {
        (faults + of, all + operations)
    });
    (operations > 0).then(|| faults as f64 / operations as f64)
}

/// Returns the rounds of a scenario for which a stack has figures.
pub(super) fn measured<'a>(
    scenario: Scenario,
    stack: &'a StackName,
    samples: &'a [SuiteSample],
) -> impl Iterator<Item = (u32, &'a SuiteMeasured)> {
    samples
        .iter()
        .filter(move |sample| sample.scenario == scenario && sample.stack == *stack)
        .filter_map(|sample| Some((sample.round, sample.outcome.ok()?)))
}

/// Returns the only figure of a trial that is not timed in turns.
pub(super) fn whole(case: &Case, measured: &SuiteMeasured) -> Option<f64> {
    let held = measured.held.as_ref();
    held.and_then(|held| held_figure(held, case.measure))
        .or_else(|| measured.instructions.get(&case.measure).copied())
}

/// Returns the figure of one session that belongs to a measure, from the figures of held sessions.
fn held_figure(held: &Held, measure: Measure) -> Option<f64> {
    let sessions = f64::from(held.sessions.max(1));
    Some(match measure {
        Measure::Peak => held.peak_bytes as f64,
        // An allocator with room for all sessions does not show the memory of one.
        Measure::PerSession if held.after_bytes <= held.before_bytes => return None,
        Measure::PerSession => (held.after_bytes - held.before_bytes) as f64 / sessions,
        Measure::Heap => held.heap?.held_bytes as f64 / sessions,
        // Half of the sessions belong to one side.
        Measure::HeapOfClient => 2.0 * (held.heap?.client_bytes? as f64 / sessions),
        Measure::HeapOfServer => 2.0 * (held.heap?.server_bytes? as f64 / sessions),
        Measure::Allocations => held.heap?.allocations as f64 / sessions,
        _ => return None,
    })
}

/// Returns a stack's turns in a timed case, or `None` in any other. `idle` has the times of the loops on an idle
/// machine.
pub(super) fn side_turns<'a>(
    case: &Case,
    stack: &StackName,
    samples: &[SuiteSample],
    idle: &'a [Idle],
) -> Option<SideTurns<'a>> {
    let measured = measured(case.scenario, stack, samples);
    let measured: Vec<&SuiteMeasured> = measured.map(|(_, m)| m).collect();
    let slices = measured.iter().flat_map(|m| &m.slices);
    let mut operations: Vec<u32> = slices.clone().map(|slice| slice.operations).collect();
    operations.sort_unstable();
    let level = level(&measured);
    let quiet = level.map(|level| slices.filter(|slice| is_quiet(&level, slice)).count() as u64);
    Some(SideTurns {
        operations: *operations.get(operations.len() / 2)?,
        quiet,
        level,
        idle,
    })
}

/// Returns, for each round, the median of the turns in which the machine was quiet, or of all turns if no reference
/// loops ran; rounds without such a turn have none. If no turn of any round was quiet, the medians are over all turns.
fn rounds(case: &Case, measured: &[&SuiteMeasured]) -> Vec<f64> {
    if measured.iter().any(|m| m.slices.is_empty()) {
        return measured.iter().filter_map(|m| whole(case, m)).collect();
    }
    let [quiet, all]: [Vec<f64>; 2] = [level(measured), None].map(|level| {
        let rounds = measured.iter().map(|m| {
            let slices = m.slices.iter();
            let quiet = slices.filter(|slice| level.is_none_or(|level| is_quiet(&level, slice)));
            let lows = quiet.filter_map(|slice| slice.low_ns.get(&case.measure).copied());
            median(&lows.collect::<Vec<_>>())
        });
        rounds.flatten().collect()
    });
    if quiet.is_empty() { all } else { quiet }
}

/// Returns the level of a trial's reference loops, or `None` if a turn has no loops.
fn level(measured: &[&SuiteMeasured]) -> Option<QuietLevel> {
    let slices = measured.iter().flat_map(|m| &m.slices);
    let references: Option<Vec<_>> = slices.map(reference_ns).collect();
    QuietLevel::of(&references?)
}

/// Returns a turn's reference loops, in their order.
pub(super) fn reference_ns(slice: &SliceFigures) -> Option<[f64; LOOPS]> {
    let figures = slice.reference?;
    Some([figures.integer_ns, figures.aes_ns, figures.memory_ns])
}

fn is_quiet(level: &QuietLevel, slice: &SliceFigures) -> bool {
    reference_ns(slice).is_none_or(|turn| level.is_quiet(&turn))
}

fn mad(all: &Distribution, p50: f64) -> Option<f64> {
    let mut deviations: Vec<(f64, u64)> = all
        .histogram
        .iter()
        .map(|(ns, times)| ((*ns as f64 - p50).abs(), *times))
        .collect();
    deviations.sort_by(|x, y| x.0.total_cmp(&y.0));
    let middle = all.count.div_ceil(2);
    let mut passed = 0;
    deviations.into_iter().find_map(|(deviation, times)| {
        passed += times;
        (passed >= middle).then_some(deviation)
    })
}

fn outliers(all: &Distribution, p50: f64) -> u64 {
    let counted = all.histogram.iter();
    let counted = counted.filter(|(ns, _)| *ns as f64 > OUTLIER * p50);
    counted.map(|(_, times)| times).sum()
}
