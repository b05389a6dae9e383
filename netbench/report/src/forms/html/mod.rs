use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use self::{
    chart::{Width, draw, legend},
    machine::machine_section,
    markup::{Markup, OfTheSource},
};
use super::{Form, Goes, Needs, Options, Takes};
use crate::{
    Answer, Asked,
    cell::Cell,
    document::{Align, Chart, Document, Extent, Item, Section, Table},
};

mod chart;
mod machine;
mod markup;

/// One self-contained HTML page with charts: no network, no other file.
pub(super) const FORM: Form = Form {
    name: "html",
    extension: "html",
    about: "One page with charts that needs nothing from anywhere",
    takes: Takes::SeveralRuns,
    goes: Goes::Folder("report.html"),
    extent: Extent::Full,
    needs: Needs::Nothing,
    render,
};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Tables of more rows than this are folded.
const FOLDED: usize = 12;

/// Figures under an answer; the sections have all of them.
const CARRYING: usize = 3;

/// The page as one file, in UTF-8. It has no link to anything outside of it, and forbids the browser
/// all that it does not need.
fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let machine = machine_section(&document.machines);
    let page = &Page {
        document,
        sections: document.sections.iter().chain(machine.as_ref()).collect(),
    };
    let mut markup = Markup::default();
    markup.source(&OfTheSource("<!doctype html>\n"));
    markup.element("html", &[("lang", "en")], |markup| {
        markup.element("head", &[], |markup| head(markup, page));
        markup.line();
        markup.element("body", &[], |markup| body(markup, page));
    });
    markup.line();
    markup.finish().into_bytes()
}

/// What is shown.
struct Page<'a> {
    document: &'a Document<'a>,
    sections: Vec<&'a Section>,
}

impl Page<'_> {
    fn title(&self) -> &str {
        match self.document.about.as_str() {
            "" => &self.document.title,
            about => about,
        }
    }
}

fn head(markup: &mut Markup, page: &Page<'_>) {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    markup.empty("meta", &[("charset", "utf-8")]);
    markup.empty(
        "meta",
        &[
            ("http-equiv", "Content-Security-Policy"),
            ("content", &policy),
        ],
    );
    markup.empty(
        "meta",
        &[
            ("name", "viewport"),
            ("content", "width=device-width, initial-scale=1"),
        ],
    );
    markup.empty(
        "meta",
        &[("name", "color-scheme"), ("content", "light dark")],
    );
    // Else browsers ask for a favicon.
    markup.empty("link", &[("rel", "icon"), ("href", "data:,")]);
    markup.text_element("title", &[], page.title());
    markup.element("style", &[], |markup| markup.source(&OfTheSource(STYLE)));
}

/// The source of a policy that lets just this text be used.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn body(markup: &mut Markup, page: &Page<'_>) {
    markup.text_element(
        "a",
        &[("class", "skip"), ("href", "#main")],
        "To the answers",
    );
    markup.element("header", &[], |markup| {
        markup.element("div", &[("class", "bar")], |markup| {
            markup.text_element("span", &[("class", "brand")], "netbench");
            let button = [("type", "button"), ("id", "theme"), ("hidden", "")];
            markup.text_element("button", &button, "Theme: system");
        });
        markup.text_element("h1", &[], page.title());
        markup.text_element("p", &[("class", "lead")], &page.document.lead);
    });
    markup.line();
    markup.element("main", &[("id", "main")], |markup| {
        questions(markup, page);
        contents(markup, page);
        for section in &page.sections {
            markup.line();
            self::section(markup, section);
        }
    });
    markup.line();
    markup.element("footer", &[], |markup| {
        let made = match page.document.made.as_str() {
            "" => String::new(),
            made => format!("Made from {made}. "),
        };
        let made = format!("{made}This page is one file and asks for nothing from anywhere.");
        markup.text_element("p", &[], &made);
    });
    markup.line();
    markup.element("script", &[], |markup| markup.source(&OfTheSource(SCRIPT)));
}

