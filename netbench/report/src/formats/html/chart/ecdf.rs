use super::{
    canvas::{Canvas, colour},
    scale::{Scale, time_ticks},
};
use crate::document::Series;

/// Number of points of a line; a pixel or two apart.
const POINTS: usize = 140;

pub(super) fn draw(canvas: &mut Canvas, all: &[Series], width: f64) -> f64 {
    let (left, right, top, bottom) = (44.0, 12.0, 8.0, 170.0);
    let ends = all.iter().filter_map(|series| {
        let (first, last) = (series.sorted_ns.first()?, series.sorted_ns.last()?);
        Some((ln(*first), ln(*last)))
    });
    let (low, high) = ends.fold((f64::MAX, f64::MIN), |(a, b), (low, high)| {
        (a.min(low), b.max(high))
    });
    if low > high {
        return bottom;
    }
    let room = ((high - low) * 0.02).max(0.02);
    let (low, high) = (low - room, high + room);
    let across = Scale::new((low, high), (left, width - right));
    let up = Scale::new((0.0, 1.0), (bottom, top));
    let shares = [0.0, 0.25, 0.5, 0.75, 1.0].into_iter();
    let shares = shares.map(|share| (up.at(share), format!("{:.0} %", share * 100.0)));
    canvas.levels((left, width - right), shares);
    let ticks = time_ticks(low, high, 5).into_iter();
    let ticks = ticks.map(|(tick, text)| (across.at(tick), text));
    canvas.uprights((top, bottom), 16.0, ticks);
    for (number, series) in all.iter().enumerate() {
        let count = series.sorted_ns.len();
        let steps = POINTS.min(count);
        let points = (0..=steps).filter_map(|step| {
            let rank = (step * count).div_ceil(steps.max(1)).max(1);
            let value = series.sorted_ns.get(rank - 1)?;
            let share = if step == 0 {
                0.0
            } else {
                rank as f64 / count as f64
            };
            Some((across.at(ln(*value)), up.at(share)))
        });
        let class = format!("ln {} d{}", colour(number), number % 4);
        canvas.path(&class, points);
    }
    bottom + 26.0
}

fn ln(ns: f64) -> f64 {
    ns.max(1.0).ln()
}
