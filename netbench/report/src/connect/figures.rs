use super::{Comparison, ConnectSummary, cold_figures};
use crate::figures::Rows;

/// Every figure of a `connect` run.
pub(super) fn rows(summary: &ConnectSummary, table: &mut Rows) {
    for comparison in &summary.comparisons {
        phases(table, comparison);
        sites(table, comparison);
        shares(table, comparison);
    }
    cold_figures(table, &summary.cold);
    for row in &summary.failures {
        table.about("failures", row.condition.name(), row.stack.as_str(), "");
        let item = format!("{} {}: {}", row.site, row.class, row.reason);
        table.value(&item, "failed", row.failed as f64, "trials");
        table.value(&item, "trials", row.trials as f64, "trials");
    }
    for row in &summary.unsupported {
        table.about("unsupported", row.condition.name(), row.stack.as_str(), "");
        for site in &row.sites {
            table.text(site, "reason", &row.reason);
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
}

fn compares(table: &mut Rows, name: &str, c: &Comparison) {
    table.about(name, c.condition.name(), c.first.as_str(), c.other.as_str());
}

fn phases(table: &mut Rows, comparison: &Comparison) {
    compares(table, "phases", comparison);
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

fn sites(table: &mut Rows, comparison: &Comparison) {
    compares(table, "sites", comparison);
    for row in &comparison.sites.rows {
        table.value(&row.site, "rtt", row.rtt_ns as f64, "ns");
        table.value(&row.site, "first_total_p50", row.first_total_ns, "ns");
        table.value(&row.site, "other_total_p50", row.other_total_ns, "ns");
        table.value(&row.site, "ratio", row.paired.ratio, "other/first");
        table.interval(&row.site, "interval", row.paired.interval);
        table.text(&row.site, "verdict", row.paired.verdict.name());
    }
}

fn shares(table: &mut Rows, comparison: &Comparison) {
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
