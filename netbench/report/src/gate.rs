//! The gate of `compare --fail-on-regression`: three outcomes, for each row and for the whole comparison.

use itertools::Itertools;
use netbench_stats::{Autocorrelation, Change, Interval, Precision, RoundsNeeded, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    document::{Check, Checked},
    text::count,
};

/// The result of comparing a row with the threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Regression {
    /// No threshold was given.
    #[default]
    NotAsked,
    /// The whole interval lies beyond the threshold.
    Regressed,
    /// The interval contains the threshold, or there is no reliable interval.
    CannotTell,
    /// The whole interval lies within the threshold.
    Within,
}

/// The probability with which the rounds of a row reveal a change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Power {
    /// A true change: 0.1 for 10 %, twice the threshold.
    #[schemars(extend("x-unit" = ""))]
    pub change: f64,
    /// The share of comparisons with as many rounds that would call it a regression.
    #[schemars(extend("x-unit" = ""))]
    pub found: f64,
    /// The share of comparisons with as many rounds in which equal sides would pass.
    #[schemars(extend("x-unit" = ""))]
    pub equal_pass: f64,
}

/// The gate's result for a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The outcome.
    #[serde(default)]
    pub regression: Regression,
    /// The rounds that would decide the row, if the width of its interval leaves it open; for any other row, those
    /// that would decide an undecided verdict.
    #[serde(default)]
    pub rounds_needed: Option<RoundsNeeded>,
    /// The power of its rounds; absent without a threshold or an interval.
    #[serde(default)]
    pub power: Option<Power>,
}

/// The threshold of a comparison, and the rows that do not pass it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gated {
    /// The change from which a row counts as regressed: 0.02 for 2 %.
    pub threshold: Option<f64>,
    /// Number of rows that regressed: cases, or totals of connections, sites, and sites that fail.
    pub regressed: u64,
    /// Number of rows for which a regression is neither shown nor excluded, including unmeasured cases.
    #[serde(default)]
    pub cannot_tell: u64,
}

/// The gate's result for a whole comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Every row lies within the threshold.
    Passed,
    /// A row regressed.
    Regressed,
    /// No row regressed, and some rows are undecided.
    CannotTell,
}

/// The smallest distance beyond the threshold of a change whose power is stated.
const LEAST_BEYOND: f64 = 0.01;

impl Judged {
    /// Returns the result for a row of connections without a threshold, with the rounds that would decide it.
    pub(crate) fn not_asked(change: &Change) -> Self {
        let precision = Precision::of(change).filter(|_| change.verdict == Verdict::Undecided);
        Self {
            rounds_needed: precision.map(|precision| precision.rounds_to_decide()),
            ..Self::default()
        }
    }

    /// Judges a change whose rounds correlate, and adds the rounds that would decide an undecided verdict with this
    /// margin, if no rounds are needed to judge the row.
    pub(crate) fn of(
        change: &Change,
        correlation: Autocorrelation,
        threshold: Option<f64>,
        margin: f64,
    ) -> Self {
        let precision = Precision::of(change);
        let precision = precision.map(|precision| precision.with_correlation(correlation));
        let judged = Self::of_interval(change.interval, precision, threshold);
        let undecided = precision.filter(|_| change.verdict == Verdict::Undecided);
        let to_decide = undecided.map(|precision| precision.rounds_to_decide_beyond(margin));
        Self {
            rounds_needed: judged.rounds_needed.or(to_decide),
            ..judged
        }
    }

    /// Returns the result for a row without a reliable interval.
    pub(crate) fn unreliable(threshold: Option<f64>) -> Self {
        Self::of_interval(None, None, threshold)
    }

    /// Judges a row by a reliable interval and its precision; both are `None` if there is no such interval.
    fn of_interval(
        interval: Option<Interval>,
        precision: Option<Precision>,
        threshold: Option<f64>,
    ) -> Self {
        let Some(most) = threshold else {
            return Self::default();
        };
        let regression = match interval {
            Some(interval) if interval.high <= 1.0 + most => Regression::Within,
            Some(interval) if interval.low > 1.0 + most => Regression::Regressed,
            _ => Regression::CannotTell,
        };
        let change = most + most.max(LEAST_BEYOND);
        let power = precision.map(|precision| Power {
            change,
            found: precision.share_above(most, change),
            equal_pass: precision.share_below(most, 0.0),
        });
        Self {
            regression,
            rounds_needed: precision
                .filter(|_| regression == Regression::CannotTell)
                .map(|precision| precision.rounds_to_judge(most)),
            power,
        }
    }

    /// Returns the check of a row; `words` describe the result, and `why` gives the reason why the row is
    /// undecided.
    pub(crate) fn check(&self, words: &str, why: &str) -> Checked {
        match self.regression {
            Regression::Regressed => Checked::failed(words, "regression"),
            Regression::CannotTell => Checked::cannot_tell(&format!("{words}; {why}")),
            Regression::NotAsked | Regression::Within => Checked::Passed,
        }
    }
}

