use jiff::civil::{Date, date};
use netbench_stats::Verdict;

use super::{
    canvas::{Anchor, Canvas, colour, fit},
    scale::Scale,
};
use crate::document::Point;

/// Number of letters of a figure that fit beside the figure two versions later.
const LETTERS: usize = 14;

/// The vertical extent of the figures, in pixels.
const EXTENT: (f64, f64) = (190.0, 34.0);

const SIDE: f64 = 38.0;

/// Draws a point for each version over an axis that begins at 0: by the dates of their releases if they are known, otherwise side by
/// side in their order.
pub(super) fn draw(canvas: &mut Canvas, steps: &[Point], width: f64) -> f64 {
    let (bottom, top) = EXTENT;
    let highest = steps.iter().filter_map(|point| point.value);
    let up = Scale::new((0.0, highest.fold(0.0, f64::max) * 1.1), (bottom, top));
    for tick in up.ticks(4.0) {
        let y = up.at(tick);
        canvas.line("gr", (0.0, y), (width, y));
    }
    let dates: Option<Vec<Date>> = steps.iter().map(|point| point.released).collect();
    let dates = dates.filter(|dates| dates.iter().min() < dates.iter().max());
    let across: Vec<f64> = match &dates {
        Some(dates) => by_date(canvas, dates, width),
        None => in_order(canvas, steps, width),
    };
    let known = across
        .iter()
        .zip(steps)
        .filter_map(|(x, point)| Some((*x, up.at(point.value?), point)));
    let known: Vec<(f64, f64, &Point)> = known.collect();
    let line = format!("ln {}", colour(0));
    canvas.path(&line, known.iter().map(|(x, y, _)| (*x, *y)));
    for (x, y, point) in &known {
        let (class, shape) = match point.step {
            Some(Verdict::Faster) => ("faster".to_owned(), 2),
            Some(Verdict::Slower) => ("slower".to_owned(), 1),
            _ => (format!("pt {}", colour(0)), 0),
        };
        let on = point.released.map(|date| format!(" ({date})"));
        let tip = format!(
            "{}{}: {} {}",
            point.label,
            on.unwrap_or_default(),
            point.text,
            point.about
        );
        canvas.mark(&class, shape, (*x, *y), 5.0, tip.trim_end());
    }
    match dates {
        Some(_) => labels(canvas, &known, width),
        None => figures(canvas, &known),
    }
    bottom + 24.0
}

/// Draws the versions below the axis, and returns their places.
fn in_order(canvas: &mut Canvas, steps: &[Point], width: f64) -> Vec<f64> {
    let last = steps.len().saturating_sub(1).max(1) as f64;
    let across = Scale::new((0.0, last), (SIDE, width - SIDE));
    let mut places = Vec::new();
    for (number, point) in steps.iter().enumerate() {
        let x = across.at(number as f64);
        let label = fit(&point.label, 9);
        canvas.text("ax", Anchor::Middle, (x, EXTENT.0 + 16.0), &label);
        places.push(x);
    }
    places
}

/// Draws an axis of dates, and returns the places of `dates`.
fn by_date(canvas: &mut Canvas, dates: &[Date], width: f64) -> Vec<f64> {
    let (bottom, top) = EXTENT;
    let days = dates.iter().copied().map(day);
    let (first, last) = days.clone().fold((f64::MAX, f64::MIN), |(low, high), day| {
        (low.min(day), high.max(day))
    });
    let across = Scale::new((first, last), (SIDE, width - SIDE));
    let ticks = date_ticks(first, last).into_iter();
    let ticks = ticks.map(|(tick, text)| (across.at(tick), text));
    canvas.uprights((top, bottom), 16.0, ticks);
    days.map(|day| across.at(day)).collect()
}

/// Returns the number of days since 1970.
fn day(of: Date) -> f64 {
    let since = date(1970, 1, 1).until(of);
    since.map_or(0.0, |span| f64::from(span.get_days()))
}

