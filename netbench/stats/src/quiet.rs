use crate::quantile_sorted;

/// Number of reference loops of a turn: multiplications, AES, loads.
pub const LOOPS: usize = 3;

/// The quantile of a figure over all turns that counts as its level on a quiet machine.
const LEVEL: f64 = 0.02;

/// Maximum excess over the level, in a quiet turn, of the ratio of a loop to the multiplications.
const TOLERANCE: f64 = 0.02;

/// Maximum excess over the level, in a quiet turn, of a loop's time. The clock of a virtual machine's host changes by
/// up to 7 %, and a machine whose loops are all slower than that is disturbed by another cause.
const CLOCK_TOLERANCE: f64 = 0.10;

/// Maximum difference between the clocks of two turns of a pair, measured by the multiplications.
const SAME_CLOCK: f64 = 0.01;

/// Maximum excess over an idle machine of the lowest ratios of AES and of loads to the multiplications.
const IDLE_TOLERANCE: f64 = 0.03;

/// Maximum excess for loads beside another worker's program, where the time of the loads' loop also depends on its
/// address: of 13 programs that alternated, two took a minimum of 1,191 ns, and eleven 1,231.
const OTHER_PROGRAM_TOLERANCE: f64 = 0.07;

/// The reference loops beside one stack while the machine was quiet: the 2nd percentile over all turns of each loop,
/// and of the ratios of AES and loads to the multiplications. The percentile is low because a machine may be disturbed
/// nearly all the time.
///
/// Work on the core's sibling thread slows loads by 10 to 40 % and multiplications by under 1 %, which changes the
/// ratio. A different clock slows all loops alike, and both stacks with them, which does not change the ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuietLevel {
    loops_ns: [f64; LOOPS],
    relations: [f64; LOOPS - 1],
}

/// Times of the loops on an idle machine, as earlier turns measured them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Idle {
    /// The level.
    pub level: QuietLevel,
    /// The program of those turns.
    pub program: IdleProgram,
}

/// The program beside which the level of an idle machine was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleProgram {
    /// The worker of the compared level.
    Same,
    /// Any worker, in which the loops may have other addresses.
    Any,
}

impl QuietLevel {
    /// Returns the level in the given turns, or `None` without turns.
    ///
    /// The ratios are those of turns in which the multiplications were not slow alone. They run first after an operation, and
    /// a clock that the operation itself had lowered (AVX-512) would make the ratios of all other turns look high.
    pub fn of(turns: &[[f64; LOOPS]]) -> Option<Self> {
        let loops_ns = levels(turns)?;
        let comparable: Vec<_> = turns
            .iter()
            .filter(|turn| !multiplications_alone_are_slow(turn, &loops_ns))
            .map(relations)
            .collect();
        Some(Self {
            loops_ns,
            relations: levels(&comparable).unwrap_or_else(|| relations(&loops_ns)),
        })
    }

    /// Returns the level if only the loops' times are known.
    pub fn of_loops(loops_ns: [f64; LOOPS]) -> Self {
        Self {
            loops_ns,
            relations: relations(&loops_ns),
        }
    }

    /// Returns the time of each loop.
    pub fn loops_ns(&self) -> [f64; LOOPS] {
        self.loops_ns
    }

    /// Returns whether the machine was quiet in a turn: the ratios of AES and loads to the multiplications were at most
    /// 2 % over the level, and the times of all loops at most 10 %.
    pub fn is_quiet(&self, turn: &[f64; LOOPS]) -> bool {
        within(&relations(turn), &self.relations, TOLERANCE)
            && within(turn, &self.loops_ns, CLOCK_TOLERANCE)
    }

    /// Returns whether the core's clock was the same in a turn and in one of another stack. The comparison uses the
    /// times of the multiplications, each relative to the level beside that stack, because they also depend on the
    /// address of the loop in a worker's program.
    pub(crate) fn has_the_same_clock(
        &self,
        turn: &[f64; LOOPS],
        other: &Self,
        other_turn: &[f64; LOOPS],
    ) -> bool {
        (self.log_slowdown(turn) - other.log_slowdown(other_turn)).abs() <= SAME_CLOCK
    }

    /// Returns the logarithm of the time of the multiplications over their level.
    fn log_slowdown(&self, turn: &[f64; LOOPS]) -> f64 {
        (turn[0] / self.loops_ns[0].max(1.0)).ln()
    }

