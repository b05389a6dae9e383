use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use self::{
    chart::{Width, draw, legend},
    machine::machine_section,
};
use super::{Form, Goes, Options, Takes};
use crate::{
    Answer, Asked,
    cell::Cell,
    document::{Align, Chart, Document, Extent, Item, Section, Table},
    text::{count, plain},
};

mod chart;
mod machine;

/// One self-contained HTML page with charts: no network, no other file.
pub(super) const FORM: Form = Form {
    takes: Takes::SeveralRuns,
    goes: Goes::Folder("report.html"),
    extent: Extent::Full,
    ..Form::new(
        "html",
        "html",
        "One page with charts that needs nothing from anywhere",
        render,
    )
};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Tables of more rows than this are folded.
const FOLDED: usize = 12;

/// Figures under an answer; the sections have all of them.
const CARRYING: usize = 3;

/// A line end, so that the page can be read and compared.
const LINE: PreEscaped<&str> = PreEscaped("\n");

/// The page as one file, in UTF-8. It has no link to anything outside of it, and forbids the browser
/// all that it does not need.
fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let machine = machine_section(&document.machines);
    let sections: Vec<&Section> = document.sections.iter().chain(machine.as_ref()).collect();
    let title = match document.about.as_str() {
        "" => &document.title,
        about => about,
    };
    let page = html! {
        (DOCTYPE) (LINE)
        html lang="en" {
            head { (head(title)) } (LINE)
            body { (body(document, title, &sections)) }
        }
        (LINE)
    };
    // Values are escaped as they are written; here goes what a browser would obey inside of a text.
    let lines = page.0.split('\n').map(plain);
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

fn head(title: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    html! {
        meta charset="utf-8";
        meta http-equiv="Content-Security-Policy" content=(policy);
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        // Else browsers ask for a favicon.
        link rel="icon" href="data:,";
        title { (title) }
        style { (PreEscaped(STYLE)) }
    }
}

/// The source of a policy that lets just this text be used.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn body(document: &Document<'_>, title: &str, sections: &[&Section]) -> Markup {
    html! {
        a.skip href="#main" { "To the answers" }
        header {
            div.bar {
                span.brand { "netbench" }
                button type="button" id="theme" hidden { "Theme: system" }
            }
            h1 { (title) }
            p.lead { (document.lead) }
        }
        (LINE)
        main id="main" {
            @if !document.questions.is_empty() {
                section.answers aria-label="The answers" {
                    @for asked in &document.questions { (LINE) (question(asked)) }
                }
            }
            (contents(sections))
            @for section in sections { (LINE) (self::section(section)) }
        }
        (LINE)
        footer {
            p {
                @if !document.made.is_empty() { "Made from " (document.made) ". " }
                "This page is one file and asks for nothing from anywhere."
            }
        }
        (LINE)
        script { (PreEscaped(SCRIPT)) }
    }
}

fn question(asked: &Asked) -> Markup {
    let question = &asked.question;
    let (class, sign) = match question.answer {
        Answer::Yes => ("yes", "✓"),
        Answer::WithLosses => ("losses", "!"),
        Answer::No => ("no", "✗"),
        Answer::Open => ("open", "?"),
    };
    html! {
        article class={ "card " (class) } {
            h2 { (question.question) }
            @if !asked.about.is_empty() { p.about { (asked.about) } }
            p.answer { span.sign aria-hidden="true" { (sign) } (question.answer.words()) }
            @if !question.figures.is_empty() {
                dl {
                    @for figure in question.figures.iter().take(CARRYING) {
                        div { dt { (unbroken(&figure.value)) } dd { (unbroken(&figure.label)) } }
                    }
                }
            }
            p { (unbroken(&question.because)) }
            (list("What would break or be worse", &question.breaks))
            (list("Not tested", &question.missing))
            @if let Some(section) = &asked.section {
                p.more { a href={ "#" (section) } { "The figures" } }
            }
        }
    }
}

fn list(heading: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            h3 { (heading) }
            ul { @for line in lines { li { (unbroken(line)) } } }
        }
    }
}

/// A number stays on the line of its per cent sign, in the narrow columns of the answers.
fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

fn contents(sections: &[&Section]) -> Markup {
    let headed = || {
        sections
            .iter()
            .filter(|section| !section.heading.is_empty())
    };
    html! {
        @if headed().count() > 1 {
            (LINE)
            nav aria-label="On this page" {
                ul {
                    @for section in headed() {
                        li { a href={ "#" (section.id) } { (section.heading) } }
                    }
                }
            }
        }
    }
}

