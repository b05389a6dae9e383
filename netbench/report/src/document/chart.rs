use jiff::civil::Date;
use netbench_model::{SweepAxis, Unit, coverage::Support};
use netbench_stats::{Interval, Verdict};

pub(crate) struct Chart {
    /// The title: a sentence about the content.
    pub(crate) title: String,
    /// The number of values, and the kind of the intervals.
    pub(crate) note: String,
    pub(crate) drawing: Drawing,
}

pub(crate) enum Drawing {
    Dots(Dots),
    Bars(Bars),
    Scatter(Scatter),
    /// The share of values up to each value, over a logarithmic axis of time.
    Ecdf(Vec<Series>),
    Matrix(Matrix),
    /// A figure from version to version.
    Steps(Vec<Point>),
    Ranking(Ranking),
    Heat(Heat),
    Lines(Lines),
}

/// Figures of several series at the same places, in the order of the places.
pub(crate) struct Lines {
    pub(crate) places: Vec<String>,
    pub(crate) lines: Vec<Line>,
    /// The unit of the axis: bytes or nanoseconds.
    pub(crate) unit: Unit,
}

pub(crate) struct Line {
    pub(crate) name: String,
    /// A figure for each place, if there is one.
    pub(crate) values: Vec<Option<f64>>,
}

/// A change in time at each combination of the values of two properties.
pub(crate) struct Heat {
    /// The property with a column for each value.
    pub(crate) across: SweepAxis,
    /// The property with a row for each value.
    pub(crate) down: SweepAxis,
    pub(crate) cells: Vec<HeatCell>,
}

pub(crate) struct HeatCell {
    /// The indices of the values in `across` and `down`.
    pub(crate) place: (usize, usize),
    pub(crate) change_ns: f64,
    /// The change with its unit.
    pub(crate) text: String,
    /// The interval of the change.
    pub(crate) about: String,
    pub(crate) verdict: Verdict,
}

/// One figure of several stacks, the best first, over a logarithmic axis of factors.
pub(crate) struct Ranking {
    /// The stack with which the others are compared.
    pub(crate) first: String,
    pub(crate) rows: Vec<Ranked>,
}

pub(crate) struct Ranked {
    pub(crate) name: String,
    /// The figure with its unit.
    pub(crate) text: String,
    /// The stack's time or size over the first one's, which is 1 for the first itself.
    pub(crate) ratio: f64,
    pub(crate) interval: Option<Interval>,
    pub(crate) verdict: Verdict,
}

/// The figure of one version.
pub(crate) struct Point {
    /// The version.
    pub(crate) label: String,
    /// The date of its release, if it is known.
    pub(crate) released: Option<Date>,
    /// The figure; `None` if the version has no figure.
    pub(crate) value: Option<f64>,
    /// The figure with its unit.
    pub(crate) text: String,
    /// The step from the version before it, in words.
    pub(crate) about: String,
    /// The verdict on that step.
    pub(crate) step: Option<Verdict>,
}

/// The support of each of several stacks, by row and column.
pub(crate) struct Matrix {
    /// The stacks, in the order of the marks.
    pub(crate) stacks: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<MatrixRow>,
}

pub(crate) struct MatrixRow {
    pub(crate) name: String,
    /// For each column, a mark for each stack; empty if the feature cannot exist there.
    pub(crate) cells: Vec<Vec<Support>>,
}

/// Ratios with intervals: a row for each if they are few, otherwise side by side in rising order.
pub(crate) struct Dots {
    /// The meaning of ratios under 1: `rustls-ring is faster`.
    pub(crate) less: String,
    /// The meaning of ratios over 1.
    pub(crate) more: String,
    pub(crate) dots: Vec<Dot>,
}

pub(crate) struct Dot {
    /// The name of the compared item.
    pub(crate) name: String,
    pub(crate) ratio: f64,
    pub(crate) interval: Option<Interval>,
    pub(crate) verdict: Verdict,
}

/// The meaning of the colours of bars. A stack's colour has no other meaning on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Stacks,
    /// The colours denote the parts of one bar.
    Parts,
}

/// Groups of bars.
pub(crate) struct Bars {
    pub(crate) colours: Colours,
    /// The names of the colours: stacks, or parts of a bar.
    pub(crate) series: Vec<String>,
    pub(crate) groups: Vec<BarGroup>,
}

/// Bars that are compared with each other.
pub(crate) struct BarGroup {
    /// The group's name; empty if the chart's title suffices.
    pub(crate) name: String,
    pub(crate) bars: Vec<Bar>,
}

pub(crate) struct Bar {
    /// The label before the bar; empty if the colour suffices.
    pub(crate) label: String,
    /// The index of the series, and the length, of each part.
    pub(crate) parts: Vec<(usize, f64)>,
    /// The figure after the bar.
    pub(crate) text: String,
}

/// Points of several series over two axes of nanoseconds.
pub(crate) struct Scatter {
    /// The name of the horizontal axis.
    pub(crate) across: String,
    /// The name of the vertical axis.
    pub(crate) up: String,
    pub(crate) series: Vec<Points>,
}

pub(crate) struct Points {
    /// The series' name.
    pub(crate) name: String,
    /// Horizontal and vertical position, in nanoseconds, and the point's name.
    pub(crate) points: Vec<(f64, f64, String)>,
    /// Its line: slope and height at 0.
    pub(crate) line: Option<(f64, f64)>,
}

pub(crate) struct Series {
    pub(crate) name: String,
    /// Its values in rising order, in nanoseconds.
    pub(crate) sorted_ns: Vec<f64>,
}
