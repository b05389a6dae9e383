use itertools::Itertools;
use netbench_model::{Measure, Part, Preset, StackName, Unit};

use super::{
    CaseRow, StackFigures, SuiteSummary,
    cases::{by_stack, row_name, value},
    charts::{is_full, rankings},
    history::{self, is_history},
    published::{Agreement, PublishedRow, PublishedTable, Today},
};
use crate::{
    cell::{Cell, Digits},
    differences::against_first,
    document::{Filling, Item, Table},
    text::count,
};

/// Builds the pictures of a run of more than two stacks.
pub(super) fn pictures(summary: &SuiteSummary) -> Vec<Item> {
    let cases = summary.cases.iter().filter(|case| in_table(case));
    rankings(summary, &cases.collect::<Vec<_>>())
}

/// Builds the table of a preset in its published format: a row for each scenario, a column for each stack, and the
/// factor; and the published table for comparison.
pub(super) fn table(items: &mut Vec<Item>, summary: &SuiteSummary) {
    let Some(preset) = &summary.run.preset else {
        return;
    };
    let rows: Vec<&CaseRow> = summary.cases.iter().filter(|case| in_table(case)).collect();
    if rows.is_empty() {
        return;
    }
    if *preset == Preset::AllStacks.name() {
        all_stacks(items, summary, &rows);
        return;
    }
    if is_history(Some(preset)) {
        items.extend(history::items(summary, &rows));
        return;
    }
    let table = Table::of(rows).text("Scenario", 0, |case| row_name(&case.name));
    items.extend(by_stack(table, summary, published_unit).explained(
        format!("{preset}: measured here"),
        "Handshakes/s, MiB/s (data in writes of 1 MiB where a name says nothing), or KiB of memory; a factor is the \
         first stack's time or size over the other's; above 1 the other is better.",
    ));
    published(items, summary);
}

/// Builds a row for each stack, with its figures, and one with its factors.
fn all_stacks(items: &mut Vec<Item>, summary: &SuiteSummary, cases: &[&CaseRow]) {
    let Some(((first, _), others)) = summary.run.stacks.split_first() else {
        return;
    };
    items.push(Item::heading("One row for each stack"));
    items.push(Item::text(
        "TLS 1.3 with TLS_AES_128_GCM_SHA256, x25519 and certificates with P-256: full handshakes and those with a ticket, \
         data sent and received in writes of 16 KiB, verification of a chain and a client's configuration with 118 trust \
         roots, the peak memory of a process with 100 sessions, and what a session adds. The tables below have the whole names of these cases, with intervals.",
    ));
    items.push(by_case(&summary.run.stacks, cases, |case, stack| {
        Some(value(case, case.of(stack)?))
    }));
    items.push(Item::Heading(format!(
        "The same as factors: {first}'s time or size over the stack's"
    )));
    items.push(Item::text(
        "Above 1 the stack is better. “undecided” and “not judged” stand where there is no verdict.",
    ));
    items.push(by_case(others, cases, |case, stack| {
        let against = case.against_first(stack)?;
        Some(match against.change.verdict.is_decided() {
            true => Cell::Factor(against.change.ratio),
            false => case.verdict(against),
        })
    }));
}

/// Builds a row for each stack with a column for each case.
fn by_case(
    stacks: &[(StackName, String)],
    cases: &[&CaseRow],
    cell: fn(&CaseRow, &StackName) -> Option<Cell>,
) -> Item {
    let table = Table::of(stacks).text("stack", 0, |(name, _)| name);
    let cases = (1..).zip(cases);
    let table = cases.fold(table, |table, (rank, case)| {
        table.col(&column(case), rank, |(stack, _)| cell(case, stack))
    });
    table.item()
}

