use netbench_stats::{Interval, Verdict};

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows, in a sentence.
    pub title: String,
    /// How many values it is of, and what its intervals are.
    pub note: String,
    /// The chart itself.
    pub drawing: Drawing,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Ratios with intervals.
    Dots(Dots),
    /// Bars.
    Bars(Bars),
    /// Points over two axes, with a line for each series.
    Scatter(Scatter),
    /// Distributions.
    Ecdf(Ecdf),
    /// Shares, by row and column.
    Matrix(Matrix),
}

/// Shares, by row and column, on grounds that are the darker the larger they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// Of which column to show the difference against the first beside them, if of any.
    pub against_first: Option<usize>,
    /// The rows.
    pub rows: Vec<MatrixRow>,
}

/// A row of shares.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixRow {
    /// Its name.
    pub name: String,
    /// A share from 0 to 1 for each column, where there is one.
    pub shares: Vec<Option<f64>>,
}

/// Ratios with intervals: a row for each where they are few, else one beside the other in rising order.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// What ratios under 1 mean: `rustls-ring is faster`.
    pub less: String,
    /// What ratios over 1 mean.
    pub more: String,
    /// The ratios.
    pub dots: Vec<Dot>,
}

/// A ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// What it is of.
    pub name: String,
    /// The ratio.
    pub ratio: f64,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// What the interval says.
    pub verdict: Verdict,
}

impl Dot {
    pub(crate) fn of(
        name: impl Into<String>,
        ratio: f64,
        interval: Option<Interval>,
        verdict: Verdict,
    ) -> Self {
        Self {
            name: name.into(),
            ratio,
            interval: interval.map(|i| (i.low, i.high)),
            verdict,
        }
    }
}

/// Groups of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// The names of the colours: stacks, or parts of a bar.
    pub series: Vec<String>,
    /// The groups.
    pub groups: Vec<BarGroup>,
}

/// Bars that are compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    /// What they are of; nothing where the chart's title says it.
    pub name: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What is written before it: nothing where the colour tells.
    pub label: String,
    /// Its parts: which of the series, and how long.
    pub parts: Vec<(usize, f64)>,
    /// The figure after it.
    pub text: String,
}

/// Points of several series over two axes of nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// What the horizontal axis is.
    pub across: String,
    /// What the vertical axis is.
    pub up: String,
    /// The series.
    pub series: Vec<Points>,
}

/// The points of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// The series' name.
    pub name: String,
    /// Across and up, in nanoseconds, and what the point is of.
    pub points: Vec<(f64, f64, String)>,
    /// Its line: slope and height at 0.
    pub line: Option<(f64, f64)>,
}

/// The share of values up to each value, for several series, over a logarithmic axis of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Ecdf {
    /// The series.
    pub series: Vec<Series>,
}

/// The values of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its values in rising order, in nanoseconds.
    pub sorted_ns: Vec<f64>,
}
