use netbench_model::{Measure, Unit};

use super::{
    CaseRow, StackFigures, SuiteSummary,
    cases::{by_stack, row_name},
};
use crate::{
    cell::{Cell, Digits},
    document::{Item, Table},
};

/// The table of a preset in the form in which it is published: a row for each scenario, a column for
/// each stack, and the factor; and beside it what was published.
pub(super) fn table(items: &mut Vec<Item>, summary: &SuiteSummary) {
    let Some(preset) = &summary.run.preset else {
        return;
    };
    let rows: Vec<&CaseRow> = summary.cases.iter().filter(|case| in_table(case)).collect();
    if rows.is_empty() {
        return;
    }
    items.push(Item::Heading(format!("{preset}: measured here")));
    items.push(Item::text(
        "Handshakes/s, MiB/s (data in writes of 1 MiB where a name says nothing), or KiB of memory; a factor is the \
         first stack's time or size over the other's; above 1 the other is better.",
    ));
    let table = Table::of(rows).col("Scenario", 0, |case| Cell::text(row_name(&case.name)));
    items.push(by_stack(table, summary, published_unit).item());
    published(items, summary);
}

/// Heap and allocations have no place in a table that was published without.
fn in_table(case: &CaseRow) -> bool {
    !matches!(case.case.measure, Measure::Heap | Measure::Allocations)
}

/// A figure in the unit of the published tables.
fn published_unit(case: &CaseRow, figures: &StackFigures) -> Cell {
    let (value, digits) = match (case.unit, figures.bytes_per_second, figures.per_second) {
        (Unit::Nanoseconds, Some(bytes), _) => (bytes / f64::from(1 << 20), 2),
        (Unit::Nanoseconds, None, Some(rate)) => (rate, 2),
        (Unit::Bytes, ..) if case.case.measure == Measure::Peak => (figures.low / 1024.0, 0),
        (Unit::Bytes, ..) => (figures.low / 1024.0, 1),
        _ => (figures.low, 0),
    };
    Cell::number(value, Digits::Decimals(digits), "")
}

fn published(items: &mut Vec<Item>, summary: &SuiteSummary) {
    let Some(table) = &summary.published else {
        return;
    };
    items.push(Item::heading(
        "As published (quoted, not measured), on another machine",
    ));
    items.push(Item::Text(format!(
        "Source: {}. Machine: {}. Unit: {}. These figures are quoted, not measured, and no verdict rests on them.",
        table.source, table.about, table.unit
    )));
    for fault in &table.faults {
        items.push(Item::Text(format!("Known fault (marked !): {fault}")));
    }
    let figure = |value: f64| Cell::number(value, Digits::All, "");
    items.push(
        Table::of(&table.rows)
            .col("Scenario", 0, |row| Cell::text(row_name(&row.case)))
            .col(&table.columns[0], 1, |row| figure(row.figures[0]))
            .col(&table.columns[1], 1, |row| figure(row.figures[1]))
            .col("published", 0, |row| {
                let mark = if row.doubtful { " !" } else { "" };
                Cell::text(format!("{}{mark}", row.comparison))
            })
            .item(),
    );
}
