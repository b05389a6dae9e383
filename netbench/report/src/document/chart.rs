use netbench_model::coverage::Support;
use netbench_stats::{Interval, Verdict};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// What it shows, in a sentence.
    pub(crate) title: String,
    /// How many values it is of, and what its intervals are.
    pub(crate) note: String,
    pub(crate) drawing: Drawing,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Drawing {
    Dots(Dots),
    Bars(Bars),
    Scatter(Scatter),
    /// The share of values up to each value, over a logarithmic axis of time.
    Ecdf(Vec<Series>),
    Matrix(Matrix),
    Steps(Steps),
}

/// A figure from version to version.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steps {
    pub(crate) points: Vec<Point>,
}

/// What one version has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// The version.
    pub(crate) label: String,
    /// None where it has no figure.
    pub(crate) value: Option<f64>,
    /// The same with its unit.
    pub(crate) text: String,
    /// The step from the version before it, in words.
    pub(crate) about: String,
    /// What is said of that step.
    pub(crate) step: Option<Verdict>,
}

/// What each of several stacks has, by row and column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    /// In the order of the marks.
    pub(crate) stacks: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<MatrixRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatrixRow {
    pub(crate) name: String,
    /// For each column a mark for each stack; none where there is nothing to have.
    pub(crate) cells: Vec<Vec<Support>>,
}

/// Ratios with intervals: a row for each where they are few, else one beside the other in rising order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dots {
    /// What ratios under 1 mean: `rustls-ring is faster`.
    pub(crate) less: String,
    /// What ratios over 1 mean.
    pub(crate) more: String,
    pub(crate) dots: Vec<Dot>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dot {
    /// What it is of.
    pub(crate) name: String,
    pub(crate) ratio: f64,
    pub(crate) interval: Option<Interval>,
    pub(crate) verdict: Verdict,
}

/// What the colours of bars are of. A colour of a stack is of nothing else on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Stacks,
    /// The parts of one bar.
    Parts,
}

/// Groups of bars.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    pub(crate) colours: Colours,
    /// The names of the colours: stacks, or parts of a bar.
    pub(crate) series: Vec<String>,
    pub(crate) groups: Vec<BarGroup>,
}

/// Bars that are compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BarGroup {
    /// What they are of; nothing where the chart's title says it.
    pub(crate) name: String,
    pub(crate) bars: Vec<Bar>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// What is written before it: nothing where the colour tells.
    pub(crate) label: String,
    /// Which of the series, and how long.
    pub(crate) parts: Vec<(usize, f64)>,
    /// The figure after it.
    pub(crate) text: String,
}

/// Points of several series over two axes of nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scatter {
    /// What the horizontal axis is.
    pub(crate) across: String,
    /// What the vertical axis is.
    pub(crate) up: String,
    pub(crate) series: Vec<Points>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Points {
    /// The series' name.
    pub(crate) name: String,
    /// Across and up, in nanoseconds, and what the point is of.
    pub(crate) points: Vec<(f64, f64, String)>,
    /// Its line: slope and height at 0.
    pub(crate) line: Option<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Its values in rising order, in nanoseconds.
    pub(crate) sorted_ns: Vec<f64>,
}
