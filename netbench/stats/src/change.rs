use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CASE_MARGIN, Interval, SINGLE_LEVEL, Verdict};

/// The ratio of a figure of B to that of A, with the verdict on B.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-unit" = "other/first"))]
pub struct Change {
    /// The estimate of B/A; the function that returns it defines it.
    pub ratio: f64,
    /// The verdict from the interval.
    pub verdict: Verdict,
    /// The interval that determines the verdict; `None` with too few pairs, blocks or rounds.
    pub interval: Option<Interval>,
    /// The interval at [`crate::SINGLE_LEVEL`], for a reader of only this ratio. `None` too if `interval` has that
    /// level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_single: Option<Interval>,
    /// The figures that the ratio is of.
    #[serde(flatten)]
    pub basis: Basis,
}

/// The figures that a [`Change`] is of, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Basis {
    /// Pairs of figures that were taken side by side.
    Pairs {
        /// Number of pairs.
        pairs: u64,
        /// Number of blocks of the pairs.
        blocks: u64,
    },
    /// One pair for each round, of one site.
    Rounds {
        /// Number of rounds with a pair.
        pairs: u64,
        /// The probability of `faster` for two equal stacks, which is also that of `slower`.
        #[schemars(extend("x-unit" = ""))]
        chance: f64,
    },
    /// Two sets of rounds that were not taken side by side, such as two runs. The interval accounts for the variation
    /// between the rounds of a run, and not for changes between the runs.
    Runs {
        /// Number of rounds of A.
        first_rounds: u64,
        /// Number of rounds of B.
        other_rounds: u64,
    },
}

impl Change {
    /// Creates the change of a ratio with Student's intervals, and the verdict by [`CASE_MARGIN`] at `level`. `error` is the standard
    /// error of the ratio's logarithm with its degrees of freedom; without it, there is no interval.
    pub(crate) fn student(
        log_ratio: f64,
        error: Option<(f64, f64)>,
        level: f64,
        basis: Basis,
    ) -> Self {
        let [interval, interval_single] = [level, SINGLE_LEVEL].map(|level| {
            let (error, degrees) = error?;
            Some(Interval::student(log_ratio, error, degrees, level))
        });
        Self {
            ratio: log_ratio.exp(),
            verdict: Verdict::beyond(interval, CASE_MARGIN),
            interval,
            interval_single,
            basis,
        }
    }

    /// Returns the number of pairs; of two runs, the number of rounds of the one that has fewer.
    pub fn pairs(&self) -> u64 {
        match self.basis {
            Basis::Pairs { pairs, .. } | Basis::Rounds { pairs, .. } => pairs,
            Basis::Runs {
                first_rounds,
                other_rounds,
            } => first_rounds.min(other_rounds),
        }
    }

    /// Returns the probability of `faster` for two equal stacks on one site; 0 for a ratio of more than rounds of a site.
    pub fn chance(&self) -> f64 {
        match self.basis {
            Basis::Rounds { chance, .. } => chance,
            Basis::Pairs { .. } | Basis::Runs { .. } => 0.0,
        }
    }

    /// Returns the number of independent parts: blocks of pairs, or rounds.
    pub fn blocks(&self) -> u64 {
        match self.basis {
            Basis::Pairs { blocks, .. } => blocks,
            Basis::Rounds { .. } | Basis::Runs { .. } => self.pairs(),
        }
    }
}
