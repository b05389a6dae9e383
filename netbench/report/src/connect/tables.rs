//! Tables of one comparison, or of all conditions of two stacks together.

use super::{Comparison, summary::ShareRow};
use crate::{
    cell::Cell,
    document::{Filling, Item, Table},
};

/// Whether each condition has separate tables, or all conditions share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tables {
    Each,
    Joined,
}

/// Tabulates every phase. All comparisons are of the same two stacks.
pub(super) fn phases(comparisons: &[&Comparison]) -> Option<Item> {
    let any = comparisons.first()?;
    let (first, other) = (any.first.as_str(), any.other.as_str());
    let table = table("phases", comparisons, |comparison| &comparison.phases)?
        .col("phase", 0, |(_, row)| Cell::text(row.words()))
        .col(first, 1, |(_, row)| Cell::Time(row.first.p50_ns))
        .col(other, 1, |(_, row)| Cell::Time(row.other.p50_ns))
        .col_of(other, "by", 5, |(_, row)| {
            by(row.first.p50_ns, row.change.ratio)
        })
        .changed(other, |(_, row)| row)
        .col(&format!("{first} p95"), 4, |(_, row)| {
            Cell::Time(row.first.p95_ns)
        })
        .col(&format!("{other} p95"), 4, |(_, row)| {
            Cell::Time(row.other.p95_ns)
        })
        .col("pairs", 3, |(_, row)| Cell::count(row.change.pairs()))
        .col("blocks", 5, |(_, row)| Cell::count(row.change.blocks()));
    Some(table.item())
}

/// Tabulates the shares of the total time, by class of round-trip time.
pub(super) fn shares<'a>(
    comparisons: &[&'a Comparison],
) -> Option<Filling<(&'a Comparison, &'a ShareRow)>> {
    let what = "where the total goes";
    let table = table(what, comparisons, |comparison| &comparison.shares)?
        .col("RTT", 0, |(_, row)| Cell::text(&row.class))
        .col("stack", 0, |(_, row)| Cell::text(&row.stack))
        .col("total", 1, |(_, row)| Cell::Time(row.total_ns))
        .col("network", 0, |(_, row)| {
            Cell::Share(row.network_ns, row.total_ns)
        })
        .col("client", 0, |(_, row)| {
            Cell::Share(row.client_ns, row.total_ns)
        })
        .col("client time", 1, |(_, row)| Cell::Time(row.client_ns))
        .col("server", 2, |(_, row)| match row.server_ns {
            ns if ns > 0.0 => Cell::Share(ns, row.total_ns),
            _ => Cell::Missing,
        })
        .col("samples", 3, |(_, row)| Cell::count(row.samples));
    Some(table)
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
            .col("condition", 0, |(comparison, _)| {
                Cell::text(comparison.condition)
            }),
    })
}
