use maud::{Markup, html};

use crate::document::Colours;

/// Shapes in the order in which they are drawn.
#[derive(Default)]
pub(super) struct Canvas {
    pub(super) shapes: String,
}

/// The alignment of a text relative to its position.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    fn add(&mut self, shape: &Markup) {
        self.shapes.push_str(&shape.0);
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.add(&html! { line class=(class) x1=(x1) y1=(y1) x2=(x2) y2=(y2) {} });
    }

    /// Draws lines across the chart at marked values, with their text at the left.
    pub(super) fn levels(
        &mut self,
        (left, right): (f64, f64),
        marks: impl IntoIterator<Item = (f64, String)>,
    ) {
        for (y, text) in marks {
            self.line("gr", (left, y), (right, y));
            self.text("ax", Anchor::End, (left - 6.0, y + 4.0), &text);
        }
    }

    /// Draws upright lines at marked values, with their text `below` the bottom.
    pub(super) fn uprights(
        &mut self,
        (top, bottom): (f64, f64),
        below: f64,
        marks: impl IntoIterator<Item = (f64, String)>,
    ) {
        for (x, text) in marks {
            self.line("gr", (x, top), (x, bottom));
            self.text("ax", Anchor::Middle, (x, bottom + below), &text);
        }
    }

    pub(super) fn text(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (number(x), number(y));
        self.add(&html! { text class=(class) x=(x) y=(y) text-anchor=(anchor) { (text) } });
    }

    pub(super) fn bar(&mut self, class: &str, at: (f64, f64), size: (f64, f64), tip: &str) {
        let [x, y, w, h] = [at.0, at.1, size.0, size.1].map(number);
        self.add(&html! {
            rect class=(class) x=(x) y=(y) width=(w) height=(h) { title { (tip) } }
        });
    }

    /// Draws a mark whose shape depends on its colour, for readers who cannot distinguish colours.
    pub(super) fn mark(
        &mut self,
        class: &str,
        shape: usize,
        (x, y): (f64, f64),
        r: f64,
        tip: &str,
    ) {
        let path = match shape % 4 {
            0 => {
                let (from, y) = (number(x - r), number(y));
                let (r, d) = (number(r), number(2.0 * r));
                format!("M{from} {y}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z")
            }
            1 => polygon(&[
                (x, y - 1.25 * r),
                (x + 1.25 * r, y),
                (x, y + 1.25 * r),
                (x - 1.25 * r, y),
            ]),
            2 => polygon(&[(x, y - 1.2 * r), (x + 1.2 * r, y + r), (x - 1.2 * r, y + r)]),
            _ => polygon(&[
                (x - r, y - r),
                (x + r, y - r),
                (x + r, y + r),
                (x - r, y + r),
            ]),
        };
        self.add(&html! { path class=(class) d=(path) { title { (tip) } } });
    }

    pub(super) fn path(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut d = String::new();
        for (x, y) in points {
            d.push(if d.is_empty() { 'M' } else { 'L' });
            d.push_str(&format!("{} {}", number(x), number(y)));
        }
        self.add(&html! { path class=(class) d=(d) {} });
    }
}

fn polygon(corners: &[(f64, f64)]) -> String {
    let corners: Vec<_> = corners
        .iter()
        .map(|(x, y)| format!("{} {}", number(*x), number(*y)))
        .collect();
    format!("M{}z", corners.join("L"))
}

/// Formats a coordinate, to a tenth of a pixel.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Shortens a text to `letters` letters.
pub(super) fn fit(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(letters.saturating_sub(1)).collect();
    short.push('…');
    short
}

impl Colours {
    /// Returns the class of a colour; after the last they repeat.
    pub(in crate::formats::html) fn class(self, series: usize) -> &'static str {
        let classes = match self {
            Self::Stacks => ["s0", "s1", "s2", "s3", "s4", "s5"],
            Self::Parts => ["p0", "p1", "p2", "p3", "p4", "p5"],
        };
        classes[series % classes.len()]
    }
}

pub(super) fn colour(stack: usize) -> &'static str {
    Colours::Stacks.class(stack)
}
