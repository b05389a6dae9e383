use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::student_t_quantile;

/// Maximum distance from 1 of an interval with the verdict `same`.
pub const SAME_MARGIN: f64 = 0.01;

/// The margin of verdicts on cases of the suite: a difference of under half a percent does not count.
pub const CASE_MARGIN: f64 = 0.005;

/// The verdict on B compared with A, from the paired samples of two stacks.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// B takes less time: the interval of B/A lies below 1.
    Faster,
    /// B takes more time: the interval of B/A lies above 1.
    Slower,
    /// The interval of B/A lies within [`SAME_MARGIN`] of 1. This verdict takes precedence over the other two: a
    /// difference that is certain and under one percent is called the same.
    Same,
    /// The interval contains the limit, so it is too wide for a decision.
    Undecided,
    /// There is no interval, or it is unreliable for a reason other than its width, such as a machine that was never
    /// quiet.
    #[serde(rename = "not-judged")]
    NotJudged,
}

impl Verdict {
    /// Decides from the interval of the ratio B/A.
    pub fn of(interval: Option<Interval>) -> Self {
        Self::decide(interval, SAME_MARGIN, 0.0)
    }

    /// Decides against one margin: `Faster` and `Slower` need the whole interval beyond it, `Same` the whole interval
    /// within it.
    ///
    /// The meaning of a verdict then does not depend on the length of the measurement: a stack whose true ratio lies
    /// within the margin is called faster or slower only if the interval does not contain that ratio. [`Verdict::of`]
    /// requires a difference from 1 instead, however small. It calls a true half percent slower as soon as the interval
    /// is narrow enough for that and not yet narrow enough for `Same`.
    pub fn beyond(interval: Option<Interval>, margin: f64) -> Self {
        Self::decide(interval, margin, margin)
    }

    /// Decides by the distances from 1 within which an interval is `Same`, and beyond which it is on one side.
    fn decide(interval: Option<Interval>, same: f64, beyond: f64) -> Self {
        match interval {
            Some(i) if i.low >= 1.0 - same && i.high <= 1.0 + same => Self::Same,
            Some(i) if i.high < 1.0 - beyond => Self::Faster,
            Some(i) if i.low > 1.0 + beyond => Self::Slower,
            Some(_) => Self::Undecided,
            None => Self::NotJudged,
        }
    }

    /// Returns whether the interval lies on one side of the limit, or within it.
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Same)
    }

    /// Returns the word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Undecided => "undecided",
            Self::NotJudged => "not judged",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An interval of the ratio B/A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The share of such intervals that contain the true ratio: 0.95 for 95 %.
    #[schemars(extend("x-unit" = ""))]
    pub level: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns Student's interval of a ratio, given its logarithm with the standard error and the degrees of freedom.
    pub(crate) fn student(log_ratio: f64, error: f64, degrees: f64, level: f64) -> Self {
        let half = student_t_quantile(f64::midpoint(1.0, level), degrees) * error;
        // No stack is slower than another by a factor of e^50; the bound keeps every figure finite.
        let half = half.min(50.0);
        Self {
            level,
            low: (log_ratio - half).exp(),
            high: (log_ratio + half).exp(),
        }
    }

    /// Returns half the width of the interval of the ratio's logarithm.
    pub(crate) fn log_half_width(&self) -> f64 {
        (self.high / self.low).ln() / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_interval() {
        let cases = [
            (0.90, 0.95, Verdict::Faster),
            (0.90, 0.999, Verdict::Faster),
            (1.001, 1.2, Verdict::Slower),
            (0.995, 1.005, Verdict::Same),
            (0.991, 0.998, Verdict::Same),
            (1.002, 1.010, Verdict::Same),
            (0.98, 1.005, Verdict::Undecided),
            (0.9, 1.0, Verdict::Undecided),
            (1.0, 1.2, Verdict::Undecided),
            (0.5, 2.0, Verdict::Undecided),
        ];
        for (low, high, expected) in cases {
            let interval = Interval {
                level: 0.95,
                low,
                high,
            };
            assert_eq!(Verdict::of(Some(interval)), expected, "{low}..{high}");
        }
        assert_eq!(Verdict::of(None), Verdict::NotJudged);
    }

    #[test]
    fn one_margin_for_all_three() {
        let cases = [
            (0.90, 0.994, Verdict::Faster),
            (0.90, 0.996, Verdict::Undecided),
            (0.995, 1.005, Verdict::Same),
            (1.001, 1.004, Verdict::Same),
            (1.001, 1.006, Verdict::Undecided),
            (1.006, 1.2, Verdict::Slower),
        ];
        for (low, high, expected) in cases {
            let interval = Interval {
                level: 0.99,
                low,
                high,
            };
            let verdict = Verdict::beyond(Some(interval), 0.005);
            assert_eq!(verdict, expected, "{low}..{high}");
        }
        assert_eq!(Verdict::beyond(None, 0.005), Verdict::NotJudged);
    }
}
