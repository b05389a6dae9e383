//! The length of turns.

use std::time::Duration;

use netbench_protocol::{Clocks, Slice, SliceLimit, Sliced};
use netbench_stats::{FEWEST_OPERATIONS, median};

/// Operations at the beginning of a turn that are in no figure: they run on caches that the other stacks' turns
/// left. On the project's build machines the first takes up to twice as long as the later ones, and the fifth is
/// within 1 % of them.
pub const WARM_UP: u32 = 10;

/// The permitted numbers of measured operations of a turn, so that the number does not change from round to round.
const OPERATIONS: [u32; 13] = [
    FEWEST_OPERATIONS,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
];

/// The length of the turn that measures the time of an operation.
pub(super) const CALIBRATION: Duration = Duration::from_millis(4);

/// The time below which operations are timed in batches: reading the clock takes 20 to 40 ns, and it advances in
/// steps of up to 10 ns.
const ALONE: Duration = Duration::from_micros(1);

/// The shortest time of a batch.
const BATCH: Duration = Duration::from_micros(10);

/// The end of a turn, the same for every stack of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnSize {
    /// The turn ends with the first operation that ends after this time.
    Time(Duration),
    /// The turn ends after these operations, or batches of them.
    Operations {
        /// Number of operations that are measured after the warm-up.
        measured: u32,
        /// Number of operations that are timed together.
        batch: u32,
        /// The time of a turn of the slowest stack.
        longest: Duration,
    },
}

/// The time of one stack's operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TurnTime {
    /// The median over a turn, all measures together.
    operation_ns: f64,
}

impl TurnTime {
    pub(super) fn of(sliced: &Sliced) -> Self {
        let operation_ns: f64 = sliced
            .timings_ns
            .values()
            .filter_map(|timings| {
                let timings: Vec<f64> = timings.iter().map(|ns| *ns as f64).collect();
                median(&timings)
            })
            .sum();
        Self {
            operation_ns: operation_ns.max(1.0),
        }
    }
}

impl TurnSize {
    /// Returns the size that gives the fastest stack measured operations for at least `shortest`, and every stack
    /// the same number.
    pub(super) fn of_operations(times: &[TurnTime], shortest: Duration) -> Self {
        let operations = times.iter().map(|time| time.operation_ns);
        let fastest_ns = operations.clone().fold(f64::INFINITY, f64::min);
        let slowest_ns = operations.fold(0.0, f64::max);
        let is_short = fastest_ns < ALONE.as_nanos() as f64;
        let batches = (0..20).map(|power| 1_u32 << power);
        let batch = batches
            .filter(|_| is_short)
            .find(|batch| f64::from(*batch) * fastest_ns >= BATCH.as_nanos() as f64)
            .unwrap_or(1);
        let [.., most] = OPERATIONS;
        let measured = OPERATIONS
            .into_iter()
            .find(|measured| {
                f64::from(*measured) * f64::from(batch) * fastest_ns >= shortest.as_nanos() as f64
            })
            .unwrap_or(most);
        let longest_ns = f64::from(measured + WARM_UP) * f64::from(batch) * slowest_ns;
        Self::Operations {
            measured,
            batch,
            longest: Duration::from_secs_f64(longest_ns / 1e9),
        }
    }

    pub(super) fn request(self, clocks: Clocks) -> Slice {
        match self {
            Self::Time(time) => Slice {
                limit: SliceLimit::Microseconds(
                    u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
                ),
                clocks,
                batch: 1,
            },
            Self::Operations {
                measured, batch, ..
            } => Slice {
                limit: SliceLimit::Operations(measured + WARM_UP),
                clocks,
                batch,
            },
        }
    }

    /// Returns the number of operations that are in no figure.
    pub(super) fn warm_up(self) -> u32 {
        match self {
            Self::Time(_) => 0,
            Self::Operations { .. } => WARM_UP,
        }
    }

    /// Returns the time of a turn of the slowest stack.
    pub(super) fn longest(self) -> Duration {
        match self {
            Self::Time(time) => time,
            Self::Operations { longest, .. } => longest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(operations_ns: &[f64], shortest: Duration) -> (u32, u32) {
        let times = operations_ns
            .iter()
            .map(|ns| TurnTime { operation_ns: *ns });
        match TurnSize::of_operations(&times.collect::<Vec<_>>(), shortest) {
            TurnSize::Operations {
                measured, batch, ..
            } => (measured, batch),
            TurnSize::Time(_) => panic!("a turn of operations"),
        }
    }

    #[test]
    fn a_turn_has_at_least_twenty_operations_and_time_only_raises_their_number() {
        let ms = Duration::from_millis;
        assert_eq!(of(&[350_000.0, 700_000.0], ms(1)), (20, 1));
        assert_eq!(of(&[350_000.0, 700_000.0], ms(4)), (20, 1));
        assert_eq!(of(&[700_000.0, 350_000.0], ms(50)), (200, 1));
        assert_eq!(of(&[40_000_000.0, 5_000_000.0], ms(4)), (20, 1));
        assert_eq!(of(&[20_000.0, 4_000_000.0], ms(4)), (200, 1));
        assert_eq!(of(&[], ms(4)), (20, 1));
    }

    #[test]
    fn operations_under_a_microsecond_are_timed_in_batches_by_every_stack() {
        let ms = Duration::from_millis;
        assert_eq!(of(&[999.0, 3_000.0], ms(4)), (500, 16));
        assert_eq!(of(&[1_000.0, 3_000.0], ms(4)), (5_000, 1));
        assert_eq!(of(&[20.0], ms(4)), (500, 512));
    }
}