impl Checked {
    /// Returns the failure of a check that is undecided.
    pub(crate) fn cannot_tell(why: &str) -> Self {
        Self::failed(format!("cannot tell: {why}"), "cannot-tell")
    }
}

impl Check {
    /// Returns the check of something that was not compared.
    pub(crate) fn skipped(name: impl Into<String>, why: &str) -> Self {
        Self::new(name, Checked::skipped(why))
    }
}

impl Gated {
    pub(crate) fn of(threshold: Option<f64>, rows: impl Iterator<Item = Regression>) -> Self {
        let outcomes = rows.counts();
        let [regressed, cannot_tell] = [Regression::Regressed, Regression::CannotTell]
            .map(|outcome| outcomes.get(&outcome).map_or(0, |rows| *rows as u64));
        Self {
            threshold,
            regressed,
            cannot_tell,
        }
    }

    /// Returns the result of the comparison; `None` without a threshold.
    pub fn result(&self) -> Option<Gate> {
        self.threshold?;
        Some(match (self.regressed, self.cannot_tell) {
            (0, 0) => Gate::Passed,
            (0, _) => Gate::CannotTell,
            _ => Gate::Regressed,
        })
    }

    /// Returns the result and the power of the rounds, if there is a threshold. `rows` are all rows with their names;
    /// `one` is the word for a row, and `many` for several.
    pub(crate) fn headline(
        &self,
        [one, many]: [&str; 2],
        rows: &[(String, Judged)],
    ) -> Option<String> {
        let limit = format!("{:.1} %", self.threshold? * 100.0);
        let outcome = match self.result()? {
            _ if rows.is_empty() && self.regressed + self.cannot_tell == 0 => {
                return Some(format!(
                    "No {one} could be compared with the limit of {limit}."
                ));
            }
            Gate::Regressed => {
                let others = match self.cannot_tell {
                    0 => String::new(),
                    number => format!(
                        " Of {} it cannot be told.",
                        count(number, "other", "others")
                    ),
                };
                format!(
                    "Regressed: {} regressed by more than {limit}.{others}",
                    count(self.regressed, one, many)
                )
            }
            Gate::CannotTell => format!(
                "Cannot tell: of {} it is not known whether they regressed by more than {limit}; nothing else regressed.",
                count(self.cannot_tell, one, many)
            ),
            Gate::Passed => format!("Passed: nothing regressed by more than {limit}."),
        };
        Some(match weakest(rows) {
            Some(power) => format!("{outcome} {power}"),
            None => outcome,
        })
    }
}

/// Returns the power of the row whose rounds reveal a change least often.
fn weakest(rows: &[(String, Judged)]) -> Option<String> {
    let powers = rows.iter();
    let powers = powers.filter_map(|(name, row)| Some((name, row.power?)));
    let (name, power) = powers.min_by(|a, b| a.1.found.total_cmp(&b.1.found))?;
    Some(format!(
        "With these rounds a true {:+.1} % would be found in {:.0} % of comparisons, and equal runs would pass in \
         {:.0} % ({name}, where that is least).",
        power.change * 100.0,
        power.found * 100.0,
        power.equal_pass * 100.0
    ))
}

/// Returns the needed rounds in words: `12 rounds in each run would tell`.
pub(crate) fn needed_in_words(needed: RoundsNeeded) -> String {
    match needed {
        RoundsNeeded::Rounds(rounds) => format!("about {rounds} rounds would tell"),
        RoundsNeeded::AtTheLimit => {
            "no number of rounds would tell: the figure lies at the limit".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_decides() {
        let cases = [
            (0.10, 6.97, Regression::CannotTell),
            (0.50, 0.80, Regression::Within),
            (0.98, 1.05, Regression::Within),
            (1.04, 1.0501, Regression::CannotTell),
            (1.04, 2.05, Regression::CannotTell),
            (1.05, 1.06, Regression::CannotTell),
            (1.0501, 2.0, Regression::Regressed),
        ];
        for (low, high, expected) in cases {
            let interval = Interval {
                level: 0.99,
                low,
                high,
            };
            let judged = Judged::of_interval(Some(interval), None, Some(0.05));
            assert_eq!(judged.regression, expected, "{low} to {high}");
        }
        let none = Judged::unreliable(Some(0.05));
        assert_eq!(none.regression, Regression::CannotTell);
        let not_asked = Judged::unreliable(None);
        assert_eq!(not_asked.regression, Regression::NotAsked);
        for (regressed, cannot_tell, gate) in [
            (0, 0, Gate::Passed),
            (0, 1, Gate::CannotTell),
            (1, 0, Gate::Regressed),
            (1, 1, Gate::Regressed),
        ] {
            let mut gated = Gated {
                threshold: Some(0.05),
                regressed,
                cannot_tell,
            };
            assert_eq!(gated.result(), Some(gate));
            gated.threshold = None;
            assert_eq!(gated.result(), None);
        }
    }
}
