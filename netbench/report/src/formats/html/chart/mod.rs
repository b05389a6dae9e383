//! Charts as SVG.
//!
//! [`draw`] makes a chart at a width in the units of its text: letters keep their size on a phone.

mod bars;
mod dots;
mod ecdf;
mod heat;
mod matrix;
mod ranking;
mod scale;
mod scatter;
mod steps;

use maud::{Markup, PreEscaped, html};

use crate::document::{
    Bars, Chart, Colours, Dot, Dots, Drawing, Heat, HeatCell, Matrix, Point, Ranked, Ranking,
    Scatter, Series, Steps,
};

/// The width of a chart, in pixels if the chart is not scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// The width for a screen.
    Wide,
    /// The width for a phone, and for charts side by side.
    Narrow,
}

impl Width {
    pub(super) fn px(self) -> f64 {
        match self {
            Self::Wide => 800.0,
            Self::Narrow => 340.0,
        }
    }
}

impl Colours {
    /// Returns the class of a colour; after the last they repeat.
    pub(super) fn class(self, series: usize) -> &'static str {
        let classes = match self {
            Self::Stacks => ["s0", "s1", "s2", "s3", "s4", "s5"],
            Self::Parts => ["p0", "p1", "p2", "p3", "p4", "p5"],
        };
        classes[series % classes.len()]
    }
}

fn colour(stack: usize) -> &'static str {
    Colours::Stacks.class(stack)
}

/// Draws the chart as SVG. `id` is unique on the page.
pub(super) fn draw(chart: &Chart, id: &str, width: Width) -> Markup {
    draw_with_height(chart, id, width).0
}

/// Draws the chart as [`draw`] does, and returns its height too.
pub(super) fn draw_with_height(chart: &Chart, id: &str, width: Width) -> (Markup, f64) {
    let mut canvas = Canvas::default();
    let w = width.px();
    let height = match &chart.drawing {
        Drawing::Dots(dots) => dots::draw(&mut canvas, dots, w),
        Drawing::Bars(bars) => bars::draw(&mut canvas, bars, w),
        Drawing::Scatter(scatter) => scatter::draw(&mut canvas, scatter, w),
        Drawing::Ecdf(series) => ecdf::draw(&mut canvas, series, w),
        Drawing::Matrix(matrix) => matrix::draw(&mut canvas, matrix, w),
        Drawing::Steps(steps) => steps::draw(&mut canvas, steps, w),
        Drawing::Ranking(ranking) => ranking::draw(&mut canvas, ranking, w),
        Drawing::Heat(heat) => heat::draw(&mut canvas, heat, w),
    };
    let height = height.round();
    let class = match width {
        Width::Wide => "wide",
        Width::Narrow => "narrow",
    };
    let (title, describe) = (format!("{id}-{class}-t"), format!("{id}-{class}-d"));
    let svg = html! {
        svg class=(class) viewBox={ "0 0 " (w) " " (height) } width=(w) height=(height) role="img"
            aria-labelledby={ (title) " " (describe) } {
            title id=(title) { (chart.title) }
            desc id=(describe) { (chart.note) }
            (PreEscaped(canvas.shapes))
        }
    };
    (svg, height)
}

/// Returns the names of the colours that a legend explains, if one is needed.
pub(super) fn legend(drawing: &Drawing) -> (Colours, Vec<&str>) {
    let names: Vec<&str> = match drawing {
        Drawing::Dots(_)
        | Drawing::Matrix(_)
        | Drawing::Steps(_)
        | Drawing::Ranking(_)
        | Drawing::Heat(_) => Vec::new(),
        Drawing::Bars(bars) => bars.series.iter().map(String::as_str).collect(),
        Drawing::Scatter(scatter) => scatter.series.iter().map(|s| s.name.as_str()).collect(),
        Drawing::Ecdf(series) => series.iter().map(|s| s.name.as_str()).collect(),
    };
    let colours = match drawing {
        Drawing::Bars(bars) => bars.colours,
        _ => Colours::Stacks,
    };
    (colours, names)
}

/// Shapes in the order in which they are drawn.
#[derive(Default)]
struct Canvas {
    shapes: String,
}

/// The alignment of a text relative to its position.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    fn add(&mut self, shape: &Markup) {
        self.shapes.push_str(&shape.0);
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.add(&html! { line class=(class) x1=(x1) y1=(y1) x2=(x2) y2=(y2) {} });
    }

    /// Draws lines across the chart at marked values, with their text at the left.
    fn levels(
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
    fn uprights(
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

    fn text(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (number(x), number(y));
        self.add(&html! { text class=(class) x=(x) y=(y) text-anchor=(anchor) { (text) } });
    }

    fn bar(&mut self, class: &str, at: (f64, f64), size: (f64, f64), tip: &str) {
        let [x, y, w, h] = [at.0, at.1, size.0, size.1].map(number);
        self.add(&html! {
            rect class=(class) x=(x) y=(y) width=(w) height=(h) { title { (tip) } }
        });
    }

    /// Draws a mark whose shape depends on its colour, for readers who cannot distinguish colours.
    fn mark(&mut self, class: &str, shape: usize, (x, y): (f64, f64), r: f64, tip: &str) {
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

    fn path(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
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
fn fit(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(letters.saturating_sub(1)).collect();
    short.push('…');
    short
}
