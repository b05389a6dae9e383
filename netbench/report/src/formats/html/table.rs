use maud::{Markup, html};

use super::markup::{LINE, verdict_class};
use crate::{
    cell::Cell,
    document::{Align, Excerpt, Folded, Table},
    text::{count, grouped},
};

/// The number of rows above which tables are folded, unless the report exists to show them.
const FOLDED: usize = 12;

/// The number of rows above which a table shows outstanding rows first, and the rest in a separate table.
const WHOLE: usize = 400;

/// Number of outstanding rows.
const OUTSTANDING: usize = 200;

/// Number of other rows at most: a page has to open.
const MOST: usize = 10_000;

/// Renders a table that can be folded. `before` names it if it has no caption.
pub(super) fn table(table: &Table, before: &str) -> Markup {
    let caption = match table.caption.as_str() {
        "" => before,
        caption => caption,
    };
    let columns = PageColumn::of(table);
    let rows: Vec<&[Cell]> = table.rows.iter().map(Vec::as_slice).collect();
    if rows.len() <= WHOLE {
        let summary = format!("({})", count(rows.len(), "row", "rows"));
        return folding(table.folded, &columns, &rows, caption, &summary, "table");
    }
    let (first, last, which) = match table.excerpt {
        Excerpt::Ends(_) => (OUTSTANDING / 2, OUTSTANDING / 2, "those at either end"),
        Excerpt::Whole | Excerpt::First(_) => (OUTSTANDING, 0, "the first"),
    };
    let (head, tail) = rows.split_at(first);
    let (middle, end) = tail.split_at(tail.len() - last);
    let outstanding = [head, end].concat();
    let (rest, left_out) = middle.split_at(middle.len().min(MOST));
    let [whole, shown, others] =
        [rows.len(), outstanding.len(), rest.len()].map(|number| grouped(number as f64));
    let summary = format!("({shown} of {whole} rows: {which})");
    let of_rest = format!("(the other {others} rows)");
    html! {
        (folding(table.folded, &columns, &outstanding, caption, &summary, "table"))
        (folding(Folded::Long, &columns, rest, caption, &of_rest, "table rest"))
        @if !left_out.is_empty() {
            p.n {
                (count(left_out.len(), "row is", "rows are"))
                " not on this page, which would not open any more. The run's CSV has every row."
            }
        }
    }
}

fn folding(
    folded: Folded,
    columns: &[PageColumn],
    rows: &[&[Cell]],
    caption: &str,
    how_many: &str,
    class: &str,
) -> Markup {
    html! {
        details class=(class) open[folded == Folded::Never || rows.len() <= FOLDED] {
            summary { "Table" @if !caption.is_empty() { ": " (caption) } " " (how_many) }
            div.scroll tabindex="0" {
                table data-name=(caption) {
                    caption { (caption) }
                    thead { tr { @for column in columns { (column.head()) } } }
                    tbody {
                        @for row in rows {
                            (LINE) tr { @for column in columns { (column.body(row)) } }
                        }
                    }
                }
            }
        }
    }
}

/// A column of the page's table. An interval has two columns: the page has room for both ends as values.
struct PageColumn {
    name: String,
    unit: &'static str,
    align: Align,
    cell: fn(&Cell) -> Cell,
    at: usize,
}

impl PageColumn {
    fn of(table: &Table) -> Vec<Self> {
        let mut columns = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            if table.rows.iter().any(|row| row[at].ends().is_some()) {
                columns.push(Self::new(table, at, "from", low));
                columns.push(Self::new(table, at, "to", high));
            } else {
                columns.push(Self::new(table, at, &column.name, Cell::clone));
            }
        }
        columns
    }

    fn new(table: &Table, at: usize, name: &str, cell: fn(&Cell) -> Cell) -> Self {
        let column = &table.columns[at];
        let mut units = table.rows.iter().map(|row| cell(&row[at]).unit());
        Self {
            name: match &column.stack {
                Some(stack) if !name.contains(stack) => format!("{stack} {name}"),
                _ => name.to_owned(),
            },
            unit: units.find(|unit| !unit.is_empty()).unwrap_or(""),
            align: column.align,
            cell,
            at,
        }
    }

    fn head(&self) -> Markup {
        let class = (self.align == Align::Right).then_some("r");
        let unit = (!self.unit.is_empty()).then_some(self.unit);
        html! { th scope="col" class=[class] data-unit=[unit] { (self.name) } }
    }

    fn body(&self, row: &[Cell]) -> Markup {
        let cell = (self.cell)(&row[self.at]);
        let class = match (&cell, cell.tone()) {
            (Cell::Step(..), Some(verdict)) => Some(format!("r {}", verdict_class(verdict))),
            (_, Some(verdict)) => Some(verdict_class(verdict).to_owned()),
            (_, None) => (self.align == Align::Right).then(|| "r".to_owned()),
        };
        // The attribute data-s only sorts rows: CSV has the text.
        let (shown, sorted) = match cell.value() {
            value if cell.is_one_value() => (value, None),
            value => (None, value),
        };
        html! {
            td class=[class] data-v=[shown] data-s=[sorted] {
                @match &cell {
                    Cell::Link { url, .. } => a href=(url) { (cell.render()) },
                    _ => (cell.render()),
                }
            }
        }
    }
}

fn low(cell: &Cell) -> Cell {
    cell.ends().map_or(Cell::Missing, |[low, _]| low)
}

fn high(cell: &Cell) -> Cell {
    cell.ends().map_or(Cell::Missing, |[_, high]| high)
}