    /// Returns the minimum of both levels, figure by figure.
    #[must_use]
    pub fn lower(mut self, other: Self) -> Self {
        let mine = self.loops_ns.iter_mut().chain(&mut self.relations);
        let others = other.loops_ns.iter().chain(&other.relations);
        for (mine, other) in mine.zip(others) {
            *mine = mine.min(*other);
        }
        self
    }

    /// Returns whether the machine was never in its idle state: a ratio is more than 3 % over the idle machine's, or a
    /// loop more than 10 %. The ratio of loads beside another program may be 7 % over.
    pub fn is_over(&self, idle: &Idle) -> bool {
        let [aes, loads] = relations(&self.loops_ns);
        let [idle_aes, idle_loads] = relations(&idle.level.loops_ns);
        let loads_tolerance = match idle.program {
            IdleProgram::Same => IDLE_TOLERANCE,
            IdleProgram::Any => OTHER_PROGRAM_TOLERANCE,
        };
        aes > idle_aes * (1.0 + IDLE_TOLERANCE)
            || loads > idle_loads * (1.0 + loads_tolerance)
            || !within(&self.loops_ns, &idle.level.loops_ns, CLOCK_TOLERANCE)
    }

    /// Returns whether the level is over that of the idle machine also without the AES loop. Code with AVX-512 makes the AES loop
    /// after it 5 % slower and leaves the others alone; a busy sibling of the core slows loads too.
    pub(crate) fn is_over_without_aes(&self, idle: &Idle) -> bool {
        let [integer, _, memory] = self.loops_ns;
        let [idle_integer, idle_aes, _] = idle.level.loops_ns;
        let aes = idle_aes * integer / idle_integer.max(1.0);
        Self::of_loops([integer, aes, memory]).is_over(idle)
    }
}

/// Returns the level of each figure over turns, or `None` without turns.
fn levels<const N: usize>(turns: &[[f64; N]]) -> Option<[f64; N]> {
    let mut levels = [0.0; N];
    for (at, level) in levels.iter_mut().enumerate() {
        let mut figures: Vec<f64> = turns.iter().map(|turn| turn[at]).collect();
        figures.sort_by(f64::total_cmp);
        *level = quantile_sorted(&figures, LEVEL)?;
    }
    Some(levels)
}

/// Returns whether the multiplications exceed their level by 2 % more than each other loop exceeds its level.
fn multiplications_alone_are_slow(turn: &[f64; LOOPS], levels: &[f64; LOOPS]) -> bool {
    let [integer, aes, loads] = [0, 1, 2].map(|at| turn[at] / levels[at].max(1.0));
    integer > aes.max(loads) * (1.0 + TOLERANCE)
}

/// Returns the ratios of AES and loads to the multiplications.
fn relations([integer, aes, loads]: &[f64; LOOPS]) -> [f64; LOOPS - 1] {
    [aes, loads].map(|ns| ns / integer.max(1.0))
}

