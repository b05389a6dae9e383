use super::{
    canvas::{Anchor, Canvas, colour},
    scale::{Scale, short_time},
};
use crate::{document::Scatter, text::time};

pub(super) fn draw(canvas: &mut Canvas, scatter: &Scatter, width: f64) -> f64 {
    let narrow = width < 500.0;
    let (left, right, top, bottom) = (58.0, 12.0, 22.0, if narrow { 260.0 } else { 360.0 });
    let points = scatter.series.iter().flat_map(|series| &series.points);
    let (farthest, highest) = points.fold((0.0, 0.0), |(farthest, highest), (x, y, _)| {
        (f64::max(farthest, *x), f64::max(highest, *y))
    });
    let (farthest, highest) = (farthest * 1.04, highest * 1.04);
    let across = Scale::new((0.0, farthest), (left, width - right));
    let up = Scale::new((0.0, highest), (bottom, top));
    canvas.levels((left, width - right), up.marks(5.0, short_time));
    let ticks = across.marks(if narrow { 4.0 } else { 8.0 }, short_time);
    canvas.uprights((top, bottom), 16.0, ticks);
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
        let ends = [0.0, end.max(0.0)].map(|x| (across.at(x), up.at(slope * x + base)));
        let class = format!("ln {} d{}", colour(number), number % 4);
        canvas.path(&class, ends);
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
