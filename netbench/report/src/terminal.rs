//! Tables for a terminal, as wide as it is and no wider.

use netbench_stats::Verdict;
use unicode_width::UnicodeWidthStr;

use crate::block::{Align, Block, Document, Table, verdict_of};

/// Whether to write colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// ANSI colours and bold.
    Color,
    /// Text alone.
    Plain,
}

/// The narrowest width that is laid out for.
const NARROWEST: usize = 30;

/// Between two columns.
const GAP: usize = 2;

/// The report for a terminal of `width` columns.
pub fn render(report: &impl Document, width: usize, style: Style) -> Vec<u8> {
    let width = width.max(NARROWEST);
    let mut out = String::new();
    for block in report.blocks() {
        match block {
            Block::Heading(text) => {
                out.push('\n');
                lines(&mut out, &text, width, paint(style, "1"));
            }
            Block::Text(text) => lines(&mut out, &text, width, paint(style, "")),
            Block::Headline(text) => lines(&mut out, &text, width, paint(style, "1")),
            Block::Warning(text) => {
                lines(
                    &mut out,
                    &format!("Warning: {text}"),
                    width,
                    paint(style, "33"),
                );
            }
            Block::Table(table) => render_table(&mut out, &table, width, style),
        }
    }
    out.into_bytes()
}

/// How text is put between escape codes, or not.
fn paint(style: Style, code: &'static str) -> impl Fn(&str) -> String {
    move |text| match style {
        Style::Color if !code.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
        _ => text.to_owned(),
    }
}

fn lines(out: &mut String, text: &str, width: usize, paint: impl Fn(&str) -> String) {
    for line in wrap(text, width) {
        out.push_str(&paint(&line));
        out.push('\n');
    }
}

/// Breaks text at spaces; a word that is longer than a line has one of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

fn render_table(out: &mut String, table: &Table, width: usize, style: Style) {
    if table.rows.is_empty() {
        return;
    }
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|i| column_width(table, i))
        .collect();
    match fitting(table, &widths, width) {
        Some(shown) => side_by_side(out, table, &widths, &shown, style),
        None => one_below_another(out, table, width, style),
    }
}

fn column_width(table: &Table, column: usize) -> usize {
    let cells = table.rows.iter().map(|row| row[column].width());
    cells
        .chain([table.columns[column].name.width()])
        .max()
        .unwrap_or(0)
}

/// The columns that fit, without those of the highest ranks; none if not even rank 0 fits.
fn fitting(table: &Table, widths: &[usize], width: usize) -> Option<Vec<usize>> {
    let highest = table.columns.iter().map(|column| column.rank).max()?;
    (0..=highest).rev().find_map(|rank| {
        let shown: Vec<usize> = (0..widths.len())
            .filter(|i| table.columns[*i].rank <= rank)
            .collect();
        let taken = shown.iter().map(|i| widths[*i]).sum::<usize>() + GAP * (shown.len() - 1);
        (taken <= width).then_some(shown)
    })
}

fn side_by_side(out: &mut String, table: &Table, widths: &[usize], shown: &[usize], style: Style) {
    let mut line = |cell: &dyn Fn(usize) -> String, painted: &dyn Fn(&str) -> String| {
        let mut text = String::new();
        for (position, column) in shown.iter().enumerate() {
            let value = cell(*column);
            let fill = " ".repeat(widths[*column].saturating_sub(value.width()));
            let padded = match table.columns[*column].align {
                Align::Left => format!("{}{fill}", painted(&value)),
                Align::Right => format!("{fill}{}", painted(&value)),
            };
            if position > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            text.push_str(&padded);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(
        &|column| table.columns[column].name.clone(),
        &paint(style, "2"),
    );
    for row in &table.rows {
        line(&|column| row[column].clone(), &|cell| colour(cell, style));
    }
}

fn one_below_another(out: &mut String, table: &Table, width: usize, style: Style) {
    for row in &table.rows {
        for (column, cell) in table
            .columns
            .iter()
            .zip(row)
            .filter(|(_, cell)| !cell.is_empty())
        {
            let text = format!("{}: {cell}", column.name);
            if text.width() <= width {
                out.push_str(&format!("{}: {}\n", column.name, colour(cell, style)));
            } else {
                lines(out, &text, width, paint(style, ""));
            }
        }
        out.push('\n');
    }
}

fn colour(cell: &str, style: Style) -> String {
    let code = match verdict_of(cell) {
        Some(Verdict::Faster) => "32",
        Some(Verdict::Slower) => "31",
        Some(Verdict::Undecided) => "33",
        Some(Verdict::Same) | None => "",
    };
    paint(style, code)(cell)
}
