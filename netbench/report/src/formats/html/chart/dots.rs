use netbench_stats::{Interval, Verdict};

use super::{
    canvas::{Anchor, Canvas, fit},
    scale::Scale,
};
use crate::{
    document::{Dot, Dots},
    formats::html::markup::verdict_class,
    text::{change, interval_of},
};

/// The number of dots above which they are drawn side by side, without names.
const NAMED: usize = 24;

/// The distance beyond the outermost dots to which an interval is drawn, in shares of their range.
const BEYOND: f64 = 0.6;

pub(super) fn draw(canvas: &mut Canvas, dots: &Dots, width: f64) -> f64 {
    if dots.dots.len() > NAMED {
        ranked(canvas, dots, width)
    } else {
        named(canvas, dots, width)
    }
}

fn named(canvas: &mut Canvas, dots: &Dots, width: f64) -> f64 {
    let narrow = width < 500.0;
    let longest = dots.dots.iter().map(|dot| dot.name.chars().count()).max();
    let longest = longest.unwrap_or(0);
    // If names have no room beside their marks, they are above them.
    let above = longest > if narrow { 18 } else { 40 };
    let left = match longest {
        _ if above => 8.0,
        n => n as f64 * 6.4 + 14.0,
    };
    let right = if narrow { 12.0 } else { 190.0 };
    let (row_high, middle_of) = if above { (40.0, 0.72) } else { (26.0, 0.5) };
    let top = 24.0;
    let bottom = top + row_high * dots.dots.len() as f64 + 6.0;
    let scale = Scale::new(range(&dots.dots), (left, width - right));
    let ticks = scale.marks(if narrow { 4.0 } else { 6.0 }, tick_text);
    canvas.uprights((top, bottom), 15.0, ticks);
    let (zero, end) = (scale.at(0.0), width - right);
    canvas.line("zero", (zero, top), (zero, bottom));
    canvas.text(
        "ax",
        Anchor::End,
        (end, top - 8.0),
        &format!("{} →", dots.more),
    );
    // A narrow chart may have no room for both.
    let is_tight = end - left < 300.0;
    if !is_tight || zero - left > 60.0 {
        let from = if is_tight { 0.0 } else { left };
        canvas.text(
            "ax",
            Anchor::Start,
            (from, top - 8.0),
            &format!("← {}", dots.less),
        );
    }
    for (row, dot) in (0u32..).zip(&dots.dots) {
        let y = top + row_high * (f64::from(row) + middle_of);
        if above {
            let text = fit(&dot.name, if narrow { 50 } else { 120 });
            canvas.text("lb", Anchor::Start, (0.0, y - 13.0), &text);
        } else {
            canvas.text("lb", Anchor::End, (left - 8.0, y + 4.0), &dot.name);
        }
        mark(canvas, dot, 5.0, |change| (scale.at(change), y));
        if !narrow {
            let text = match dot.verdict {
                Verdict::Faster | Verdict::Slower => change(dot.ratio),
                verdict => format!("{} ({verdict})", change(dot.ratio)),
            };
            canvas.text("lb", Anchor::Start, (width - right + 14.0, y + 4.0), &text);
        }
    }
    bottom + 24.0
}

/// Draws all ratios in rising order, each as a column of a few pixels.
fn ranked(canvas: &mut Canvas, dots: &Dots, width: f64) -> f64 {
    let mut sorted: Vec<&Dot> = dots.dots.iter().collect();
    sorted.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let (left, right, top, bottom) = (52.0, 10.0, 22.0, 300.0);
    let scale = Scale::new(range(&dots.dots), (bottom, top));
    canvas.levels((left, width - right), scale.marks(6.0, tick_text));
    canvas.line(
        "zero",
        (left, scale.at(0.0)),
        (width - right, scale.at(0.0)),
    );
    let step = (width - left - right) / sorted.len() as f64;
    let r = (step * 0.42).clamp(1.2, 4.5);
    for (rank, dot) in (0u32..).zip(sorted) {
        let x = left + step * (f64::from(rank) + 0.5);
        mark(canvas, dot, r, |change| (x, scale.at(change)));
    }
    let words = format!("above 0: {}", dots.more);
    canvas.text("ax", Anchor::Start, (left, top - 8.0), &words);
    let words = format!("below 0: {}", dots.less);
    canvas.text("ax", Anchor::Start, (left, bottom + 16.0), &words);
    bottom + 24.0
}

/// Draws a ratio and its interval; `at` returns the position of a change.
fn mark(canvas: &mut Canvas, dot: &Dot, r: f64, at: impl Fn(f64) -> (f64, f64)) {
    let class = verdict_class(dot.verdict);
    if let Some(Interval { low, high, .. }) = dot.interval {
        canvas.line(&format!("iv {class}"), at(low - 1.0), at(high - 1.0));
    }
    canvas.mark(class, shape(dot.verdict), at(dot.ratio - 1.0), r, &tip(dot));
}

pub(super) fn shape(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Faster => 0,
        Verdict::Undecided | Verdict::NotJudged => 1,
        Verdict::Slower => 2,
        Verdict::Same => 3,
    }
}

/// Returns the range of the changes, including zero, with room for most intervals.
fn range(dots: &[Dot]) -> (f64, f64) {
    let (mut low, mut high) = (0.0f64, 0.0f64);
    for dot in dots {
        low = low.min(dot.ratio - 1.0);
        high = high.max(dot.ratio - 1.0);
    }
    let room = (high - low).max(0.01) * BEYOND;
    let (mut lowest, mut highest) = (low, high);
    for interval in dots.iter().filter_map(|dot| dot.interval) {
        lowest = lowest.min((interval.low - 1.0).max(low - room));
        highest = highest.max((interval.high - 1.0).min(high + room));
    }
    let edge = (highest - lowest).max(0.01) * 0.04;
    (lowest - edge, highest + edge)
}

/// Formats a change at an axis, without superfluous decimals.
fn tick_text(tick: f64) -> String {
    if tick.abs() < 1e-9 {
        return "0 %".to_owned();
    }
    change(tick + 1.0).replace(".0 %", " %")
}

fn tip(dot: &Dot) -> String {
    let ends = dot.interval.map_or_else(
        || "no interval".to_owned(),
        |interval| interval_of(interval.low, interval.high),
    );
    format!(
        "{}: {} ({ends}), {}",
        dot.name,
        change(dot.ratio),
        dot.verdict
    )
}
