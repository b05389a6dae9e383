use netbench_model::{Measure, StackName, Unit};

use super::{
    CaseRow, PublishedRow, StackFigures, SuiteSummary,
    document::{factor, factors},
};
use crate::block::{Block, Table, left, right};

/// The table of a preset in the form in which it is published: a row for each scenario, a column for
/// each stack, and the factor; and beside it what was published.
pub(crate) fn table(blocks: &mut Vec<Block>, summary: &SuiteSummary) {
    let Some(preset) = &summary.run.preset else {
        return;
    };
    let rows: Vec<&CaseRow> = summary.cases.iter().filter(|case| in_table(case)).collect();
    if rows.is_empty() {
        return;
    }
    blocks.push(Block::Heading(format!("{preset}: measured here")));
    blocks.push(Block::Text(
        "Handshakes/s, MiB/s (data in writes of 1 MiB where a name says nothing), KiB or bytes; a factor is \
         how many times less the other stack takes than the first."
            .to_owned(),
    ));
    let stacks: Vec<&StackName> = summary.run.stacks.iter().map(|(name, _)| name).collect();
    let mut columns = vec![left("Scenario", 0)];
    for (at, stack) in stacks.iter().enumerate() {
        columns.push(right(stack.as_str(), 1));
        if at > 0 {
            let name = match stacks.len() {
                2 => "Factor".to_owned(),
                _ => format!("× {stack}"),
            };
            columns.push(right(&name, 0));
            columns.push(right("Interval", 2));
        }
    }
    let cells = rows.iter().map(|case| {
        let mut cells = vec![row_name(&case.name)];
        for (at, stack) in stacks.iter().enumerate() {
            let figures = case.stacks.iter().find(|f| f.stack == **stack);
            cells.push(figures.map_or_else(|| "–".to_owned(), |f| published_unit(case, f)));
            if at > 0 {
                let verdict = case.verdicts.iter().find(|v| v.other == **stack);
                cells.extend(verdict.map_or(["–".to_owned(), "–".to_owned()], |verdict| {
                    [
                        factor(verdict.paired.ratio),
                        factors(verdict.paired.interval),
                    ]
                }));
            }
        }
        cells
    });
    let rows = cells.collect();
    blocks.push(Block::Table(Table { columns, rows }));
    published(blocks, summary);
}

/// The name as published, which leaves out what is the same in all its rows.
pub(crate) fn row_name(case: &str) -> String {
    case.replace("_write-1MiB_amount-1000MB", "")
}

/// Heap and allocations have no place in a table that was published without.
fn in_table(case: &CaseRow) -> bool {
    !matches!(case.case.measure, Measure::Heap | Measure::Allocations)
}

/// A figure in the unit of the published tables.
fn published_unit(case: &CaseRow, figures: &StackFigures) -> String {
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    match (case.unit, figures.bytes_per_second, figures.per_second) {
        (Unit::Nanoseconds, Some(bytes), _) => format!("{:.2}", mib(bytes)),
        (Unit::Nanoseconds, None, Some(rate)) => format!("{rate:.2}"),
        (Unit::Bytes, ..) if case.case.measure == Measure::Peak => {
            format!("{:.0}", figures.low / 1024.0)
        }
        _ => format!("{:.0}", figures.low),
    }
}

fn published(blocks: &mut Vec<Block>, summary: &SuiteSummary) {
    let Some(table) = &summary.published else {
        return;
    };
    blocks.push(Block::Heading(
        "As published (quoted, not measured), on another machine".to_owned(),
    ));
    blocks.push(Block::Text(format!(
        "Source: {}. Machine: {}. Unit: {}. These figures are quoted, not measured, and no verdict rests on \
         them.",
        table.source, table.about, table.unit
    )));
    for fault in &table.faults {
        blocks.push(Block::Text(format!("Known fault (marked !): {fault}")));
    }
    let mark = |row: &PublishedRow| if row.doubtful { " !" } else { "" };
    blocks.push(
        Table::of(&table.rows)
            .left("Scenario", 0, |row| row_name(&row.case))
            .right(&table.columns[0], 1, |row| row.figures[0].to_string())
            .right(&table.columns[1], 1, |row| row.figures[1].to_string())
            .right("published", 0, |row| {
                format!("{}{}", row.comparison, mark(row))
            })
            .block(),
    );
}
