use maud::{Markup, PreEscaped, html};

use super::{
    chart::{Width, draw, legend},
    markup::{STYLE, bytes, title},
};
use crate::{
    document::{Chart, Document, Extent},
    formats::{Format, Needs, Options},
    text::wrap,
};

/// The charts of a report below one another, as a picture for other documents.
pub(crate) const PICTURE: Format = Format {
    extent: Extent::Full,
    needs: Needs::Charts,
    ..Format::new("svg", "svg", "The charts, in one picture", render)
};

/// The space around the charts, in pixels.
const MARGIN: f64 = 24.0;

/// The height of a line of text.
const LINE: f64 = 17.0;

/// The mean width of a letter, in pixels.
const LETTER: f64 = 6.4;

/// Number of letters of a line of a note.
const LETTERS: usize = 120;

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut y = MARGIN + 2.0 * LINE;
    let mut charts = Vec::new();
    for (number, chart) in document.pictures().into_iter().enumerate() {
        y += 2.0 * LINE;
        let (drawn, high) = framed(chart, number, y);
        charts.push(drawn);
        y += high;
    }
    let width = Width::Wide.px() + 2.0 * MARGIN;
    let height = y + MARGIN;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width)
            height=(height) role="img" {
            style { (PreEscaped(STYLE)) (PreEscaped(OWN)) }
            rect.paper width=(width) height=(height) {}
            text.title x=(MARGIN) y=(MARGIN + LINE) { (title(document)) }
            text x=(MARGIN) y=(MARGIN + 2.0 * LINE) { (document.made) }
            @for chart in &charts { (PreEscaped("\n")) (chart) }
        }
    };
    bytes(&picture)
}

/// The rules of a picture in addition to those of a page.
const OWN: &str = ".paper{fill:var(--bg)}svg text.title{font-weight:700;font-size:15px;fill:var(--ink)}\
svg text.head{font-weight:700;font-size:13px;fill:var(--ink)}";

/// Draws a chart with its title, its legend and its note from `top`, and returns the height of all.
fn framed(chart: &Chart, number: usize, top: f64) -> (Markup, f64) {
    let (colours, names) = legend(&chart.drawing);
    let legend_high = if names.is_empty() { 0.0 } else { LINE };
    let drawn_at = top + LINE + legend_high;
    let (drawn, drawn_high) = draw(chart, &format!("picture-{number}"), Width::Wide);
    let notes_at = drawn_at + drawn_high;
    let notes = wrap(&chart.note, LETTERS);
    let lines = (1u32..).zip(&notes);
    let lines = lines.map(|(line, text)| (notes_at + f64::from(line) * LINE, text));
    let mut next = MARGIN;
    let names = (0..).zip(names).map(|(place, name)| {
        let x = next;
        next += LETTER * (name.chars().count() as f64 + 4.0);
        (place, x, name)
    });
    let names: Vec<(usize, f64, &str)> = names.collect();
    let markup = html! {
        text.head x=(MARGIN) y=(top) { (chart.title) }
        @for (place, x, name) in &names {
            rect class=(colours.class(*place)) x=(x) y=(top + 6.0) width="10" height="10" {}
            text x=(x + 14.0) y=(top + 15.0) { (name) }
        }
        svg x=(MARGIN) y=(drawn_at) width=(Width::Wide.px()) height=(drawn_high) {
            (drawn)
        }
        @for (y, text) in lines { text x=(MARGIN) y=(y) { (text) } }
    };
    let high = notes_at + notes.len() as f64 * LINE - top;
    (markup, high)
}