fn questions(markup: &mut Markup, page: &Page<'_>) {
    let questions = &page.document.questions;
    if questions.is_empty() {
        return;
    }
    let attributes = [("class", "answers"), ("aria-label", "The answers")];
    markup.element("section", &attributes, |markup| {
        for question in questions {
            markup.line();
            self::question(markup, question);
        }
    });
}

fn question(markup: &mut Markup, asked: &Asked) {
    let question = &asked.question;
    let (class, sign) = match question.answer {
        Answer::Yes => ("yes", "✓"),
        Answer::WithLosses => ("losses", "!"),
        Answer::No => ("no", "✗"),
        Answer::Open => ("open", "?"),
    };
    let class = format!("card {class}");
    markup.element("article", &[("class", &class)], |markup| {
        markup.text_element("h2", &[], &question.question);
        if !asked.about.is_empty() {
            markup.text_element("p", &[("class", "about")], &asked.about);
        }
        markup.element("p", &[("class", "answer")], |markup| {
            markup.text_element("span", &[("class", "sign"), ("aria-hidden", "true")], sign);
            markup.text(question.answer.words());
        });
        if !question.figures.is_empty() {
            markup.element("dl", &[], |markup| {
                for figure in question.figures.iter().take(CARRYING) {
                    markup.element("div", &[], |markup| {
                        markup.text_element("dt", &[], &unbroken(&figure.value));
                        markup.text_element("dd", &[], &unbroken(&figure.label));
                    });
                }
            });
        }
        markup.text_element("p", &[], &unbroken(&question.because));
        list(markup, "What would break or be worse", &question.breaks);
        list(markup, "Not looked at", &question.missing);
        if let Some(section) = &asked.section {
            let href = format!("#{section}");
            markup.element("p", &[("class", "more")], |markup| {
                markup.text_element("a", &[("href", &href)], "The figures");
            });
        }
    });
}

fn list(markup: &mut Markup, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    markup.text_element("h3", &[], heading);
    markup.element("ul", &[], |markup| {
        for line in lines {
            markup.text_element("li", &[], &unbroken(line));
        }
    });
}

/// A number stays on the line of its per cent sign, in the narrow columns of the answers.
fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

fn contents(markup: &mut Markup, page: &Page<'_>) {
    let headed = || {
        page.sections
            .iter()
            .filter(|section| !section.heading.is_empty())
    };
    if headed().count() < 2 {
        return;
    }
    markup.line();
    markup.element("nav", &[("aria-label", "On this page")], |markup| {
        markup.element("ul", &[], |markup| {
            for section in headed() {
                markup.element("li", &[], |markup| {
                    let href = format!("#{}", section.id);
                    markup.text_element("a", &[("href", &href)], &section.heading);
                });
            }
        });
    });
}

fn section(markup: &mut Markup, section: &Section) {
    let heading = format!("{}-heading", section.id);
    let mut attributes = vec![("id", &*section.id)];
    if !section.heading.is_empty() {
        attributes.push(("aria-labelledby", &*heading));
    }
    markup.element("section", &attributes, |markup| {
        if !section.heading.is_empty() {
            markup.text_element("h2", &[("id", &heading)], &section.heading);
        }
        if !section.explanation.is_empty() {
            markup.text_element("p", &[("class", "explanation")], &section.explanation);
        }
        if let Some(missing) = &section.missing {
            markup.text_element("p", &[("class", "note missing")], missing);
        }
        // A table without a caption is named by the heading before it.
        let mut before = section.heading.as_str();
        for (number, item) in section.items.iter().enumerate() {
            markup.line();
            if let Item::Heading(text) = item {
                before = text;
            }
            self::item(markup, item, &format!("{}-{number}", section.id), before);
        }
    });
}

