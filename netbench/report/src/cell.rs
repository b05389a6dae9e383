//! The value of a table's cell, and its conversion to text.

use netbench_model::Unit;
use netbench_stats::{Interval, Verdict};

use crate::text::{
    TOO_FEW, bytes, change, factor, grouped, interval, percent, plain, signed_time, time,
};

/// A cell of a table. Ratios are the other stack's figure over the first one's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Words as they came: formats make them harmless.
    Text(String),
    /// Words with a link, in formats that have links.
    Link {
        words: String,
        url: String,
    },
    Missing,
    /// Nanoseconds.
    Time(f64),
    /// A difference in nanoseconds, with its sign.
    TimeDifference(f64),
    /// A ratio, shown as a change: `-1.9 %`.
    Change(f64),
    /// The interval of a ratio, shown as changes; absent with too few rounds.
    Changes(Option<Interval>),
    /// A ratio, shown inverted, as the first stack's figure over the other's: `1.05×`.
    Factor(f64),
    /// The interval of a ratio, shown as factors; absent with too few rounds.
    Factors(Option<Interval>),
    /// A number in a unit that has no variant; the unit is empty if the column's heading states it.
    Number {
        value: f64,
        digits: Digits,
        unit: &'static str,
    },
    Bytes(f64),
    /// Operations per second.
    Rate(f64),
    /// Bytes per second.
    Throughput(f64),
    /// A share of a whole: `12.3 %`.
    Share(f64, f64),
    /// A part of a total: `3 of 10`.
    Of(u64, u64),
    /// A part of a total, with the share: `3 (30.0 %)`.
    CountAndShare(u64, u64),
    /// Tests that passed, failed, and were unsupported.
    Tally([u64; 3]),
    /// The verdict of an interval about a figure in this unit.
    Verdict(Verdict, Unit),
    /// A case that is worse than a threshold allows.
    Regressed,
    /// A figure, with the verdict and the ratio of its step from another: `2.00 ms ▲1.05×`.
    Step(Box<Self>, Verdict, f64),
}

/// The digits that a number is shown with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    All,
    /// This many digits after the point.
    Decimals(usize),
    /// A whole number, with thousands separated.
    Grouped,
}

impl Cell {
    pub(crate) fn text(words: impl ToString) -> Self {
        Self::Text(words.to_string())
    }

    pub(crate) fn maybe(words: Option<impl ToString>) -> Self {
        words.map_or(Self::Missing, Self::text)
    }

    pub(crate) fn count(count: impl TryInto<u64>) -> Self {
        let count = count.try_into().unwrap_or(u64::MAX);
        Self::number(count as f64, Digits::All, "")
    }

    pub(crate) fn number(value: f64, digits: Digits, unit: &'static str) -> Self {
        Self::Number {
            value,
            digits,
            unit,
        }
    }

    /// Returns a cell with the verdict of an interval about a time.
    pub(crate) fn verdict(verdict: Verdict) -> Self {
        Self::Verdict(verdict, Unit::Nanoseconds)
    }

    /// Renders the cell for people. Control characters are removed, so that a terminal obeys none.
    pub(crate) fn render(&self) -> String {
        match self {
            Self::Text(text) | Self::Link { words: text, .. } => plain(text),
            Self::Missing => "–".to_owned(),
            Self::Time(ns) => time(*ns),
            Self::TimeDifference(ns) => signed_time(*ns),
            Self::Change(ratio) => change(*ratio),
            Self::Changes(ends) => interval(*ends),
            Self::Factor(ratio) => factor(*ratio),
            Self::Factors(None) => TOO_FEW.to_owned(),
            Self::Factors(Some(i)) => format!("{} … {}", factor(i.high), factor(i.low)),
            Self::Number {
                value,
                digits,
                unit,
            } => number(*value, *digits, unit),
            Self::Bytes(count) => bytes(*count),
            Self::Rate(rate) => format!("{}/s", grouped(*rate)),
            Self::Throughput(rate) => format!("{} MB/s", grouped(rate / 1e6)),
            Self::Share(part, whole) => percent(*part, *whole),
            Self::Of(part, whole) => format!("{part} of {whole}"),
            Self::CountAndShare(part, whole) => {
                format!("{part} ({})", percent(*part as f64, *whole as f64))
            }
            Self::Tally([0, 0, 0]) => "–".to_owned(),
            Self::Tally(counts @ [passed, failed, _]) => {
                let failed = match failed {
                    0 => String::new(),
                    failed => format!(", {failed} failed"),
                };
                format!("{passed} of {}{failed}", counts.iter().sum::<u64>())
            }
            Self::Verdict(verdict, unit) => verdict_word(*verdict, *unit).to_owned(),
            Self::Regressed => "regressed".to_owned(),
            Self::Step(figure, verdict, ratio) => {
                let mark = if *verdict == Verdict::Faster {
                    "▲"
                } else {
                    "▼"
                };
                format!("{} {mark}{}", figure.render(), factor(*ratio))
            }
        }
    }

    /// Returns the value, in [`Self::unit`], by which cells are sorted.
    pub(crate) fn value(&self) -> Option<f64> {
        Some(match self {
            Self::Time(value)
            | Self::TimeDifference(value)
            | Self::Change(value)
            | Self::Bytes(value)
            | Self::Rate(value)
            | Self::Throughput(value) => *value,
            Self::Factor(ratio) => 1.0 / ratio,
            Self::Number { value, .. } => *value,
            Self::Share(part, whole) if *whole > 0.0 => 100.0 * part / whole,
            Self::Of(part, _) | Self::CountAndShare(part, _) => *part as f64,
            Self::Tally(counts @ [passed, ..]) if *counts != [0; 3] => *passed as f64,
            Self::Step(figure, ..) => return figure.value(),
            _ => return None,
        })
    }

