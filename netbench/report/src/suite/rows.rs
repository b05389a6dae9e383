use netbench_model::Unit;

use super::{CompareSummary, SuiteSummary};
use crate::figures::Rows;

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "ns",
        Unit::Bytes => "bytes",
        Unit::Allocations => "allocations",
        Unit::Instructions => "instructions",
    }
}

/// Every figure of a run of the suite.
pub(super) fn suite(summary: &SuiteSummary, rows: &mut Rows) {
    for case in &summary.cases {
        let unit = unit(case.unit);
        for figures in &case.stacks {
            rows.about("figures", case.part.name(), figures.stack.as_str(), "");
            let mut put = |name: &str, value: Option<f64>, unit: &str| {
                if let Some(value) = value {
                    rows.value(&case.name, name, value, unit);
                }
            };
            put("low", Some(figures.low), unit);
            put("per_second", figures.per_second, "1/s");
            put("bytes_per_second", figures.bytes_per_second, "bytes/s");
            put("mean", figures.mean, unit);
            put("p5", figures.p5, unit);
            put("p50", figures.p50, unit);
            put("p95", figures.p95, unit);
            put("p99", figures.p99, unit);
            put("max", figures.max, unit);
            put("mad", figures.mad, unit);
            put("cpu_p50", figures.cpu_p50, unit);
            put("operations", Some(figures.operations as f64), "operations");
            put("outliers", Some(figures.outliers as f64), "operations");
            put("rounds", Some(figures.rounds as f64), "rounds");
        }
        for verdict in &case.verdicts {
            let (first, other) = (verdict.first.as_str(), verdict.other.as_str());
            rows.about("verdicts", case.part.name(), first, other);
            rows.value(&case.name, "ratio", verdict.paired.ratio, "other/first");
            rows.interval(&case.name, "interval", verdict.paired.interval);
            rows.interval(
                &case.name,
                "interval_single",
                verdict.paired.interval_single,
            );
            rows.value(&case.name, "pairs", verdict.paired.pairs as f64, "pairs");
            rows.value(&case.name, "rounds", verdict.paired.blocks as f64, "rounds");
            rows.text(&case.name, "verdict", verdict.paired.verdict.name());
        }
    }
    if let Some(table) = &summary.published {
        rows.about("published", "", &table.columns[0], &table.columns[1]);
        for row in &table.rows {
            rows.value(&row.case, "first", row.figures[0], &table.unit);
            rows.value(&row.case, "other", row.figures[1], &table.unit);
            rows.text(&row.case, "comparison", &row.comparison);
        }
    }
    for (table, all) in [
        ("failures", &summary.failures),
        ("unsupported", &summary.unsupported),
    ] {
        for row in all {
            rows.about(table, "", row.stack.as_str(), "");
            rows.text(&row.scenario, "reason", &row.reason);
            rows.value(&row.scenario, "trials", row.trials as f64, "trials");
        }
    }
}

/// Every figure of a comparison.
pub(super) fn compare(summary: &CompareSummary, rows: &mut Rows) {
    for case in &summary.cases {
        let (first, other) = (case.first_stack.as_str(), case.other_stack.as_str());
        rows.about("compare", case.part.name(), first, other);
        rows.value(&case.name, "first", case.first, unit(case.unit));
        rows.value(&case.name, "other", case.other, unit(case.unit));
        rows.value(&case.name, "ratio", case.ratio, "other/first");
        rows.interval(&case.name, "interval", case.interval);
        rows.text(&case.name, "verdict", case.verdict.name());
        let regression = match case.regression {
            super::Regression::NotAsked => continue,
            super::Regression::Regressed => "regressed",
            super::Regression::Within => "within",
        };
        rows.text(&case.name, "regression", regression);
    }
}