/// Returns the name of a case of [`Preset::AllStacks`] at the head of a column.
fn column(case: &CaseRow) -> String {
    let measure = case.case.measure;
    match case.part {
        Part::Handshake => {
            let kind = if is_full(case) { "full" } else { "ticket" };
            format!("{kind}, {measure}")
        }
        Part::Bulk => measure.to_string(),
        Part::Verify => "verification".to_owned(),
        Part::Connector => "configuration".to_owned(),
        Part::Memory => match measure {
            Measure::Peak => "100 sessions".to_owned(),
            _ => "a session".to_owned(),
        },
        Part::Crypto | Part::Threads | Part::Instructions => case.name.clone(),
    }
}

/// Returns whether a case is in the table. Heap and allocations are not: the table was published without them.
fn in_table(case: &CaseRow) -> bool {
    !matches!(
        case.case.measure,
        Measure::Heap | Measure::HeapOfClient | Measure::HeapOfServer | Measure::Allocations
    )
}

/// Returns a figure in the unit of the published tables.
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
    let pairs = against_first(&table.stacks);
    items.extend(pairs.filter_map(|(first, other)| agreement(table, first, other)));
    items.push(rows_of(table));
}

/// Builds the rows of a published table, with the factors that were measured here.
fn rows_of(table: &PublishedTable) -> Item {
    let mut rows = Table::of(&table.rows).text("Scenario", 0, |row| row_name(&row.case));
    for (place, column) in table.columns.iter().enumerate() {
        rows = rows.col(column, 2, |row| {
            Some(Cell::number(*row.figures.get(place)?, Digits::All, ""))
        });
    }
    if table.rows.iter().any(|row| row.comparison.is_some()) {
        rows = rows.col("published", 0, |row| {
            let mark = if row.doubtful { " !" } else { "" };
            let comparison = row.comparison.as_ref();
            Cell::maybe(comparison.map(|comparison| format!("{comparison}{mark}")))
        });
    }
    rows = with_today(rows, table);
    let mut known = table.rows.iter();
    if known.any(|row| row.cause.is_some() && !row.today.is_empty()) {
        rows = rows.optional("cause of the difference", 3, |row| row.cause.as_ref());
    }
    rows.item()
}

/// Adds the published and the measured factor of each stack. A table of two stacks has the published factors already.
fn with_today<'a>(
    mut rows: Filling<&'a PublishedRow>,
    table: &'a PublishedTable,
) -> Filling<&'a PublishedRow> {
    let today = table.rows.iter().flat_map(|row| &row.today);
    let stacks: Vec<&StackName> = today.map(|today| &today.stack).unique().collect();
    for stack in &stacks {
        if stacks.len() > 1 {
            let published = format!("{stack}, published");
            rows = rows.of_stack(stack.as_str(), |rows| {
                rows.factor(&published, 0, |row| Some(row.against(stack)?.published))
            });
        }
        let headings = ["measured here", "the same?"].map(|heading| match stacks.len() {
            1 => heading.to_owned(),
            _ => format!("{stack}, {heading}"),
        });
        rows = rows.of_stack(stack.as_str(), |rows| {
            rows.factor(&headings[0], 0, |row| Some(row.against(stack)?.measured))
                .optional(&headings[1], 0, |row| {
                    Some(row.against(stack)?.agreement.words())
                })
        });
    }
    rows
}

impl PublishedRow {
    fn against(&self, stack: &StackName) -> Option<&Today> {
        self.today.iter().find(|today| today.stack == *stack)
    }
}

/// States how many published factors of a stack are measured today.
fn agreement(table: &PublishedTable, first: &StackName, other: &StackName) -> Option<Item> {
    let rows = table.rows.iter();
    let today = rows.filter_map(|row| row.against(other));
    let numbers = today.map(|today| today.agreement).counts();
    if numbers.is_empty() {
        return None;
    }
    let [same, same_sign, other_sign] =
        [Agreement::Same, Agreement::SameSign, Agreement::OtherSign]
            .map(|agreement| numbers.get(&agreement).copied().unwrap_or(0));
    Some(Item::Text(format!(
        "Measured here with {first} and {other}: of {}, {same} are within 10 % of the published one, {same_sign} more have its sign \
         (factors within 5 % of 1 have none), and {other_sign} have another sign.",
        count(same + same_sign + other_sign, "factor", "factors"),
    )))
}