fn item(markup: &mut Markup, item: &Item, id: &str, before: &str) {
    match item {
        Item::Heading(text) => markup.text_element("h3", &[], text),
        Item::Text(text) => markup.text_element("p", &[], text),
        Item::Headline(text) => markup.text_element("p", &[("class", "headline")], text),
        Item::Warning(text) => markup.text_element("p", &[("class", "note warning")], text),
        Item::Charts(charts) => match charts.as_slice() {
            [chart] => figure(markup, chart, id, &[Width::Wide, Width::Narrow]),
            charts => markup.element("div", &[("class", "charts")], |markup| {
                for (number, chart) in charts.iter().enumerate() {
                    let id = format!("{id}-{number}");
                    figure(markup, chart, &id, &[Width::Narrow]);
                }
            }),
        },
        Item::Table(table) => self::table(markup, table, before),
    }
}

fn figure(markup: &mut Markup, chart: &Chart, id: &str, widths: &[Width]) {
    let class = if widths.len() > 1 { "both" } else { "small" };
    markup.element("figure", &[("class", class)], |markup| {
        markup.element("figcaption", &[], |markup| {
            markup.text_element("strong", &[], &chart.title);
            let names = legend(&chart.drawing);
            if !names.is_empty() {
                markup.element("span", &[("class", "legend")], |markup| {
                    for (number, name) in names.iter().enumerate() {
                        markup.element("span", &[], |markup| {
                            let class = format!("key k{}", number % 6);
                            markup.text_element("i", &[("class", &class)], "");
                            markup.text(name);
                        });
                    }
                });
            }
        });
        for width in widths {
            markup.line();
            draw(markup, chart, id, *width);
        }
        markup.text_element("p", &[("class", "n")], &chart.note);
    });
}

fn table(markup: &mut Markup, table: &Table, before: &str) {
    let rows = match table.rows.len() {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    };
    let caption = match table.caption.as_str() {
        "" => before,
        caption => caption,
    };
    let columns = PageColumn::of(table);
    let mut details = vec![("class", "table")];
    if table.rows.len() <= FOLDED {
        details.push(("open", ""));
    }
    markup.element("details", &details, |markup| {
        let summary = match caption {
            "" => format!("Table ({rows})"),
            caption => format!("Table: {caption} ({rows})"),
        };
        markup.text_element("summary", &[], &summary);
        markup.element("div", &[("class", "scroll"), ("tabindex", "0")], |markup| {
            markup.element("table", &[("data-name", caption)], |markup| {
                markup.text_element("caption", &[], caption);
                markup.element("thead", &[], |markup| {
                    markup.element("tr", &[], |markup| heads(markup, &columns));
                });
                markup.element("tbody", &[], |markup| body_rows(markup, table, &columns));
            });
        });
    });
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
}

fn low(cell: &Cell) -> Cell {
    cell.ends().map_or(Cell::Missing, |[low, _]| low)
}

fn high(cell: &Cell) -> Cell {
    cell.ends().map_or(Cell::Missing, |[_, high]| high)
}

fn heads(markup: &mut Markup, columns: &[PageColumn]) {
    for column in columns {
        let mut attributes = vec![("scope", "col")];
        if column.align == Align::Right {
            attributes.push(("class", "r"));
        }
        if !column.unit.is_empty() {
            attributes.push(("data-unit", column.unit));
        }
        markup.text_element("th", &attributes, &column.name);
    }
}

fn body_rows(markup: &mut Markup, table: &Table, columns: &[PageColumn]) {
    for row in &table.rows {
        markup.line();
        markup.element("tr", &[], |markup| {
            for column in columns {
                let cell = (column.cell)(&row[column.at]);
                let value = cell.value().map(|value| value.to_string());
                let mut attributes = Vec::new();
                match (cell.tone(), column.align) {
                    (Some(verdict), _) => attributes.push(("class", verdict.name())),
                    (None, Align::Right) => attributes.push(("class", "r")),
                    (None, Align::Left) => {}
                }
                if let Some(value) = &value {
                    // By data-s rows are only sorted: CSV has the text.
                    let name = if cell.is_one_value() {
                        "data-v"
                    } else {
                        "data-s"
                    };
                    attributes.push((name, value));
                }
                markup.text_element("td", &attributes, &cell.render());
            }
        });
    }
}
