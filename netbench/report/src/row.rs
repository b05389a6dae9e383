//! A figure of two sides and its change: the one row of comparisons of stacks, of runs and of visits.

use netbench_model::{StackName, Unit};
use netbench_stats::{Change, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cell::{Cell, Digits},
    document::{Check, Filling},
    gate::{Judged, Regression},
    text::{change, interval},
};

/// A figure of two sides, and its change from the first to the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RowOf{K}", extend("x-unit-in" = "unit"))]
pub struct Row<K, S = f64> {
    /// The subject of the figure.
    #[serde(flatten)]
    pub key: K,
    /// The unit of the figure.
    #[serde(default)]
    pub unit: Unit,
    /// The first side's figure, or figures.
    #[serde(alias = "first_total_ns")]
    pub first: S,
    /// The other side's.
    #[serde(alias = "other_total_ns")]
    pub other: S,
    /// The ratio of the two, with its verdict on the other.
    #[serde(alias = "paired")]
    pub change: Change,
    /// Whether it is a regression, and the rounds that would decide an undecided verdict.
    #[serde(flatten)]
    pub judged: Judged,
}

impl<K, S> Row<K, S> {
    /// Returns the check of the row, which fails if the row regressed; `why` gives the reason why it is undecided.
    pub(crate) fn check(&self, name: String, class: String, why: &str) -> Check {
        let words = format!(
            "{}: {} ({})",
            self.change.verdict,
            change(self.change.ratio),
            interval(self.change.interval)
        );
        Check {
            name,
            class: Some(class),
            outcome: self.judged.check(&words, why),
            said: Some(words),
        }
    }

    fn verdict(&self) -> Cell {
        match self.judged.regression {
            Regression::Regressed => Cell::Regressed,
            Regression::CannotTell => Cell::text("cannot tell"),
            Regression::NotAsked | Regression::Within => {
                Cell::Verdict(self.change.verdict, self.unit)
            }
        }
    }
}

/// Returns the number of rows with each verdict: faster, slower, same, undecided and not judged.
pub(crate) fn tally<'a, K: 'a>(rows: impl Iterator<Item = &'a Row<K>> + Clone) -> [usize; 5] {
    [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Same,
        Verdict::Undecided,
        Verdict::NotJudged,
    ]
    .map(|verdict| {
        rows.clone()
            .filter(|row| row.change.verdict == verdict)
            .count()
    })
}

/// Returns the stack, or the first side's and the other's if they differ.
pub(crate) fn stacks(first: &StackName, other: &StackName) -> String {
    if first == other {
        first.to_string()
    } else {
        format!("{first} / {other}")
    }
}

/// Returns the cell of a figure.
pub(crate) fn figure(value: f64, unit: Unit) -> Cell {
    match unit {
        Unit::Nanoseconds => Cell::Time(value),
        Unit::Bytes => Cell::Bytes(value),
        Unit::Allocations | Unit::Instructions => Cell::number(value, Digits::Grouped, ""),
    }
}

impl<T> Filling<T> {
    /// Adds the columns of the sides of a row, and of its change.
    pub(crate) fn compared<K>(self, row: impl Fn(&T) -> &Row<K>) -> Self {
        self.col("first", 1, |item| figure(row(item).first, row(item).unit))
            .col("other", 1, |item| figure(row(item).other, row(item).unit))
            .changed("", row)
    }

    /// Adds the columns of a row's change, for the stack of the other side; its name is empty if the table names it.
    pub(crate) fn changed<K, S>(self, other: &str, row: impl Fn(&T) -> &Row<K, S>) -> Self {
        self.col_of(other, "change", 0, |item| {
            Cell::Change(row(item).change.ratio)
        })
        .col_of(other, "interval", 2, |item| {
            Cell::Changes(row(item).change.interval)
        })
        .col_of(other, "verdict", 0, |item| row(item).verdict())
        .would_decide_of(other, |item| row(item).judged.rounds_needed)
    }

    /// Adds the columns of the change of a row whose interval is shown as a time.
    pub(crate) fn change<K, S>(self, other: &str, row: impl Fn(&T) -> &Row<K, S>) -> Self {
        self.col_of(other, "change", 0, |item| {
            Cell::Change(row(item).change.ratio)
        })
        .col_of(other, "verdict", 0, |item| row(item).verdict())
    }
}
