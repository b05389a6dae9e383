//! The number of rounds that a decision needs, and the power of the existing rounds to find a change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::{Autocorrelation, Basis, Change, SAME_MARGIN, SINGLE_LEVEL, student_t_quantile};

/// Maximum factor between the needed and the existing rounds. A figure that needs more rounds counts as equal to the
/// limit.
const MOST_TIMES: u64 = 1_000;

/// The number of rounds that a decision needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsNeeded {
    /// About this many rounds in total, if they vary as the existing ones.
    Rounds(u64),
    /// No number of rounds, because the figure equals the limit.
    AtTheLimit,
}

impl RoundsNeeded {
    /// Converts a number of processes to a number of rounds, where `processes` were made in `rounds`.
    #[must_use]
    pub fn of_processes(self, rounds: u64, processes: u64) -> Self {
        match self {
            Self::Rounds(needed) => {
                Self::Rounds(needed.saturating_mul(rounds).div_ceil(processes.max(1)))
            }
            Self::AtTheLimit => Self::AtTheLimit,
        }
    }
}

/// The precision of a ratio from some rounds. All fields are of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    log_ratio: f64,
    /// Half the width of the interval.
    half: f64,
    level: f64,
    /// The standard error of the ratio that the interval implies, which assumes independent rounds.
    error: f64,
    rounds: f64,
    /// Number of independently varying samples: 1 for pairs, or 2 for two runs.
    sides: f64,
    correlation: Autocorrelation,
}

impl Precision {
    /// Returns the precision of a ratio, or `None` without an interval.
    pub fn of(found: &Change) -> Option<Self> {
        let (rounds, sides) = match found.basis {
            Basis::Pairs { blocks, .. } => (blocks as f64, 1.0),
            Basis::Rounds { pairs, .. } => (pairs as f64, 1.0),
            Basis::Runs {
                first_rounds,
                other_rounds,
            } => {
                // The number of rounds per side in a comparison of equal sides with the same precision.
                let both = 1.0 / first_rounds as f64 + 1.0 / other_rounds as f64;
                (2.0 / both, 2.0)
            }
        };
        let interval = found.interval?;
        let single = found.interval_single.unwrap_or(interval);
        let degrees = (sides * (rounds - 1.0)).max(1.0);
        let level = if single == interval {
            interval.level
        } else {
            SINGLE_LEVEL
        };
        let quantile = student_t_quantile(f64::midpoint(1.0, level), degrees);
        Some(Self {
            log_ratio: found.ratio.ln(),
            half: interval.log_half_width(),
            level: interval.level,
            error: single.log_half_width() / quantile,
            rounds,
            sides,
            correlation: Autocorrelation::default(),
        })
    }

    /// Sets the correlation of the rounds, which the interval does not account for.
    #[must_use]
    pub fn with_correlation(self, correlation: Autocorrelation) -> Self {
        Self {
            correlation,
            ..self
        }
    }

    /// Returns the standard error of the ratio. With correlated rounds it is larger than the interval implies: their
    /// mean varies as that of fewer independent rounds, and the rounds vary less about it.
    fn true_error(&self) -> f64 {
        if self.rounds <= 1.0 {
            return self.error;
        }
        let independent = self.correlation.effective_rounds(self.rounds);
        self.error * ((self.rounds - 1.0) / (independent - 1.0)).sqrt()
    }

    /// Returns the number of rounds at which the interval would lie on one side of `1 + limit`.
    pub fn rounds_to_judge(&self, limit: f64) -> RoundsNeeded {
        self.rounds_for((self.log_ratio - limit.ln_1p()).abs())
    }

    /// Returns the number of rounds at which [`crate::Verdict::of`] would decide: the interval excludes 1, or lies
    /// within the margin of `same`.
    pub fn rounds_to_decide(&self) -> RoundsNeeded {
        let within = self.log_ratio - (-SAME_MARGIN).ln_1p();
        let within = within.min(SAME_MARGIN.ln_1p() - self.log_ratio);
        self.rounds_for(self.log_ratio.abs().max(within))
    }

