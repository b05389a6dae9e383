use super::{Form, Goes, Options, Takes};
use crate::{
    Asked,
    cell::Cell,
    document::{Align, Document, Extent, Item, Section, Shown, Table},
    text::plain,
};

/// Markdown with GitHub's tables.
pub(super) const FORM: Form = Form {
    name: "markdown",
    extension: "md",
    about: "Markdown with GitHub's tables",
    takes: Takes::SeveralRuns,
    goes: Goes::Stdout,
    extent: Extent::Brief,
    render,
};

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut out = String::new();
    heading(&mut out, "#", &document.title);
    text(&mut out, &document.lead);
    for asked in &document.questions {
        question(&mut out, asked);
    }
    for section in &document.sections {
        self::section(&mut out, section);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.into_bytes()
}

fn heading(out: &mut String, marks: &str, text: &str) {
    if !text.is_empty() {
        out.push_str(&format!("{marks} {}\n\n", escape(text)));
    }
}

fn text(out: &mut String, text: &str) {
    if !text.is_empty() {
        out.push_str(&format!("{}\n\n", escape(text)));
    }
}

fn headline(out: &mut String, text: &str) {
    out.push_str(&format!("**{}**\n\n", escape(text)));
}

fn warning(out: &mut String, text: &str) {
    out.push_str(&format!("> Warning: {}\n\n", escape(text)));
}

fn question(out: &mut String, Asked { question, .. }: &Asked) {
    heading(out, "##", &question.question);
    headline(out, &question.in_a_sentence());
    table(out, &question.table());
    text(out, &question.worse());
    for missing in &question.missing {
        warning(out, &format!("not looked at: {missing}"));
    }
}

fn section(out: &mut String, section: &Section) {
    heading(out, "##", &section.heading);
    let inside = match section.heading.as_str() {
        "" => "##",
        _ => "###",
    };
    text(out, &section.explanation);
    if let Some(missing) = &section.missing {
        text(out, missing);
    }
    for item in section.without_charts() {
        match item {
            Item::Heading(words) => heading(out, inside, words),
            Item::Text(words) => text(out, words),
            Item::Headline(words) => headline(out, words),
            Item::Warning(words) => warning(out, words),
            Item::Table(table) => self::table(out, table),
            Item::Charts(_) => {}
        }
    }
}

fn table(out: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let names: Vec<_> = table.columns.iter().map(|c| escape(&c.name)).collect();
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    });
    out.push_str(&format!("| {} |\n", names.join(" | ")));
    out.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
    for row in table.shown() {
        let cells: Vec<String> = match row {
            Shown::Row(cells) => cells.iter().map(|c| escape(&Cell::render(c))).collect(),
            Shown::Gap(rows) => {
                let mut cells = vec![String::new(); table.columns.len()];
                cells[0] = format!("… {rows} more");
                cells
            }
        };
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push('\n');
}

/// Text in which nothing is Markdown or HTML.
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
