use super::{
    Anchor, Canvas, Scatter, colour,
    scale::{Scale, short_time},
};
use crate::text::time;

pub(super) fn draw(canvas: &mut Canvas, scatter: &Scatter, width: f64) -> f64 {
    let narrow = width < 500.0;
    let (left, right, top, bottom) = (58.0, 12.0, 22.0, if narrow { 260.0 } else { 360.0 });
    let points = || scatter.series.iter().flat_map(|series| &series.points);
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max) * 1.04;
    let across = Scale::new(
        (0.0, most(&mut points().map(|(x, _, _)| *x))),
        (left, width - right),
    );
    let farthest = most(&mut points().map(|(x, _, _)| *x));
    let highest = most(&mut points().map(|(_, y, _)| *y));
    let up = Scale::new((0.0, highest), (bottom, top));
    for tick in up.ticks(5.0) {
        let y = up.at(tick);
        canvas.line("gr", (left, y), (width - right, y));
        canvas.text("ax", Anchor::End, (left - 6.0, y + 4.0), &short_time(tick));
    }
    for tick in across.ticks(if narrow { 4.0 } else { 8.0 }) {
        let x = across.at(tick);
        canvas.line("gr", (x, top), (x, bottom));
        canvas.text("ax", Anchor::Middle, (x, bottom + 16.0), &short_time(tick));
    }
    for (number, series) in scatter.series.iter().enumerate() {
        let class = colour(number);
        for (x, y, name) in &series.points {
            let tip = format!(
                "{name}, {}: {} at {} {}",
                series.name,
                time(*y),
                time(*x),
                scatter.across
            );
            let at = (across.at(*x), up.at(*y));
            // Points of the first series are rings, so that other points on them do not hide them.
            let (class, r) = match number {
                0 => ("ring".to_owned(), 5.0),
                _ => (format!("pt {class}"), 2.8),
            };
            canvas.mark(&class, number, at, r, &tip);
        }
    }
    for (number, series) in scatter.series.iter().enumerate() {
        let Some((slope, base)) = series.line else {
            continue;
        };
        // The line ends where it leaves the chart at its top.
        let end = if slope > 0.0 {
            farthest.min((highest - base) / slope)
        } else {
            farthest
        };
        let at = |x: f64| (across.at(x), up.at(slope * x + base));
        let class = format!("ln {} d{}", colour(number), number % 4);
        canvas.path(&class, [at(0.0), at(end.max(0.0))]);
    }
    canvas.text("ax", Anchor::Start, (0.0, top - 8.0), &scatter.up);
    canvas.text(
        "ax",
        Anchor::End,
        (width - right, bottom + 34.0),
        &scatter.across,
    );
    bottom + 42.0
}