    /// Returns the number of rounds at which [`crate::Verdict::beyond`] would decide: the interval contains neither
    /// limit.
    pub fn rounds_to_decide_beyond(&self, margin: f64) -> RoundsNeeded {
        let limits = [margin.ln_1p(), (-margin).ln_1p()];
        let distances = limits.map(|limit| (self.log_ratio - limit).abs());
        self.rounds_for(distances[0].min(distances[1]))
    }

    /// Returns the number of rounds at which half the width of the interval would be less than a distance.
    fn rounds_for(&self, distance: f64) -> RoundsNeeded {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of rounds, not negative"
        )]
        let mut low = self.rounds.max(1.0) as u64;
        let mut high = low * MOST_TIMES;
        if self.half_width(high) >= distance {
            return RoundsNeeded::AtTheLimit;
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if self.half_width(middle) < distance {
                high = middle;
            } else {
                low = middle;
            }
        }
        RoundsNeeded::Rounds(high)
    }

    /// Returns half the width of the interval of `rounds` rounds.
    fn half_width(&self, rounds: u64) -> f64 {
        let rounds = rounds as f64;
        let degrees = (self.sides * (rounds - 1.0)).max(1.0);
        let quantile = student_t_quantile(f64::midpoint(1.0, self.level), degrees);
        quantile * self.error * (self.rounds / rounds).sqrt()
    }

    /// Returns the share of measurements with the same number of rounds whose whole interval would lie above
    /// `1 + limit`, if the true ratio were `1 + change`.
    pub fn share_above(&self, limit: f64, change: f64) -> f64 {
        self.share(change.ln_1p() - limit.ln_1p())
    }

    /// Returns the share of measurements whose whole interval would lie below `1 + limit`.
    pub fn share_below(&self, limit: f64, change: f64) -> f64 {
        self.share(limit.ln_1p() - change.ln_1p())
    }

    fn share(&self, distance: f64) -> f64 {
        let beyond = distance - self.half;
        match Normal::new(0.0, self.true_error()) {
            Ok(normal) => normal.cdf(beyond),
            // The rounds do not vary.
            Err(_) => f64::from(u8::from(beyond > 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CASE_MARGIN, Interval, Pair, Resampling, Rng, Verdict, autocorrelation::tests::correlated,
        compare, compare_apart,
    };

    fn pairs(rng: &mut Rng, rounds: u64, log_ratio: f64, spread: f64) -> Vec<Pair> {
        (0..rounds)
            .map(|block| Pair {
                log_ratio: log_ratio + spread * rng.normal(),
                block: u32::try_from(block).unwrap(),
            })
            .collect()
    }

    /// Returns the comparison of rounds that spread by 5 % about a difference of 2 %.
    fn compared(rng: &mut Rng, rounds: u64) -> Change {
        let pairs = pairs(rng, rounds, 0.02, 0.05);
        compare(&pairs, &Resampling::for_family(1, 8)).unwrap()
    }

    #[test]
    fn so_many_rounds_decide_and_fewer_do_not() {
        let mut rng = Rng::new(7);
        let mut decided = 0;
        for _ in 0..40 {
            let few = loop {
                let few = compared(&mut rng, 12);
                if few.verdict == Verdict::Undecided && few.ratio > 1.01 {
                    break few;
                }
            };
            let precision = Precision::of(&few).unwrap();
            let RoundsNeeded::Rounds(needed) = precision.rounds_to_decide() else {
                panic!("{few:?}");
            };
            assert!(needed > 12, "{needed}");
            // The estimate comes from twelve rounds. Twice the needed rounds leave room for its error.
            decided += u32::from(compared(&mut rng, 2 * needed).verdict.is_decided());
        }
        assert!(decided >= 24, "{decided} of 40");
    }

    #[test]
    fn a_figure_at_the_limit_is_decided_by_no_number_of_rounds() {
        let interval = Some(Interval {
            level: 0.99,
            low: 1.05 / 1.2,
            high: 1.05 * 1.2,
        });
        let found = Change {
            ratio: 1.05,
            basis: Basis::Runs {
                first_rounds: 10,
                other_rounds: 10,
            },
            verdict: Verdict::Undecided,
            interval,
            interval_single: interval,
        };
        let precision = Precision::of(&found).unwrap();
        assert_eq!(precision.rounds_to_judge(0.05), RoundsNeeded::AtTheLimit);
        assert!(matches!(
            precision.rounds_to_judge(0.2),
            RoundsNeeded::Rounds(11..40)
        ));
        let at = Change {
            ratio: 1.0 + CASE_MARGIN,
            ..found
        };
        let precision = Precision::of(&at).unwrap();
        assert_eq!(
            precision.rounds_to_decide_beyond(CASE_MARGIN),
            RoundsNeeded::AtTheLimit
        );
        let none = Change {
            interval: None,
            ..found
        };
        assert_eq!(Precision::of(&none), None);
    }

    /// Compares two runs of rounds with a correlation of `r`.
    fn compared_apart(rng: &mut Rng, rounds: usize, r: f64) -> Change {
        let [a, b] = [(); 2].map(|()| {
            let rounds = correlated(r, rounds, rng).into_iter();
            rounds.map(|x| (0.03 * x).exp()).collect::<Vec<_>>()
        });
        compare_apart(&a, &b, 0.99).unwrap()
    }

    #[test]
    fn the_width_of_more_rounds_is_predicted_correlated_or_not() {
        const COMPARISONS: u32 = 300;
        let mut rng = Rng::new(9);
        for r in [0.0, 0.4, 0.7_f64] {
            let (mut predicted, mut found) = (0.0, 0.0);
            for _ in 0..COMPARISONS {
                let few = compared_apart(&mut rng, 16, r);
                predicted += Precision::of(&few).unwrap().half_width(64);
                let more = compared_apart(&mut rng, 64, r);
                found += more.interval.unwrap().log_half_width();
            }
            let off = predicted / found - 1.0;
            assert!(off.abs() < 0.1, "{r}: {off}");
        }
    }

    /// 400 comparisons of two runs with heavy noise: of equal runs, and of runs of which the second takes longer.
    #[test]
    fn the_power_that_is_stated_is_the_power_that_there_is() {
        let mut rng = Rng::new(20);
        let (limit, runs) = (0.05, 400);
        for change in [0.0, 0.08, 0.10, 0.12] {
            let (mut stated, mut found, mut passed_stated, mut passed) = (0.0, 0, 0.0, 0);
            for _ in 0..runs {
                let [a, b] = [1.0, 1.0 + change].map(|factor| {
                    // One round in twenty loses a packet.
                    [(); 20].map(|()| {
                        let lost = if rng.below(20) == 0 { 200.0 } else { 0.0 };
                        factor * (50.0 * (0.04 * rng.normal()).exp() + lost)
                    })
                });
                let ratio = compare_apart(&a, &b, 0.99).unwrap();
                let precision = Precision::of(&ratio).unwrap();
                stated += precision.share_above(limit, change) / f64::from(runs);
                passed_stated += precision.share_below(limit, change) / f64::from(runs);
                let interval = ratio.interval.unwrap();
                found += u32::from(interval.low > 1.0 + limit);
                passed += u32::from(interval.high <= 1.0 + limit);
            }
            let [found, passed] = [found, passed].map(|count| f64::from(count) / f64::from(runs));
            assert!((found - stated).abs() < 0.12, "{change}: {found} {stated}");
            assert!(
                (passed - passed_stated).abs() < 0.12,
                "{change}: {passed} {passed_stated}"
            );
        }
    }
}
