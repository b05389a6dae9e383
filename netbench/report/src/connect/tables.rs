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
    let (first, other) = stacks(comparisons)?;
    let rows = comparisons
        .iter()
        .flat_map(|comparison| comparison.phases.iter().map(|row| (*comparison, row)));
    let table = Table::of(rows).caption(caption("phases", comparisons)?);
    let table = with_condition(table, comparisons)
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
    let rows = comparisons
        .iter()
        .flat_map(|comparison| comparison.shares.iter().map(|row| (*comparison, row)));
    let table = Table::of(rows).caption(caption("where the total goes", comparisons)?);
    let table = with_condition(table, comparisons)
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

fn stacks<'a>(comparisons: &[&'a Comparison]) -> Option<(&'a str, &'a str)> {
    let comparison = comparisons.first()?;
    Some((comparison.first.as_str(), comparison.other.as_str()))
}

fn caption(what: &str, comparisons: &[&Comparison]) -> Option<String> {
    let (first, other) = stacks(comparisons)?;
    Some(match comparisons {
        [comparison] => format!(
            "{what}, {} connections, {other} against {first}",
            comparison.condition
        ),
        _ => format!("{what}, {other} against {first}"),
    })
}

fn with_condition<'a, T>(
    table: Filling<(&'a Comparison, T)>,
    comparisons: &[&Comparison],
) -> Filling<(&'a Comparison, T)> {
    match comparisons {
        [_] => table,
        _ => table.col("condition", 0, |(comparison, _)| {
            Cell::text(comparison.condition)
        }),
    }
}