fn within<const N: usize>(figures: &[f64; N], levels: &[f64; N], tolerance: f64) -> bool {
    let mut both = figures.iter().zip(levels);
    both.all(|(figure, level)| *figure <= level * (1.0 + tolerance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Returns turns of which every second twenty are disturbed, each loop by a separate factor.
    fn half_disturbed(factors: [f64; LOOPS]) -> Vec<[f64; LOOPS]> {
        let mut rng = Rng::new(9);
        (0..400)
            .map(|i| {
                [(2_000.0, 0), (2_500.0, 1), (1_500.0, 2)].map(|(ns, at)| {
                    let slow = if i % 40 < 20 { factors[at] } else { 1.0 };
                    ns * slow * (0.002 * rng.normal()).exp()
                })
            })
            .collect()
    }

    #[test]
    fn turns_beside_a_busy_sibling_are_left_out_and_those_at_another_clock_are_not() {
        // As measured: work on the sibling slows loads, a different clock all loops.
        let sibling = half_disturbed([1.005, 1.01, 1.25]);
        let level = QuietLevel::of(&sibling).unwrap();
        for (i, turn) in sibling.iter().enumerate() {
            assert_eq!(level.is_quiet(turn), i % 40 >= 20, "{i}");
        }
        let clock = half_disturbed([1.04; LOOPS]);
        let level = QuietLevel::of(&clock).unwrap();
        assert!(clock.iter().all(|turn| level.is_quiet(turn)));
        let slower = half_disturbed([1.3; LOOPS]);
        let level = QuietLevel::of(&slower).unwrap();
        assert_eq!(
            slower.iter().filter(|turn| level.is_quiet(turn)).count(),
            200
        );
        assert_eq!(QuietLevel::of(&[]), None);
    }

    #[test]
    fn turns_with_slow_multiplications_alone_do_not_disturb_the_others() {
        // As measured after AES-128-GCM with AVX-512: a third of the turns, at each clock of the host.
        let turns: Vec<[f64; LOOPS]> = (0..400)
            .map(|i| {
                let host = if i % 7 == 0 { 1.04 } else { 1.0 };
                let alone = if i % 3 == 0 { 1.076 } else { 1.0 };
                [2_452.0 * host * alone, 1_846.0 * host, 1_480.0 * host]
            })
            .collect();
        let level = QuietLevel::of(&turns).unwrap();
        assert!(
            turns
                .iter()
                .all(|turn| level.is_quiet(turn) == (turn[0] <= 2_697.2))
        );
        assert!(!level.is_quiet(&[2_452.0, 1_846.0, 1_480.0 * 1.1]));
    }

    #[test]
    fn a_pair_has_one_clock_wherever_the_loops_lie() {
        for (here, there, expected) in [
            ([2_380.0, 2_360.0], [2_360.0, 2_360.0], true),
            ([2_400.0, 2_360.0], [2_360.0, 2_360.0], false),
            // In another program the loop takes 4 % longer at any clock.
            ([2_360.0, 2_360.0], [2_454.0, 2_454.0], true),
            ([2_430.0, 2_360.0], [2_527.0, 2_454.0], true),
            ([2_430.0, 2_360.0], [2_430.0, 2_454.0], false),
        ] {
            let [here, there] = [here, there].map(|both| both.map(|ns| [ns, 1.0, 1.0]));
            let [level, other] = [here, there].map(|[_, level]| QuietLevel::of_loops(level));
            let same = level.has_the_same_clock(&here[0], &other, &there[0]);
            assert_eq!(same, expected, "{here:?} {there:?}");
        }
    }

    #[test]
    fn a_level_is_compared_with_an_idle_machine_at_any_clock() {
        let level = QuietLevel::of_loops([2_373.0, 1_783.0, 1_191.0]);
        let idle = [IdleProgram::Same, IdleProgram::Any].map(|program| Idle { level, program });
        for (loops_ns, expected) in [
            ([2_373.0, 1_783.0, 1_191.0], [false; 2]),
            // The host's clock was 4 % higher during the measurement of the idle level.
            ([2_468.0, 1_854.0, 1_239.0], [false; 2]),
            // A busy sibling, a machine that is slower by a third, and only AES slower.
            ([2_380.0, 1_795.0, 1_400.0], [true; 2]),
            ([3_164.0, 2_377.0, 1_588.0], [true; 2]),
            ([2_373.0, 1_850.0, 1_191.0], [true; 2]),
            // The address of the loads' loop affects its time by 3.4 %.
            ([2_373.0, 1_783.0, 1_231.0], [true, false]),
        ] {
            let level = QuietLevel::of_loops(loops_ns);
            let found = idle.map(|idle| level.is_over(&idle));
            assert_eq!(found, expected, "{loops_ns:?}");
        }
        let [idle, _] = idle;
        for (loops_ns, by_aes_alone) in [
            // As measured beside OpenSSL's ChaCha20 with AVX-512, at two clocks.
            ([2_373.0, 1_883.0, 1_191.0], true),
            ([2_468.0, 1_958.0, 1_239.0], true),
            ([2_373.0, 1_783.0, 1_191.0], false),
            ([2_373.0, 1_883.0, 1_260.0], false),
            ([3_164.0, 2_511.0, 1_588.0], false),
        ] {
            let level = QuietLevel::of_loops(loops_ns);
            let found = level.is_over(&idle) && !level.is_over_without_aes(&idle);
            assert_eq!(found, by_aes_alone, "{loops_ns:?}");
        }
        let other = QuietLevel::of_loops([2_400.0, 1_700.0, 1_191.0]);
        let lower = idle.level.lower(other);
        assert_eq!(lower.loops_ns(), [2_373.0, 1_700.0, 1_191.0]);
    }
}
