//! CSV, one value a row: condition, stacks, what it is of, what it is, value, unit. A table of every
//! figure that any program can filter, where one column for each figure would differ by table.

use ::csv::{Terminator, WriterBuilder};
use netbench_stats::{Figures, Interval};

use crate::{Comparison, ConnectSummary, text::plain};

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

/// The summary as CSV with a header line (RFC 4180, but for line ends of one character).
pub fn render(summary: &ConnectSummary) -> Vec<u8> {
    let mut table = Table {
        writer: WriterBuilder::new()
            .terminator(Terminator::Any(b'\n'))
            .from_writer(Vec::new()),
        before: Vec::new(),
    };
    table.row(&COLUMNS.map(str::to_owned));
    for comparison in &summary.comparisons {
        phases(&mut table, comparison);
        sites(&mut table, comparison);
        shares(&mut table, comparison);
    }
    for row in &summary.failures {
        table.about("failures", row.condition.name(), row.stack.as_str(), "");
        let item = format!("{} {}: {}", row.site, row.class, row.reason);
        table.value(&item, "failed", row.failed as f64, "trials");
        table.value(&item, "trials", row.trials as f64, "trials");
    }
    for row in &summary.unsupported {
        table.about("unsupported", row.condition.name(), row.stack.as_str(), "");
        for site in &row.sites {
            table.text(site, "reason", &plain(&row.reason));
        }
    }
    for row in &summary.left_out {
        table.about("left_out", row.condition.name(), "", row.other.as_str());
        table.value(
            &format!("{}: {}", row.site, row.why),
            "pairs",
            row.pairs as f64,
            "pairs",
        );
    }
    table.writer.into_inner().unwrap_or_default()
}

fn phases(table: &mut Table, comparison: &Comparison) {
    table.compares("phases", comparison);
    for row in &comparison.phases {
        let item = row.phase.name();
        for (who, figures) in [("first", &row.first), ("other", &row.other)] {
            table.figures(item, who, figures);
        }
        table.value(item, "ratio", row.paired.ratio, "other/first");
        table.interval(item, "interval", row.paired.interval);
        table.interval(item, "interval_single", row.paired.interval_single);
        table.value(item, "pairs", row.paired.pairs as f64, "pairs");
        table.text(item, "verdict", row.paired.verdict.name());
    }
}

fn sites(table: &mut Table, comparison: &Comparison) {
    table.compares("sites", comparison);
    for row in &comparison.sites.rows {
        table.value(&row.site, "rtt", row.rtt_ns as f64, "ns");
        table.value(&row.site, "first_total_p50", row.first_total_ns, "ns");
        table.value(&row.site, "other_total_p50", row.other_total_ns, "ns");
        table.value(&row.site, "ratio", row.paired.ratio, "other/first");
        table.interval(&row.site, "interval", row.paired.interval);
        table.text(&row.site, "verdict", row.paired.verdict.name());
    }
}

fn shares(table: &mut Table, comparison: &Comparison) {
    for row in &comparison.shares {
        table.about(
            "shares",
            comparison.condition.name(),
            row.stack.as_str(),
            "",
        );
        table.value(&row.class, "total_mean", row.total_ns, "ns");
        table.value(&row.class, "client_mean", row.client_ns, "ns");
        table.value(&row.class, "server_mean", row.server_ns, "ns");
        table.value(&row.class, "network_mean", row.network_ns, "ns");
        table.value(&row.class, "samples", row.samples as f64, "samples");
    }
}

struct Table {
    writer: ::csv::Writer<Vec<u8>>,
    before: Vec<String>,
}

impl Table {
    fn about(&mut self, table: &str, condition: &str, first: &str, other: &str) {
        self.before = [table, condition, first, other].map(plain).to_vec();
    }

    fn compares(&mut self, table: &str, c: &Comparison) {
        self.about(
            table,
            c.condition.name(),
            c.first.as_str(),
            c.other.as_str(),
        );
    }

    fn value(&mut self, item: &str, figure: &str, value: f64, unit: &str) {
        let mut fields = self.before.clone();
        fields.extend([
            cell(item),
            figure.to_owned(),
            value.to_string(),
            unit.to_owned(),
        ]);
        self.row(&fields);
    }

    fn text(&mut self, item: &str, figure: &str, text: &str) {
        let mut fields = self.before.clone();
        fields.extend([
            cell(item),
            figure.to_owned(),
            text.to_owned(),
            String::new(),
        ]);
        self.row(&fields);
    }

    fn figures(&mut self, item: &str, who: &str, figures: &Figures) {
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

    fn interval(&mut self, item: &str, name: &str, interval: Option<Interval>) {
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
