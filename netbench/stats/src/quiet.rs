use crate::quantile_sorted;

/// Reference loops of a turn: multiplications, AES, loads.
pub const LOOPS: usize = 3;

/// The quantile of a loop's figures over all turns that is taken for its level on a quiet machine.
const LEVEL: f64 = 0.02;

/// How far over its level a loop may be in a quiet turn.
const TOLERANCE: f64 = 0.02;

/// How far over its level on an idle machine a loop's lowest level may be. That of the loads also depends on where the loop
/// lies in a program: of 13 programs that took turns, two took 1,191 ns at their quietest, and eleven 1,231.
const IDLE_TOLERANCE: [f64; LOOPS] = [0.03, 0.03, 0.07];

/// What the reference loops took beside one stack while the machine was quiet: the 2nd percentile of each over
/// all turns, in nanoseconds. As low as that because a machine may be disturbed nearly all the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuietLevel {
    /// Each loop's.
    pub loops_ns: [f64; LOOPS],
}

impl QuietLevel {
    /// The level in these turns. None of no turns.
    pub fn of(turns: &[[f64; LOOPS]]) -> Option<Self> {
        let level = |at: usize| {
            let mut figures: Vec<f64> = turns.iter().map(|loops| loops[at]).collect();
            figures.sort_by(f64::total_cmp);
            quantile_sorted(&figures, LEVEL)
        };
        Some(Self {
            loops_ns: [level(0)?, level(1)?, level(2)?],
        })
    }

    /// Whether the machine was quiet in a turn: every loop took at most 2 % more than its level.
    pub fn is_quiet(&self, turn: &[f64; LOOPS]) -> bool {
        let mut both = turn.iter().zip(&self.loops_ns);
        both.all(|(ns, level)| *ns <= level * (1.0 + TOLERANCE))
    }

    /// The lower of both, loop by loop.
    #[must_use]
    pub fn lower(self, other: Self) -> Self {
        let mut loops_ns = self.loops_ns;
        for (ns, other) in loops_ns.iter_mut().zip(other.loops_ns) {
            *ns = ns.min(other);
        }
        Self { loops_ns }
    }

    /// Whether a loop is more than 3 % over what it takes on an idle machine, or the loads more than 7 %.
    pub fn is_over(&self, idle: Self) -> bool {
        let limits = idle.loops_ns.iter().zip(IDLE_TOLERANCE);
        let limits = limits.map(|(ns, tolerance)| ns * (1.0 + tolerance));
        self.loops_ns
            .iter()
            .zip(limits)
            .any(|(ns, limit)| *ns > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn the_disturbed_half_is_left_out_and_nothing_else() {
        let mut rng = Rng::new(9);
        let turns: Vec<[f64; LOOPS]> = (0..400)
            .map(|i| {
                let slow = if i % 40 < 20 { 1.3 } else { 1.0 };
                [2_000.0, 2_500.0, 1_500.0].map(|ns| ns * slow * (0.003 * rng.normal()).exp())
            })
            .collect();
        let level = QuietLevel::of(&turns).unwrap();
        for (i, turn) in turns.iter().enumerate() {
            assert_eq!(level.is_quiet(turn), i % 40 >= 20, "{i}");
        }
        assert_eq!(QuietLevel::of(&[]), None);
    }

    #[test]
    fn one_loop_is_enough_to_be_disturbed_or_over() {
        let level = QuietLevel {
            loops_ns: [100.0, 200.0, 300.0],
        };
        assert!(level.is_quiet(&[101.0, 203.0, 305.0]));
        assert!(!level.is_quiet(&[101.0, 203.0, 307.0]));
        let other = QuietLevel {
            loops_ns: [90.0, 210.0, 290.0],
        };
        assert_eq!(level.lower(other).loops_ns, [90.0, 200.0, 290.0]);
        assert!(level.is_over(other));
        assert!(!level.is_over(level));
        let at = |loops_ns| QuietLevel { loops_ns };
        // Where the loop of the loads lies is worth 3.4 %; a sibling at work is worth a third.
        assert!(!at([2_373.0, 1_783.0, 1_231.0]).is_over(at([2_373.0, 1_783.0, 1_191.0])));
        assert!(at([2_373.0, 1_783.0, 1_300.0]).is_over(at([2_373.0, 1_783.0, 1_191.0])));
        assert!(at([2_373.0, 1_850.0, 1_191.0]).is_over(at([2_373.0, 1_783.0, 1_191.0])));
    }
}
