//! Markdown with GitHub's tables.

use crate::block::{Align, Block, Document, Table};

/// The report as Markdown.
pub fn render(report: &impl Document) -> Vec<u8> {
    let mut out = String::new();
    let mut headings = 0;
    for block in report.blocks() {
        match block {
            Block::Heading(text) => {
                headings += 1;
                let marks = if headings == 1 { "#" } else { "##" };
                out.push_str(&format!("{marks} {}\n\n", escape(&text)));
            }
            Block::Text(text) => out.push_str(&format!("{}\n\n", escape(&text))),
            Block::Headline(text) => out.push_str(&format!("**{}**\n\n", escape(&text))),
            Block::Warning(text) => out.push_str(&format!("> Warning: {}\n\n", escape(&text))),
            Block::Table(table) => render_table(&mut out, &table),
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

fn render_table(out: &mut String, table: &Table) {
    let names: Vec<_> = table
        .columns
        .iter()
        .map(|column| escape(&column.name))
        .collect();
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    });
    out.push_str(&format!("| {} |\n", names.join(" | ")));
    out.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
    for row in &table.rows {
        let cells: Vec<_> = row.iter().map(|cell| escape(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push('\n');
}

/// Text in which nothing is Markdown or HTML.
fn escape(text: &str) -> String {
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
