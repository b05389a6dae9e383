use super::{Format, Options, Takes};
use crate::{
    cell::Cell,
    document::{Align, Document, Part, Table},
    text::plain,
};

pub(super) const FORMAT: Format = Format {
    takes: Takes::SeveralRuns,
    ..Format::new("markdown", "md", "Markdown with GitHub's tables", render)
};

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut out = String::new();
    for part in document.outline() {
        match part {
            Part::Heading(level, text) => {
                out.push_str(&format!("{} {}\n\n", "#".repeat(level), escape(text)));
            }
            Part::Text(text) => out.push_str(&format!("{}\n\n", escape(&text))),
            Part::Headline(text) => out.push_str(&format!("**{}**\n\n", escape(&text))),
            Part::Warning(text) => out.push_str(&format!("> Warning: {}\n\n", escape(&text))),
            Part::List(lead, lines) => {
                out.push_str(&format!("{}\n\n", escape(lead)));
                for line in lines.iter() {
                    out.push_str(&format!("- {}\n", escape(line)));
                }
                out.push('\n');
            }
            Part::Table(table) => self::table(&mut out, &table),
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

fn table(out: &mut String, table: &Table) {
    let names: Vec<_> = table.columns.iter().map(|c| escape(&c.name)).collect();
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    });
    out.push_str(&format!("| {} |\n", names.join(" | ")));
    out.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
    for row in table.shown() {
        let cells: Vec<String> = row.iter().map(self::cell).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push('\n');
}

fn cell(cell: &Cell) -> String {
    let words = escape(&cell.render());
    match cell {
        Cell::Link { url, .. } => format!("[{words}]({})", escape(url)),
        _ => words,
    }
}

/// Escapes text so that it contains no Markdown or HTML.
fn escape(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}