fn section(section: &Section) -> Markup {
    let heading = format!("{}-heading", section.id);
    let headed = !section.heading.is_empty();
    // A table without a caption is named by the heading before it.
    let before = |number: usize| {
        let items = section.items[..number].iter().rev();
        let mut headings = items.filter_map(|item| match item {
            Item::Heading(text) => Some(text),
            _ => None,
        });
        headings.next().unwrap_or(&section.heading)
    };
    html! {
        section id=(section.id) aria-labelledby=[headed.then_some(&heading)] {
            @if headed { h2 id=(heading) { (section.heading) } }
            @if !section.explanation.is_empty() { p.explanation { (section.explanation) } }
            @if let Some(missing) = &section.missing { p class="note missing" { (missing) } }
            @for (number, item) in section.items.iter().enumerate() {
                (LINE) (self::item(item, &format!("{}-{number}", section.id), before(number)))
            }
        }
    }
}

fn item(item: &Item, id: &str, before: &str) -> Markup {
    match item {
        Item::Heading(text) => html! { h3 { (text) } },
        Item::Text(text) => html! { p { (text) } },
        Item::Headline(text) => html! { p.headline { (text) } },
        Item::Warning(text) => html! { p class="note warning" { (text) } },
        Item::Charts(charts) => match charts.as_slice() {
            [chart] => figure(chart, id, &[Width::Wide, Width::Narrow]),
            charts => html! {
                div.charts {
                    @for (number, chart) in charts.iter().enumerate() {
                        (figure(chart, &format!("{id}-{number}"), &[Width::Narrow]))
                    }
                }
            },
        },
        Item::Table(table) => self::table(table, before),
    }
}

fn figure(chart: &Chart, id: &str, widths: &[Width]) -> Markup {
    let class = if widths.len() > 1 { "both" } else { "small" };
    let names = legend(&chart.drawing);
    html! {
        figure class=(class) {
            figcaption {
                strong { (chart.title) }
                @if !names.is_empty() {
                    span.legend {
                        @for (number, name) in names.iter().enumerate() {
                            span { i class={ "key k" (number % 6) } {} (name) }
                        }
                    }
                }
            }
            @for width in widths { (LINE) (draw(chart, id, *width)) }
            p.n { (chart.note) }
        }
    }
}

fn table(table: &Table, before: &str) -> Markup {
    let caption = match table.caption.as_str() {
        "" => before,
        caption => caption,
    };
    let rows = count(table.rows.len(), "row", "rows");
    let columns = PageColumn::of(table);
    html! {
        details.table open[table.rows.len() <= FOLDED] {
            summary { "Table" @if !caption.is_empty() { ": " (caption) } " (" (rows) ")" }
            div.scroll tabindex="0" {
                table data-name=(caption) {
                    caption { (caption) }
                    thead { tr { @for column in &columns { (column.head()) } } }
                    tbody {
                        @for row in &table.rows {
                            (LINE) tr { @for column in &columns { (column.body(row)) } }
                        }
                    }
                }
            }
        }
    }
}

/// A column of the page's table. An interval has two: here is room for both ends as values.
struct PageColumn {
    name: String,
    unit: &'static str,
    align: Align,
    cell: fn(&Cell) -> Cell,
    at: usize,
}

impl PageColumn {
    fn of(table: &Table) -> Vec<Self> {
        let columns = table.columns.iter().enumerate();
        columns
            .flat_map(|(at, column)| {
                let cells = || table.rows.iter().map(move |row| &row[at]);
                let unit = |cell: fn(&Cell) -> Cell| {
                    let mut units = cells().map(|c| cell(c).unit());
                    units.find(|unit| !unit.is_empty()).unwrap_or("")
                };
                let column = |name: &str, cell: fn(&Cell) -> Cell| Self {
                    name: name.to_owned(),
                    unit: unit(cell),
                    align: column.align,
                    cell,
                    at,
                };
                if cells().any(|cell| cell.ends().is_some()) {
                    vec![column("from", low), column("to", high)]
                } else {
                    vec![column(&table.columns[at].name, Cell::clone)]
                }
            })
            .collect()
    }
    fn head(&self) -> Markup {
        let class = (self.align == Align::Right).then_some("r");
        let unit = (!self.unit.is_empty()).then_some(self.unit);
        html! { th scope="col" class=[class] data-unit=[unit] { (self.name) } }
    }

    fn body(&self, row: &[Cell]) -> Markup {
        let cell = (self.cell)(&row[self.at]);
        let class = match (cell.tone(), self.align) {
            (Some(verdict), _) => Some(verdict.name()),
            (None, Align::Right) => Some("r"),
            (None, Align::Left) => None,
        };
        // By data-s rows are only sorted: CSV has the text.
        let (shown, sorted) = match cell.value() {
            value if cell.is_one_value() => (value, None),
            value => (None, value),
        };
        html! { td class=[class] data-v=[shown] data-s=[sorted] { (cell.render()) } }
    }
}

fn low(cell: &Cell) -> Cell {
    cell.ends().map_or(Cell::Missing, |[low, _]| low)
}

fn high(cell: &Cell) -> Cell {
    cell.ends().map_or(Cell::Missing, |[_, high]| high)
}

#[cfg(test)]
mod tests;
