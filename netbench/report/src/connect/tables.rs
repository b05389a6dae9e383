//! Tables of one comparison, or of all conditions of two stacks together.

use super::Comparison;
use crate::{
    cell::Cell,
    document::{Filling, Item, Table},
};

/// Tabulates every phase. All comparisons are of the same two stacks.
pub(super) fn phases(comparisons: &[&Comparison]) -> Option<Item> {
    let any = comparisons.first()?;
    let (first, other) = (any.first.as_str(), any.other.as_str());
    let table = table("phases", comparisons, |comparison| &comparison.phases)?
        .text("phase", 0, |(_, row)| row.words())
        .time(first, 1, |(_, row)| row.first.p50_ns)
        .time(other, 1, |(_, row)| row.other.p50_ns)
        .of_stack(other, |table| {
            table.col("by", 5, |(_, row)| by(row.first.p50_ns, row.change.ratio))
        })
        .changed(other, |(_, row)| row)
        .time(&format!("{first} p95"), 4, |(_, row)| row.first.p95_ns)
        .time(&format!("{other} p95"), 4, |(_, row)| row.other.p95_ns)
        .count("pairs", 3, |(_, row)| row.change.pairs())
        .count("blocks", 5, |(_, row)| row.change.blocks());
    Some(table.item())
}

/// Tabulates the shares of the total time, by class of round-trip time.
pub(super) fn shares(heading: String, comparisons: &[&Comparison]) -> Vec<Item> {
    let what = "where the total goes";
    let Some(table) = table(what, comparisons, |comparison| &comparison.shares) else {
        return Vec::new();
    };
    table
        .text("RTT", 0, |(_, row)| &row.class)
        .text("stack", 0, |(_, row)| &row.stack)
        .time("total", 1, |(_, row)| row.total_ns)
        .col("network", 0, |(_, row)| {
            Cell::Share(row.network_ns, row.total_ns)
        })
        .col("client", 0, |(_, row)| {
            Cell::Share(row.client_ns, row.total_ns)
        })
        .time("client time", 1, |(_, row)| row.client_ns)
        .col("server", 2, |(_, row)| match row.server_ns {
            ns if ns > 0.0 => Cell::Share(ns, row.total_ns),
            _ => Cell::Missing,
        })
        .count("samples", 3, |(_, row)| row.samples)
        .explained(
            heading,
            "Means. Client: CPU time of the connection, which is the stack's for the most part. Server: what it computed \
             in its handshake, where it tells. Network: all the rest, waiting.",
        )
}

/// Returns a change as a time, relative to the first stack's.
pub(super) fn by(first_ns: f64, ratio: f64) -> Cell {
    Cell::TimeDifference(first_ns * (ratio - 1.0))
}

/// Returns a table of the rows of each comparison, with their conditions if there are several.
fn table<'a, T>(
    what: &str,
    comparisons: &[&'a Comparison],
    rows: fn(&'a Comparison) -> &'a Vec<T>,
) -> Option<Filling<(&'a Comparison, &'a T)>> {
    let (any, more) = comparisons.split_first()?;
    let (first, other) = (&any.first, &any.other);
    let all = comparisons.iter();
    let table = Table::of(all.flat_map(|of| rows(of).iter().map(|row| (*of, row))));
    Some(match more {
        [] => {
            let condition = any.condition;
            table.caption(format!(
                "{what}, {condition} connections, {other} against {first}"
            ))
        }
        _ => table
            .caption(format!("{what}, {other} against {first}"))
            .text("condition", 0, |(comparison, _)| comparison.condition),
    })
}
