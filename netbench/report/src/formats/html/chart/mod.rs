//! Charts as SVG.
//!
//! [`draw`] makes a chart at a width in the units of its text: letters keep their size on a phone.

mod bars;
mod canvas;
mod dots;
mod ecdf;
mod heat;
mod lines;
mod matrix;
mod ranking;
mod scale;
mod scatter;
mod steps;

use maud::{Markup, PreEscaped, html};

use self::canvas::Canvas;
use crate::document::{Chart, Colours, Drawing};

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

/// Draws the chart as SVG, and returns its height. `id` is unique on the page.
pub(super) fn draw(chart: &Chart, id: &str, width: Width) -> (Markup, f64) {
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
        Drawing::Lines(lines) => lines::draw(&mut canvas, lines, w),
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
        Drawing::Lines(lines) => lines.lines.iter().map(|line| line.name.as_str()).collect(),
    };
    let colours = match drawing {
        Drawing::Bars(bars) => bars.colours,
        _ => Colours::Stacks,
    };
    (colours, names)
}
