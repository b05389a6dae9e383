use crate::block::{Align, Table};

/// A table of the page: sortable, filterable, and to be had as CSV.
#[derive(Debug, Clone, PartialEq)]
pub struct PageTable {
    /// What it is of.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<PageColumn>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of the page's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageColumn {
    /// Its heading.
    pub name: String,
    /// The unit of its cells' values in CSV, where they have values.
    pub unit: &'static str,
    /// To which side its cells are set.
    pub align: Align,
}

impl PageColumn {
    /// A column of words.
    pub fn words(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: "",
            align: Align::Left,
        }
    }

    /// A column of figures, in CSV in this unit.
    pub fn figures(name: &str, unit: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            unit,
            align: Align::Right,
        }
    }
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// By what it is sorted, where it is a figure.
    pub sort: Option<f64>,
    /// The figure for CSV, in its column's unit; else CSV has the text.
    pub value: Option<f64>,
}

impl Cell {
    /// Words.
    pub fn words(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            sort: None,
            value: None,
        }
    }

    /// A figure as people read it, and its value in its column's unit.
    pub fn figure(text: impl Into<String>, value: f64) -> Self {
        Self {
            text: text.into(),
            sort: Some(value),
            value: Some(value),
        }
    }
}

impl PageTable {
    /// The table of another form of the report. Its figures are sorted by what they say.
    pub fn of_block(caption: &str, table: Table) -> Self {
        let columns = table.columns.into_iter().map(|column| PageColumn {
            name: column.name,
            unit: "",
            align: column.align,
        });
        let cell = |text: String| Cell {
            sort: sort_key(&text),
            value: None,
            text,
        };
        Self {
            caption: caption.to_owned(),
            columns: columns.collect(),
            rows: table
                .rows
                .into_iter()
                .map(|row| row.into_iter().map(cell).collect())
                .collect(),
        }
    }
}

/// The figure that a text begins with, with its unit taken into account.
fn sort_key(text: &str) -> Option<f64> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || "+-.,".contains(c)))
        .unwrap_or(text.len());
    let number: f64 = text[..end].replace(',', "").parse().ok()?;
    let rest = text[end..].trim_start();
    let unit = rest.split([' ', '/', '(']).next().unwrap_or_default();
    Some(match unit {
        "µs" => number * 1e3,
        "ms" => number * 1e6,
        "s" => number * 1e9,
        "%" => number,
        // Changes above double are written as factors.
        "×" => (number - 1.0) * 100.0,
        _ => number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_sorted_by_what_they_say() {
        let cases = [
            ("999 ns", Some(999.0)),
            ("1.50 µs", Some(1500.0)),
            ("57.1 ms", Some(57.1e6)),
            ("-1.9 %", Some(-1.9)),
            ("3.00×", Some(200.0)),
            ("12,345/s", Some(12345.0)),
            ("1 of 10", Some(1.0)),
            ("–", None),
            ("word", None),
            ("", None),
        ];
        for (text, key) in cases {
            let got = sort_key(text);
            match (got, key) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 1e-6, "{text}: {a}"),
                (got, key) => assert_eq!(got, key, "{text}"),
            }
        }
    }
}