/// Returns the beginnings of years or of parts of them between two days: at least two if possible, and the fewest.
fn date_ticks(first: f64, last: f64) -> Vec<(f64, String)> {
    let mut ticks = Vec::new();
    for months in [12, 6, 3, 1] {
        let starts = (1990..2100).flat_map(|year| {
            let months = (1..=12).step_by(months);
            months.map(move |month| date(year, month, 1))
        });
        ticks = starts
            .filter(|start| (first..=last).contains(&day(*start)))
            .map(|start| (day(start), tick_text(start)))
            .collect();
        if ticks.len() > 1 {
            break;
        }
    }
    ticks
}

fn tick_text(start: Date) -> String {
    match start.month() {
        1 => start.year().to_string(),
        month => format!("{}-{month:02}", start.year()),
    }
}

/// Writes figures above and below their points in turn: side by side they have no room.
fn figures(canvas: &mut Canvas, known: &[(f64, f64, &Point)]) {
    for (number, (x, y, point)) in known.iter().enumerate() {
        let below = if number % 2 == 0 { -11.0 } else { 20.0 };
        let text = fit(&point.text, LETTERS);
        canvas.text("lb", Anchor::Middle, (*x, y + below), &text);
    }
}

/// Writes versions and figures where they hide neither each other nor a point.
fn labels(canvas: &mut Canvas, known: &[(f64, f64, &Point)], width: f64) {
    const HIGH: f64 = 14.0;
    let marks = known
        .iter()
        .map(|(x, y, _)| Area::around(*x, *y, 12.0, 12.0));
    let mut taken: Vec<Area> = marks.collect();
    for (x, y, point) in known {
        let text = format!("{}: {}", point.label, point.text);
        let wide = text.chars().count() as f64 * 6.4;
        let middle = x.clamp(wide / 2.0, (width - wide / 2.0).max(wide / 2.0));
        let free = [-16.0, 16.0, -30.0, 30.0, -44.0, 44.0]
            .map(|by| Area::around(middle, y + by, wide, HIGH))
            .into_iter()
            .find(|area| area.is_free(&taken));
        // Without a free place, the tip of the mark remains.
        if let Some(area) = free {
            canvas.text("lb", Anchor::Middle, (middle, area.high.1 - 3.0), &text);
            taken.push(area);
        }
    }
}

struct Area {
    low: (f64, f64),
    high: (f64, f64),
}

impl Area {
    fn around(x: f64, y: f64, wide: f64, high: f64) -> Self {
        Self {
            low: (x - wide / 2.0, y - high / 2.0),
            high: (x + wide / 2.0, y + high / 2.0),
        }
    }

    /// Returns whether the area is within the chart, and overlaps none of those that are taken.
    fn is_free(&self, taken: &[Self]) -> bool {
        let mut overlapped = taken.iter().filter(|other| {
            self.low.0 < other.high.0
                && other.low.0 < self.high.0
                && self.low.1 < other.high.1
                && other.low.1 < self.high.1
        });
        self.low.1 > 0.0 && self.high.1 < EXTENT.0 && overlapped.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use itertools::Itertools;

    use super::*;

    #[test]
    fn dates_are_marked_by_years_or_parts_of_them() {
        for ((from, to), expected) in [
            ((date(2023, 2, 7), date(2026, 9, 29)), "2024 2025 2026"),
            (
                (date(2026, 3, 2), date(2026, 10, 27)),
                "2026-04 2026-07 2026-10",
            ),
            ((date(2025, 11, 2), date(2026, 7, 27)), "2026 2026-07"),
            ((date(2026, 3, 2), date(2026, 3, 9)), ""),
        ] {
            let ticks = date_ticks(day(from), day(to));
            assert_eq!(ticks.iter().map(|(_, text)| text).join(" "), expected);
        }
    }
}
