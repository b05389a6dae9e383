use std::iter;

use itertools::Itertools;
use netbench_stats::Verdict;
use unicode_width::UnicodeWidthStr;

use super::{Format, Options, Style, Takes};
use crate::{
    cell::Cell,
    document::{Align, Document, Part, Table},
    text::{plain, wrap},
};

pub(super) const FORMAT: Format = Format {
    takes: Takes::SeveralRuns,
    ..Format::new("terminal", "txt", "Tables for a terminal", render)
};

/// The smallest width that is supported by the layout.
const NARROWEST: usize = 30;

/// Number of spaces between two columns.
const GAP: usize = 2;

fn render(document: &Document<'_>, options: &Options) -> Vec<u8> {
    let mut page = Page {
        out: String::new(),
        width: options.width.max(NARROWEST),
        style: options.style,
    };
    for part in document.outline() {
        match part {
            Part::Heading(_, text) => {
                page.out.push('\n');
                page.lines(text, "1");
            }
            Part::Text(text) => page.lines(&text, ""),
            Part::Headline(text) => page.lines(&text, "1"),
            Part::Warning(text) => page.lines(&format!("Warning: {text}"), "33"),
            Part::List(lead, lines) => {
                page.lines(lead, "");
                lines.iter().for_each(|line| page.marked(line));
            }
            Part::Table(table) => page.table(&table),
        }
    }
    page.out.into_bytes()
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    // Keeps a number on the line of its per cent sign.
    let text = plain(text).replace(" %", "\u{a0}%");
    let lines = wrap(&text, width).into_iter();
    lines.map(|line| line.replace('\u{a0}', " ")).collect()
}

struct Page {
    out: String,
    width: usize,
    style: Style,
}

impl Page {
    fn lines(&mut self, text: &str, code: &'static str) {
        for line in wrapped(text, self.width) {
            self.out.push_str(&paint(self.style, code, &line));
            self.out.push('\n');
        }
    }

    /// Writes a line of a list.
    fn marked(&mut self, text: &str) {
        let marks = iter::once("- ").chain(iter::repeat("  "));
        for (mark, line) in marks.zip(wrapped(text, self.width.saturating_sub(2))) {
            self.out.push_str(&format!("{mark}{line}\n"));
        }
    }

    fn table(&mut self, table: &Table) {
        let names = table.columns.iter().map(|c| (plain(&c.name), "2"));
        let mut rows: Vec<Row> = vec![names.collect()];
        for cells in table.shown() {
            rows.push(cells.iter().map(|it| (it.render(), code(it))).collect());
        }
        let mut widths = vec![0; table.columns.len()];
        for (column, (text, _)) in rows.iter().flat_map(|row| (0..).zip(row)) {
            widths[column] = text.width().max(widths[column]);
        }
        match fitting(table, &widths, self.width) {
            Some(shown) => {
                self.side_by_side(table, &rows, &widths, &shown);
                self.left_out(table, &shown);
            }
            None => self.one_below_another(&rows),
        }
    }

    fn side_by_side(&mut self, table: &Table, rows: &[Row], widths: &[usize], shown: &[usize]) {
        for row in rows {
            let cells = shown.iter().map(|&column| {
                let (cell, code) = &row[column];
                let fill = " ".repeat(widths[column].saturating_sub(cell.width()));
                let cell = paint(self.style, code, cell);
                match table.columns[column].align {
                    Align::Left => format!("{cell}{fill}"),
                    Align::Right => format!("{fill}{cell}"),
                }
            });
            let text = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            self.out.push_str(text.trim_end());
            self.out.push('\n');
        }
    }

    /// Writes the names of the columns that do not fit.
    fn left_out(&mut self, table: &Table, shown: &[usize]) {
        let columns = table.columns.iter().enumerate();
        let hidden = columns.filter(|(at, column)| !shown.contains(at) && !column.name.is_empty());
        let names: Vec<&str> = hidden.map(|(_, column)| column.name.as_str()).collect();
        if !names.is_empty() {
            self.lines(&format!("(no room for: {})", names.join(", ")), "2");
        }
    }

    fn one_below_another(&mut self, rows: &[Row]) {
        let Some((names, rows)) = rows.split_first() else {
            return;
        };
        for row in rows {
            for ((name, _), (cell, code)) in names.iter().zip(row) {
                if cell.is_empty() {
                    continue;
                }
                let text = format!("{name}: {cell}");
                if text.width() <= self.width {
                    let cell = paint(self.style, code, cell);
                    self.out.push_str(&format!("{name}: {cell}\n"));
                } else {
                    self.lines(&text, "");
                }
            }
            self.out.push('\n');
        }
    }
}

/// The cells of a row as text, each with its escape code; the first row has the names of the columns.
type Row = Vec<(String, &'static str)>;

fn code(cell: &Cell) -> &'static str {
    match cell.tone() {
        Some(Verdict::Faster) => "32",
        Some(Verdict::Slower) => "31",
        Some(Verdict::Undecided | Verdict::NotJudged) => "33",
        Some(Verdict::Same) | None => "",
    }
}

/// Returns the text, between escape codes if the style has colours.
fn paint(style: Style, code: &str, text: &str) -> String {
    match style {
        Style::Color if !code.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
        _ => text.to_owned(),
    }
}

/// Returns the columns that fit: those of rank 0, and those of each further rank for which they leave room. Columns
/// of one rank, such as the two sides of a comparison, are shown together or not at all; narrower columns of a
/// higher rank take the place of wide ones that do not fit. Returns `None` if not even rank 0 fits.
fn fitting(table: &Table, widths: &[usize], width: usize) -> Option<Vec<usize>> {
    let ranks = table.columns.iter().map(|column| column.rank);
    let mut shown = Vec::new();
    for rank in 0..=ranks.max()? {
        let columns = table.columns.iter().positions(|column| column.rank == rank);
        let more: Vec<usize> = shown.iter().copied().chain(columns).collect();
        let gaps = GAP * more.len().saturating_sub(1);
        if more.iter().map(|column| widths[*column]).sum::<usize>() + gaps <= width {
            shown = more;
        } else if rank == 0 {
            return None;
        }
    }
    shown.sort_unstable();
    Some(shown)
}
