//! A figure of two sides and its change: the one row of comparisons of stacks, of runs and of visits, and the checks,
//! columns, marks and sentences that are made of a change, whatever it is of.

use std::{collections::BTreeMap, fmt::Display};

use netbench_model::{StackName, Unit};
use netbench_stats::{Change, Interval, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cell::{Cell, Digits},
    document::{Bar, Chart, Check, Dot, Dots, Drawing, Filling, Item},
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

/// A figure of an item, or a property, with its name.
pub(crate) type Named<T, V = f64> = (&'static str, fn(&T) -> V);

/// Returns each row once, in order, with its frequency.
pub(crate) fn counted<R: Ord>(rows: impl Iterator<Item = R>) -> impl Iterator<Item = (R, u64)> {
    let mut counts: BTreeMap<R, u64> = BTreeMap::new();
    for row in rows {
        *counts.entry(row).or_default() += 1;
    }
    counts.into_iter()
}

impl<K, S> Row<K, S> {
    /// Returns the check of the row, which fails if the row regressed; `why` gives the reason why it is undecided.
    pub(crate) fn check(&self, name: String, class: String, why: &str) -> Check {
        let words = format!("{}: {}", self.change.verdict, in_words(&self.change));
        let check = Check::new(name, self.judged.check(&words, why));
        check.of(class).saying(words)
    }

    pub(crate) fn verdict(&self) -> Cell {
        match self.judged.regression {
            Regression::Regressed => Cell::Regressed,
            Regression::CannotTell => Cell::text("cannot tell"),
            Regression::NotAsked | Regression::Within => {
                Cell::Verdict(self.change.verdict, self.unit)
            }
        }
    }
}

/// Returns the number of each verdict: faster, slower, same, undecided and not judged.
pub(crate) fn tally(verdicts: impl Iterator<Item = Verdict>) -> [usize; 5] {
    let mut counts = [0; 5];
    for verdict in verdicts {
        counts[match verdict {
            Verdict::Faster => 0,
            Verdict::Slower => 1,
            Verdict::Same => 2,
            Verdict::Undecided => 3,
            Verdict::NotJudged => 4,
        }] += 1;
    }
    counts
}

/// Returns the number of each verdict in words; `better` counts those of the first kind: `3 cases`.
pub(crate) fn tally_in_words(
    better: impl Display,
    [_, worse, same, undecided, not_judged]: [usize; 5],
) -> String {
    format!(
        "better in {better}, worse in {worse}, the same in {same}, undecided in {undecided}, not judged in {not_judged}."
    )
}

/// Returns a change with its interval: `-1.9 % (-2.5 % … -1.2 %)`.
pub(crate) fn in_words(of: &Change) -> String {
    format!("{} ({})", change(of.ratio), interval(of.interval))
}

/// Returns whether a verdict is that of a difference.
pub(crate) fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

/// Returns the stack, or the first side's and the other's if they differ.
pub(crate) fn stacks(first: &StackName, other: &StackName) -> String {
    if first == other {
        first.to_string()
    } else {
        format!("{first} / {other}")
    }
}

pub(crate) fn figure(value: f64, unit: Unit) -> Cell {
    match unit {
        Unit::Nanoseconds => Cell::Time(value),
        Unit::Bytes => Cell::Bytes(value),
        Unit::Allocations | Unit::Instructions => Cell::number(value, Digits::Grouped, ""),
    }
}

/// Returns the mark of a change in a chart.
pub(crate) fn dot(name: String, change: &Change) -> Dot {
    Dot {
        name,
        ratio: change.ratio,
        interval: change.interval,
        verdict: change.verdict,
    }
}

/// Returns the bar of one of some stacks, in its colour.
pub(crate) fn bar(stacks: &[String], stack: &StackName, length: f64, text: String) -> Bar {
    let mut stacks = stacks.iter();
    let at = stacks.position(|other| other == stack.as_str());
    Bar {
        label: String::new(),
        parts: vec![(at.unwrap_or(0), length)],
        text,
    }
}

/// Returns the chart of some changes; `less` and `more` state what ratios under and over 1 mean.
pub(crate) fn dots(
    title: String,
    note: String,
    [less, more]: [String; 2],
    dots: impl Iterator<Item = Dot>,
) -> Item {
    let drawing = Drawing::Dots(Dots {
        less,
        more,
        dots: dots.collect(),
    });
    Item::Charts(vec![Chart {
        title,
        note,
        drawing,
    }])
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
        self.of_stack(other, |table| {
            table
                .ratio("change", 0, |item| row(item).change.ratio)
                .interval("interval", 2, |item| row(item).change.interval)
                .col("verdict", 0, |item| row(item).verdict())
                .would_decide(|item| row(item).judged.rounds_needed)
        })
    }

    /// Adds the columns of a factor and of its interval, by their names and ranks.
    pub(crate) fn factors(
        self,
        [(name, rank), (interval, interval_rank)]: [(&str, u8); 2],
        factor: impl Fn(&T) -> Option<(f64, Option<Interval>)>,
    ) -> Self {
        self.factor(name, rank, |item| Some(factor(item)?.0))
            .col(interval, interval_rank, |item| {
                Some(Cell::Factors(factor(item)?.1))
            })
    }

    /// Returns the table under a heading and an explanation; empty if there are no rows.
    pub(crate) fn explained(
        self,
        heading: impl Into<String>,
        text: impl Into<String>,
    ) -> Vec<Item> {
        let mut items = self.under(heading);
        if let Some(table) = items.pop() {
            items.extend([Item::text(text), table]);
        }
        items
    }
}
