use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far from 1 an interval may reach and still say `same`.
pub const SAME_MARGIN: f64 = 0.01;

/// What the paired samples of two stacks say of B, measured against A.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// B takes less time: the interval of B/A lies below 1.
    Faster,
    /// B takes more time: the interval of B/A lies above 1.
    Slower,
    /// The interval of B/A lies within [`SAME_MARGIN`] of 1. This comes before the other two: a
    /// difference that is certain and under one percent is called the same.
    Same,
    /// The interval is too wide to say, or there is none.
    Undecided,
}

impl Verdict {
    /// Decides from the interval of the ratio B/A.
    pub fn of(interval: Option<Interval>) -> Self {
        match interval {
            Some(i) if i.low >= 1.0 - SAME_MARGIN && i.high <= 1.0 + SAME_MARGIN => Self::Same,
            Some(i) if i.high < 1.0 => Self::Faster,
            Some(i) if i.low > 1.0 => Self::Slower,
            _ => Self::Undecided,
        }
    }

    /// The word used in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Undecided => "undecided",
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
    /// The share of such intervals that hold the true ratio: 0.95 for 95 %.
    pub level: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
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
        assert_eq!(Verdict::of(None), Verdict::Undecided);
    }
}