    /// Returns the unit of [`Self::value`].
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Time(_) | Self::TimeDifference(_) => "ns",
            Self::Change(_) => "other/first",
            Self::Factor(_) => "first/other",
            Self::Number { unit, .. } => unit,
            Self::Bytes(_) => "bytes",
            Self::Rate(_) => "1/s",
            Self::Throughput(_) => "bytes/s",
            Self::Share(..) => "%",
            Self::Step(figure, ..) => figure.unit(),
            _ => "",
        }
    }

    /// Returns the lower and the upper end as separate cells, for formats with room for them.
    pub(crate) fn ends(&self) -> Option<[Self; 2]> {
        match self {
            Self::Changes(Some(i)) => Some([Self::Change(i.low), Self::Change(i.high)]),
            Self::Factors(Some(i)) => Some([Self::Factor(i.high), Self::Factor(i.low)]),
            Self::Changes(None) | Self::Factors(None) => {
                Some([Self::Text(self.render()), Self::Missing])
            }
            _ => None,
        }
    }

    /// Returns whether [`Self::value`] is the cell's whole content.
    pub(crate) fn is_one_value(&self) -> bool {
        !matches!(
            self,
            Self::Of(..) | Self::CountAndShare(..) | Self::Tally(_) | Self::Step(..)
        )
    }

    /// Returns the verdict that a format may colour.
    pub(crate) fn tone(&self) -> Option<Verdict> {
        match self {
            Self::Verdict(verdict, _) | Self::Step(_, verdict, _) => Some(*verdict),
            Self::Regressed => Some(Verdict::Slower),
            _ => None,
        }
    }

    /// Returns whether the cell is a figure, which is aligned to the right.
    pub(crate) fn is_figure(&self) -> bool {
        !matches!(
            self,
            Self::Text(_) | Self::Link { .. } | Self::Missing | Self::Verdict(..) | Self::Regressed
        )
    }
}

/// Converts a cell that a row may lack.
impl From<Option<Self>> for Cell {
    fn from(cell: Option<Self>) -> Self {
        cell.unwrap_or(Self::Missing)
    }
}

fn number(value: f64, digits: Digits, unit: &str) -> String {
    let number = match digits {
        Digits::All => value.to_string(),
        Digits::Decimals(digits) => format!("{value:.digits$}"),
        Digits::Grouped => grouped(value),
    };
    match unit {
        "" => number,
        unit => format!("{number} {unit}"),
    }
}

/// Returns the word for a verdict on a figure in this unit.
pub(crate) fn verdict_word(verdict: Verdict, unit: Unit) -> &'static str {
    match (verdict, unit) {
        (Verdict::Faster, Unit::Bytes) => "smaller",
        (Verdict::Slower, Unit::Bytes) => "larger",
        (Verdict::Faster, Unit::Allocations | Unit::Instructions) => "fewer",
        (Verdict::Slower, Unit::Allocations | Unit::Instructions) => "more",
        (verdict, _) => verdict.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_one_text_and_one_value() {
        let interval = Some(Interval {
            level: 0.99,
            low: 0.5,
            high: 0.8,
        });
        let cells = [
            (Cell::text("a\x1b[2J"), "a\u{fffd}[2J", None, ""),
            (Cell::Missing, "–", None, ""),
            (Cell::Time(57.1e6), "57.1 ms", Some(57.1e6), "ns"),
            (Cell::TimeDifference(-1.5e3), "-1.50 µs", Some(-1.5e3), "ns"),
            (Cell::Change(0.981), "-1.9 %", Some(0.981), "other/first"),
            (Cell::Changes(interval), "-50 % … -20 %", None, ""),
            (Cell::Changes(None), "too few rounds", None, ""),
            (Cell::Factor(0.5), "2.000×", Some(2.0), "first/other"),
            (Cell::Factors(interval), "1.250× … 2.000×", None, ""),
            (Cell::count(7u64), "7", Some(7.0), ""),
            (
                Cell::number(12_345.0, Digits::Grouped, "kB"),
                "12,345 kB",
                Some(12_345.0),
                "kB",
            ),
            (Cell::Bytes(15_860e3), "15.9 MB", Some(15_860e3), "bytes"),
            (Cell::Rate(12_345.0), "12,345/s", Some(12_345.0), "1/s"),
            (Cell::Throughput(2e9), "2,000 MB/s", Some(2e9), "bytes/s"),
            (Cell::Share(1.0, 8.0), "12.5 %", Some(12.5), "%"),
            (Cell::Share(0.0, 0.0), "–", None, "%"),
            (Cell::Of(1, 10), "1 of 10", Some(1.0), ""),
            (
                Cell::Step(Box::new(Cell::Time(2e6)), Verdict::Slower, 1.25),
                "2.00 ms ▼0.800×",
                Some(2e6),
                "ns",
            ),
            (Cell::CountAndShare(1, 8), "1 (12.5 %)", Some(1.0), ""),
            (Cell::Tally([1, 2, 1]), "1 of 4, 2 failed", Some(1.0), ""),
            (Cell::Tally([1, 0, 1]), "1 of 2", Some(1.0), ""),
            (
                Cell::Verdict(Verdict::Faster, Unit::Bytes),
                "smaller",
                None,
                "",
            ),
        ];
        for (cell, text, value, unit) in cells {
            assert_eq!(cell.render(), text);
            assert_eq!((cell.value(), cell.unit()), (value, unit), "{text}");
        }
        let ends = Cell::Factors(interval)
            .ends()
            .map(|ends| ends.map(|e| e.render()));
        assert_eq!(ends, Some(["1.250×", "2.000×"].map(str::to_owned)));
    }
}
