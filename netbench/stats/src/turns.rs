use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CASE_MARGIN, Change, Idle, Interval, LOOPS, Pair, QuietLevel, Resampling, Verdict, compare,
    median,
};

/// Minimum number of quiet pairs of turns for a verdict. With seven to nine, ratios on a busy machine were wrong by
/// seven percent; with twenty, by a third of a percent.
pub const FEWEST_QUIET: u64 = 20;

/// Minimum number of measured operations of a turn for a verdict. The 10th percentile of three or four operations on
/// caches that another stack left differs from that of many: on one machine the factor between two stacks was 2.26 with
/// two and three operations, and 2.06 to 2.09 with more than a hundred.
pub const FEWEST_OPERATIONS: u32 = 20;

/// One side's turn: figures over its operations, and times of the reference loops between them. All times are in
/// nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Number of operations of the figures.
    pub operations: u32,
    /// The first operation after the other stacks' turns, if recorded. The other figures exclude it.
    pub first_ns: Option<f64>,
    /// The 10th percentile of the operations.
    pub low_ns: f64,
    /// The median of the operations, if recorded.
    pub median_ns: Option<f64>,
    /// The mean of the operations, if recorded.
    pub mean_ns: Option<f64>,
    /// Times of the reference loops, if they ran.
    pub reference_ns: Option<[f64; LOOPS]>,
}

/// A turn of A and one of B, taken in direct succession.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnPair {
    /// The round, which identifies the pairs of the same processes.
    pub round: u32,
    /// The turn of A.
    pub a: Turn,
    /// The turn of B.
    pub b: Turn,
}

/// The ratio of two stacks over the turns that the reference loops selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnsRatio {
    /// The ratio of the 10th percentiles over quiet pairs, with the verdict. If no pair was quiet, or no reference
    /// loops ran, the ratio over all pairs.
    pub low: Change,
    /// The ratio of the 10th percentiles over all pairs.
    pub all_turns: f64,
    /// The ratio of the medians over the pairs of `low`, if recorded.
    pub median: Option<OtherFigure>,
    /// The ratio of the means over the pairs of `low`, if recorded.
    pub mean: Option<OtherFigure>,
    /// The ratio of the turns' first operations over the pairs of `low`, if recorded. They measure another condition,
    /// in which other work has emptied the caches.
    pub after_pause: Option<OtherFigure>,
    /// Number of measured operations of a turn: the median over turns, of the side with fewer operations.
    pub operations: u32,
    /// The choice of the pairs.
    pub choice: Choice,
    /// The reason why there is no verdict, if it is not the width of the interval.
    pub undecided: Option<UndecidedReason>,
}

/// The ratio by a figure other than the one that determines the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-unit" = "other/first"))]
pub struct OtherFigure {
    /// The median of B/A over the pairs.
    pub ratio: f64,
    /// The interval of the ratio, at the level of the verdict's.
    pub interval: Option<Interval>,
    /// Whether the ratio contradicts the 10th percentiles: its interval excludes their ratio by more than the margin.
    /// Work that occurs once in many operations affects the mean and not a low percentile.
    pub disagrees: bool,
}

/// The choice of the pairs of turns for a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The pairs in which the reference loops found the machine quiet.
    Quiet,
    /// All pairs, because no reference loops ran.
    All,
}

/// The reason why two stacks are not judged, although the interval might decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedReason {
    /// The turns have too few operations.
    FewOperations,
    /// The machine was quiet in too few pairs of turns.
    FewQuietTurns,
    /// The reference loops never ran as fast as on this processor when idle.
    NeverQuiet,
    /// The ratio over all turns differs from that over quiet turns: the disturbance slows one stack more than the
    /// other, by more than the stacks differ.
    DependsOnDisturbance,
}

