use csv::{Terminator, Writer, WriterBuilder};
use netbench_stats::{Figures, Interval};

use crate::text::plain;

/// The columns.
const COLUMNS: [&str; 8] = [
    "table",
    "condition",
    "first",
    "other",
    "item",
    "figure",
    "value",
    "unit",
];

/// Figures, one to a row: table, condition, stacks, what it is of, what it is, value, unit. A table of
/// every figure that any program can filter, where one column for each figure would differ by table.
pub struct Rows {
    writer: Writer<Vec<u8>>,
    before: Vec<String>,
}

impl Rows {
    pub(crate) fn new() -> Self {
        let mut rows = Self {
            writer: WriterBuilder::new()
                .terminator(Terminator::Any(b'\n'))
                .from_writer(Vec::new()),
            before: Vec::new(),
        };
        rows.row(&COLUMNS.map(str::to_owned));
        rows
    }

    /// What was written, with a header line.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.writer.into_inner().unwrap_or_default()
    }

    pub(crate) fn about(&mut self, table: &str, condition: &str, first: &str, other: &str) {
        self.before = [table, condition, first, other].map(plain).to_vec();
    }

    pub(crate) fn value(&mut self, item: &str, figure: &str, value: f64, unit: &str) {
        let mut fields = self.before.clone();
        fields.extend([
            cell(item),
            figure.to_owned(),
            value.to_string(),
            unit.to_owned(),
        ]);
        self.row(&fields);
    }

    pub(crate) fn text(&mut self, item: &str, figure: &str, text: &str) {
        let mut fields = self.before.clone();
        fields.extend([cell(item), figure.to_owned(), cell(text), String::new()]);
        self.row(&fields);
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

    fn row(&mut self, fields: &[String]) {
        // Into memory: it cannot fail but for want of it.
        let _ = self.writer.write_record(fields);
    }
}

/// A cell that no spreadsheet takes for a formula.
fn cell(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}
