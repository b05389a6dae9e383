use std::ops::Range;

use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

pub(super) use self::picture::PICTURE;
use self::{
    card::{card, strip},
    chart::{Width, draw, legend},
    machine::machine_section,
    markup::{LINE, STYLE, bytes, title, unbroken},
    table::table,
};
use super::{Format, Goes, Options, Takes};
use crate::document::{Chart, Document, Extent, Item, Section};

mod card;
mod chart;
mod machine;
mod markup;
mod picture;
mod table;

pub(super) const FORMAT: Format = Format {
    takes: Takes::SeveralRuns,
    goes: Goes::Folder("report.html"),
    extent: Extent::Full,
    ..Format::new(
        "html",
        "html",
        "One page with charts that needs nothing from anywhere",
        render,
    )
};

const SCRIPT: &str = include_str!("script.js");

/// Renders the page as one file, in UTF-8. It has no link to any other resource, and its policy forbids the browser
/// everything that it does not need.
fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let machine = machine_section(&document.machines);
    let sections: Vec<&Section> = document.sections.iter().chain(machine.as_ref()).collect();
    let title = title(document);
    let page = html! {
        (DOCTYPE) (LINE)
        html lang="en" {
            head { (head(title)) } (LINE)
            body { (body(document, title, &sections)) }
        }
        (LINE)
    };
    bytes(&page)
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
        // Otherwise browsers request a favicon.
        link rel="icon" href="data:,";
        title { (title) }
        style { (PreEscaped(STYLE)) }
    }
}

/// Returns the source of a policy that permits only this text.
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
            @if !document.sentence.is_empty() { p.sentence { (unbroken(&document.sentence)) } }
            @if document.questions.len() > 1 { (strip(&document.questions)) }
            @if document.questions.is_empty() { p.lead { (document.lead) } }
        }
        (LINE)
        main id="main" {
            @if !document.questions.is_empty() {
                section.answers aria-label="The answers" {
                    @for (number, asked) in document.questions.iter().enumerate() {
                        (LINE) (card(number, asked, title))
                    }
                }
                p.lead { (document.lead) }
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

fn contents(sections: &[&Section]) -> Markup {
    let headed = sections.iter();
    let headed = headed.filter(|section| !section.heading.is_empty());
    html! {
        @if headed.clone().count() > 1 {
            (LINE)
            nav aria-label="On this page" {
                ul {
                    @for section in headed {
                        li { a href={ "#" (section.id) } { (section.heading) } }
                    }
                }
            }
        }
    }
}

fn section(section: &Section) -> Markup {
    let id = (!section.heading.is_empty()).then(|| format!("{}-heading", section.id));
    let headlines = section.headlines();
    let body = html! {
        (items(section, 0..headlines))
        @if !section.explanation.is_empty() { p.explanation { (section.explanation) } }
        @if let Some(missing) = &section.missing { p class="note missing" { (missing) } }
        (items(section, headlines..section.items.len()))
    };
    let heading = html! { @if let Some(id) = &id { h2 id=(id) { (section.heading) } } };
    html! {
        section id=(section.id) aria-labelledby=[&id] {
            @if section.is_folded {
                details.folded { summary { (heading) } (body) }
            } @else {
                (heading) (body)
            }
        }
    }
}

fn items(section: &Section, numbers: Range<usize>) -> Markup {
    html! {
        @for number in numbers {
            (LINE)
            (item(&section.items[number], &format!("{}-{number}", section.id), heading_before(section, number)))
        }
    }
}

/// Returns the heading that precedes an item, by which a table without a caption is named.
fn heading_before(section: &Section, number: usize) -> &str {
    let items = section.items[..number].iter().rev();
    let mut headings = items.filter_map(|item| match item {
        Item::Heading(text) => Some(text),
        _ => None,
    });
    headings.next().unwrap_or(&section.heading)
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
    let (colours, names) = legend(&chart.drawing);
    html! {
        figure class=(class) {
            figcaption {
                strong { (chart.title) }
                @if !names.is_empty() {
                    span.legend {
                        @for (number, name) in names.iter().enumerate() {
                            span { i class={ "key k" (colours.class(number)) } {} (name) }
                        }
                    }
                }
            }
            @for width in widths { (LINE) (draw(chart, id, *width).0) }
            p.n { (chart.note) }
        }
    }
}

#[cfg(test)]
mod tests;