/// One side's turns, as far as they decide whether a comparison may have a verdict.
#[derive(Debug, Clone, Copy)]
pub struct SideTurns<'a> {
    /// Measured operations of a turn: the median over turns.
    pub operations: u32,
    /// Turns in which the machine was quiet, or pairs of turns; `None` if no reference loops ran.
    pub quiet: Option<u64>,
    /// The level of the reference loops, where they ran.
    pub level: Option<QuietLevel>,
    /// The levels on this processor when it is idle, as far as they are known.
    pub idle: &'a [Idle],
}

/// The order in which two sides ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Their turns alternated.
    Alternating,
    /// They ran at different times.
    Apart,
}

/// Returns the reason why a comparison of two sides has no verdict, whatever its ratio is.
///
/// If the turns alternated, an AES loop that was slow beside one side alone is an effect of that side's code: work of other programs
/// would have slowed the loop beside both.
pub fn held_back(sides: [SideTurns<'_>; 2], order: Order) -> Option<UndecidedReason> {
    let mut operations = sides.iter().map(|side| side.operations);
    if operations.any(|operations| operations < FEWEST_OPERATIONS) {
        return Some(UndecidedReason::FewOperations);
    }
    let mut quiet = sides.iter().filter_map(|side| side.quiet);
    if quiet.any(|quiet| quiet < FEWEST_QUIET) {
        return Some(UndecidedReason::FewQuietTurns);
    }
    let [first, other] = &sides;
    let is_quiet = match order {
        Order::Apart => !first.was_never_quiet() && !other.was_never_quiet(),
        Order::Alternating => first.is_quiet_beside(other) && other.is_quiet_beside(first),
    };
    (!is_quiet).then_some(UndecidedReason::NeverQuiet)
}

impl SideTurns<'_> {
    /// Returns whether the machine is known never to have been in its idle state.
    fn was_never_quiet(&self) -> bool {
        self.exceeds_idle(QuietLevel::is_over)
    }

    /// Returns whether the machine may have been in its idle state, apart from an effect of this side's own code.
    fn is_quiet_beside(&self, other: &Self) -> bool {
        !self.was_never_quiet()
            || other.was_quiet() && !self.exceeds_idle(QuietLevel::is_over_without_aes)
    }

    /// Returns whether the machine is known to have been in its idle state.
    fn was_quiet(&self) -> bool {
        self.level.is_some() && !self.idle.is_empty() && !self.was_never_quiet()
    }

    /// Returns whether the level is over any of those of the idle machine.
    fn exceeds_idle(&self, is_over: fn(&QuietLevel, &Idle) -> bool) -> bool {
        self.level
            .is_some_and(|level| self.idle.iter().any(|idle| is_over(&level, idle)))
    }
}

