use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use super::{
    Answer, Item, Page, PageTable, Question, Section,
    chart::{Chart, Width, draw, legend},
    markup::{Markup, OfTheSource},
};
use crate::block::{Align, verdict_of};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Tables of more rows than this are folded.
const FOLDED: usize = 12;

/// The page as one file, in UTF-8. It has no link to anything outside of it, and forbids the browser
/// all that it does not need.
pub fn html(page: &Page) -> Vec<u8> {
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

fn head(markup: &mut Markup, page: &Page) {
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
    markup.text_element("title", &[], &page.title);
    markup.element("style", &[], |markup| markup.source(&OfTheSource(STYLE)));
}

/// The source of a policy that lets just this text be used.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn body(markup: &mut Markup, page: &Page) {
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
        markup.text_element("h1", &[], &page.title);
        markup.text_element("p", &[("class", "lead")], &page.lead);
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
        markup.text_element("p", &[], &page.made);
    });
    markup.line();
    markup.element("script", &[], |markup| markup.source(&OfTheSource(SCRIPT)));
}

fn questions(markup: &mut Markup, page: &Page) {
    let attributes = [("class", "answers"), ("aria-label", "The answers")];
    markup.element("section", &attributes, |markup| {
        for question in &page.questions {
            markup.line();
            self::question(markup, question);
        }
    });
}

fn question(markup: &mut Markup, question: &Question) {
    let (class, sign, words) = match question.answer {
        Answer::Yes => ("yes", "✓", "yes"),
        Answer::WithLosses => ("losses", "!", "with losses"),
        Answer::No => ("no", "✗", "no"),
        Answer::Open => ("open", "?", "not answered"),
    };
    markup.element(
        "article",
        &[("class", &format!("card {class}"))],
        |markup| {
            markup.text_element("h2", &[], &question.text);
            if !question.about.is_empty() {
                markup.text_element("p", &[("class", "about")], &question.about);
            }
            markup.element("p", &[("class", "answer")], |markup| {
                markup.text_element("span", &[("class", "sign"), ("aria-hidden", "true")], sign);
                markup.text(words);
            });
            if !question.figures.is_empty() {
                markup.element("dl", &[], |markup| {
                    for figure in &question.figures {
                        markup.element("div", &[], |markup| {
                            markup.text_element("dt", &[], &unbroken(&figure.value));
                            markup.text_element("dd", &[], &unbroken(&figure.label));
                        });
                    }
                });
            }
            markup.text_element("p", &[], &unbroken(&question.why));
            if !question.breaks.is_empty() {
                markup.text_element("h3", &[], "What would break or be worse");
                markup.element("ul", &[], |markup| {
                    for text in &question.breaks {
                        markup.text_element("li", &[], &unbroken(text));
                    }
                });
            }
            if let Some(section) = &question.section {
                let href = format!("#{section}");
                markup.element("p", &[("class", "more")], |markup| {
                    markup.text_element("a", &[("href", &href)], "The figures");
                });
            }
        },
    );
}

/// A number stays on the line of its per cent sign, in the narrow columns of the answers.
fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

fn contents(markup: &mut Markup, page: &Page) {
    markup.line();
    markup.element("nav", &[("aria-label", "On this page")], |markup| {
        markup.element("ul", &[], |markup| {
            for section in &page.sections {
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
    let attributes = [("id", &*section.id), ("aria-labelledby", &*heading)];
    markup.element("section", &attributes, |markup| {
        markup.text_element("h2", &[("id", &heading)], &section.heading);
        if !section.explanation.is_empty() {
            markup.text_element("p", &[("class", "explanation")], &section.explanation);
        }
        if let Some(missing) = &section.missing {
            markup.text_element("p", &[("class", "note missing")], missing);
        }
        for (number, item) in section.items.iter().enumerate() {
            markup.line();
            self::item(markup, item, &format!("{}-{number}", section.id));
        }
    });
}

fn item(markup: &mut Markup, item: &Item, id: &str) {
    match item {
        Item::Heading(text) => markup.text_element("h3", &[], text),
        Item::Text(text) => markup.text_element("p", &[], text),
        Item::Headline(text) => markup.text_element("p", &[("class", "headline")], text),
        Item::Warning(text) => markup.text_element("p", &[("class", "note warning")], text),
        Item::Chart(chart) => figure(markup, chart, id, &[Width::Wide, Width::Narrow]),
        Item::Charts(charts) => markup.element("div", &[("class", "charts")], |markup| {
            for (number, chart) in charts.iter().enumerate() {
                let id = format!("{id}-{number}");
                figure(markup, chart, &id, &[Width::Narrow]);
            }
        }),
        Item::Table(table) => self::table(markup, table),
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

fn table(markup: &mut Markup, table: &PageTable) {
    let rows = match table.rows.len() {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    };
    let mut details = vec![("class", "table")];
    if table.rows.len() <= FOLDED {
        details.push(("open", ""));
    }
    markup.element("details", &details, |markup| {
        let summary = if table.caption.is_empty() {
            format!("Table ({rows})")
        } else {
            format!("Table: {} ({rows})", table.caption)
        };
        markup.text_element("summary", &[], &summary);
        markup.element("div", &[("class", "scroll"), ("tabindex", "0")], |markup| {
            markup.element("table", &[("data-name", &table.caption)], |markup| {
                markup.text_element("caption", &[], &table.caption);
                markup.element("thead", &[], |markup| {
                    markup.element("tr", &[], |markup| columns(markup, table));
                });
                markup.element("tbody", &[], |markup| body_rows(markup, table));
            });
        });
    });
}

fn columns(markup: &mut Markup, table: &PageTable) {
    for column in &table.columns {
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

fn body_rows(markup: &mut Markup, table: &PageTable) {
    for row in &table.rows {
        markup.line();
        markup.element("tr", &[], |markup| {
            for (cell, column) in row.iter().zip(&table.columns) {
                let sort = cell.sort.map(|value| value.to_string());
                let value = cell.value.map(|value| value.to_string());
                let mut attributes = Vec::new();
                let verdict = verdict_of(&cell.text);
                match (verdict, column.align) {
                    (Some(verdict), _) => attributes.push(("class", verdict.name())),
                    (None, Align::Right) => attributes.push(("class", "r")),
                    (None, Align::Left) => {}
                }
                if let Some(value) = &value {
                    attributes.push(("data-v", value));
                } else if let Some(sort) = &sort {
                    attributes.push(("data-s", sort));
                }
                markup.text_element("td", &attributes, &cell.text);
            }
        });
    }
}
