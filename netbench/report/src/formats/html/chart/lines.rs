use super::{
    canvas::{Anchor, Canvas, colour, fit},
    scale::Scale,
};
use crate::{document::Lines, row::figure};

/// The horizontal room for the values of the axis, and beside the last place, in pixels.
const SIDES: (f64, f64) = (64.0, 34.0);

/// The vertical extent of the figures, in pixels.
const EXTENT: (f64, f64) = (190.0, 12.0);

/// Number of letters of a place's name.
const LETTERS: usize = 12;

/// Draws a line for each series over places at equal distances, and an axis that begins at 0.
pub(super) fn draw(canvas: &mut Canvas, lines: &Lines, width: f64) -> f64 {
    let (bottom, top) = EXTENT;
    let values = lines.lines.iter().flat_map(|line| &line.values);
    let highest = values.flatten().copied().fold(0.0, f64::max);
    let up = Scale::new((0.0, highest * 1.1), (bottom, top));
    let ticks = up.ticks(4.0).into_iter();
    let ticks = ticks.map(|tick| (up.at(tick), figure(tick, lines.unit).render()));
    canvas.levels((SIDES.0, width), ticks);
    let last = lines.places.len().saturating_sub(1).max(1) as f64;
    let across = Scale::new((0.0, last), (SIDES.0 + SIDES.1, width - SIDES.1));
    let xs: Vec<f64> = (0..lines.places.len())
        .map(|number| across.at(number as f64))
        .collect();
    for (x, place) in xs.iter().zip(&lines.places) {
        let text = fit(place, LETTERS);
        canvas.text("ax", Anchor::Middle, (*x, bottom + 16.0), &text);
    }
    for (number, line) in lines.lines.iter().enumerate() {
        let known = xs.iter().zip(&lines.places).zip(&line.values);
        let known = known.filter_map(|((x, place), value)| Some((*x, place, (*value)?)));
        let known: Vec<_> = known.collect();
        let class = format!("ln {} d{}", colour(number), number % 4);
        canvas.path(
            &class,
            known.iter().map(|(x, _, value)| (*x, up.at(*value))),
        );
        for (x, place, value) in known {
            let tip = format!(
                "{}, {place}: {}",
                line.name,
                figure(value, lines.unit).render()
            );
            let (class, at) = (format!("pt {}", colour(number)), (x, up.at(value)));
            canvas.mark(&class, number, at, 4.0, &tip);
        }
    }
    bottom + 24.0
}