/// Decides from turns. `idle` has the levels beside A and beside B on this processor when it is idle, as far as they are
/// known. None of no turns.
///
/// The choice of turns is independent of the results: a pair is quiet if in both turns the reference loops had the same
/// ratios as beside the same stack on a quiet machine ([`QuietLevel`]), and the clock was the same.
///
/// The remaining disturbance in the quiet turns is less than the difference between all turns and the quiet ones. If
/// those two ratios differ by more than the half-width of the interval, the verdict must therefore hold with the
/// interval widened by that difference.
pub fn compare_turns(
    turns: &[TurnPair],
    idle: [&[Idle]; 2],
    resampling: &Resampling,
) -> Option<TurnsRatio> {
    let every: Vec<&TurnPair> = turns.iter().collect();
    let all_turns = {
        let logs = pairs(&every, |turn| Some(turn.low_ns)).into_iter();
        median(&logs.map(|pair| pair.log_ratio).collect::<Vec<_>>())?.exp()
    };
    let levels = level(turns, |pair| &pair.a).zip(level(turns, |pair| &pair.b));
    let choice = levels.map_or(Choice::All, |_| Choice::Quiet);
    let mut chosen = every.clone();
    if let Some((a, b)) = &levels {
        chosen.retain(|pair| {
            let loops = pair.a.reference_ns.zip(pair.b.reference_ns);
            loops.is_some_and(|(of_a, of_b)| {
                a.is_quiet(&of_a) && b.is_quiet(&of_b) && a.has_the_same_clock(&of_a, b, &of_b)
            })
        });
    }
    let quiet = levels.map(|_| chosen.len() as u64);
    if chosen.is_empty() {
        chosen = every;
    }
    let operations = [
        usual_operations(turns, |pair| &pair.a),
        usual_operations(turns, |pair| &pair.b),
    ];
    let levels = [levels.map(|(a, _)| a), levels.map(|(_, b)| b)];
    let sides = [0, 1].map(|at| SideTurns {
        operations: operations[at],
        quiet,
        level: levels[at],
        idle: idle[at],
    });
    let held_back = held_back(sides, Order::Alternating);
    let mut low = compare(&pairs(&chosen, |turn| Some(turn.low_ns)), resampling)?;
    let plain = Verdict::beyond(low.interval, CASE_MARGIN);
    let difference = (all_turns / low.ratio).ln().abs();
    low.interval = low.interval.map(|interval| widened(interval, difference));
    low.interval_single = low
        .interval_single
        .map(|interval| widened(interval, difference));
    let (verdict, undecided) = match (held_back, Verdict::beyond(low.interval, CASE_MARGIN)) {
        (Some(reason), _) => (Verdict::NotJudged, Some(reason)),
        (None, Verdict::Undecided) if plain != Verdict::Undecided => (
            Verdict::NotJudged,
            Some(UndecidedReason::DependsOnDisturbance),
        ),
        (None, verdict) => (verdict, None),
    };
    low.verdict = verdict;
    let figures: [fn(&Turn) -> Option<f64>; 3] = [
        |turn| turn.median_ns,
        |turn| turn.mean_ns,
        |turn| turn.first_ns,
    ];
    let [median, mean, after_pause] = figures.map(|figure| {
        let found = compare(&pairs(&chosen, figure), resampling)?;
        Some(OtherFigure {
            ratio: found.ratio,
            interval: found.interval,
            disagrees: found.interval.is_some_and(|i| {
                low.ratio > i.high * (1.0 + CASE_MARGIN) || low.ratio < i.low * (1.0 - CASE_MARGIN)
            }),
        })
    });
    Some(TurnsRatio {
        low,
        all_turns,
        median,
        mean,
        after_pause,
        operations: operations[0].min(operations[1]),
        choice,
        undecided,
    })
}

/// Returns the median number of one side's operations in a turn.
fn usual_operations(turns: &[TurnPair], side: fn(&TurnPair) -> &Turn) -> u32 {
    let mut operations: Vec<u32> = turns.iter().map(|pair| side(pair).operations).collect();
    operations.sort_unstable();
    operations.get(operations.len() / 2).copied().unwrap_or(0)
}

/// Returns the pairs of one figure, for turns in which both sides have it.
fn pairs(turns: &[&TurnPair], figure: impl Fn(&Turn) -> Option<f64>) -> Vec<Pair> {
    turns
        .iter()
        .filter_map(|pair| {
            let (a, b) = (figure(&pair.a)?, figure(&pair.b)?);
            Some(Pair::of(a, b, pair.round))
        })
        .collect()
}

/// Returns the interval with `difference` added on either side, if `difference` exceeds its half-width.
fn widened(interval: Interval, difference: f64) -> Interval {
    if difference <= interval.log_half_width() {
        return interval;
    }
    Interval {
        low: interval.low * (-difference).exp(),
        high: interval.high * difference.exp(),
        ..interval
    }
}

/// Returns the level of one side's loops, or `None` if a turn has no reference.
fn level(turns: &[TurnPair], side: fn(&TurnPair) -> &Turn) -> Option<QuietLevel> {
    let references: Option<Vec<[f64; LOOPS]>> =
        turns.iter().map(|pair| side(pair).reference_ns).collect();
    QuietLevel::of(&references?)
}
