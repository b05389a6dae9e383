//! Every figure of a report, one a row: a table that any program can filter, where a column for each
//! figure would differ by table.

use std::sync::Arc;

use netbench_stats::{Figures, Interval};

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Which table of the report it belongs to.
    pub about: Arc<About>,
    /// What it is of: a site, a case, a phase.
    pub item: String,
    /// What it is: `p95`.
    pub figure: String,
    /// Its value.
    pub value: Value,
    /// The unit of the value.
    pub unit: String,
}

/// What figures of one table have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The table.
    pub table: String,
    /// The condition, or the part.
    pub condition: String,
    /// The stack, or the first of two.
    pub first: String,
    /// The stack that is compared with the first.
    pub other: String,
}

/// A figure's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
}

/// Figures as they are collected.
#[derive(Default)]
pub(crate) struct Rows {
    figures: Vec<Figure>,
    about: Arc<About>,
}

impl Rows {
    /// All that were collected.
    pub(crate) fn finish(self) -> Vec<Figure> {
        self.figures
    }

    pub(crate) fn about(&mut self, table: &str, condition: &str, first: &str, other: &str) {
        let [table, condition, first, other] = [table, condition, first, other].map(str::to_owned);
        self.about = Arc::new(About {
            table,
            condition,
            first,
            other,
        });
    }

    pub(crate) fn value(&mut self, item: &str, figure: &str, value: f64, unit: &str) {
        self.put(item, figure, Value::Number(value), unit);
    }

    pub(crate) fn text(&mut self, item: &str, figure: &str, text: &str) {
        self.put(item, figure, Value::Text(text.to_owned()), "");
    }

    fn put(&mut self, item: &str, figure: &str, value: Value, unit: &str) {
        self.figures.push(Figure {
            about: Arc::clone(&self.about),
            item: item.to_owned(),
            figure: figure.to_owned(),
            value,
            unit: unit.to_owned(),
        });
    }

    pub(crate) fn figures(&mut self, item: &str, who: &str, figures: &Figures) {
        let values = [
            ("p5", figures.p5_ns),
            ("p50", figures.p50_ns),
            ("p95", figures.p95_ns),
            ("p99", figures.p99_ns),
            ("mad", figures.mad_ns),
        ];
        for (name, value) in values {
            self.value(item, &format!("{who}_{name}"), value, "ns");
        }
    }

    pub(crate) fn interval(&mut self, item: &str, name: &str, interval: Option<Interval>) {
        if let Some(interval) = interval {
            self.value(item, &format!("{name}_low"), interval.low, "other/first");
            self.value(item, &format!("{name}_high"), interval.high, "other/first");
            self.value(item, &format!("{name}_level"), interval.level, "");
        }
    }
}
