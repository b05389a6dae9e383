use netbench_model::coverage::Support;

use super::canvas::{Anchor, Canvas, fit};
use crate::document::Matrix;

/// Draws a background for each stack in each cell, with a sign for readers who cannot see the background.
pub(super) fn draw(canvas: &mut Canvas, matrix: &Matrix, width: f64) -> f64 {
    const ROW: f64 = 20.0;
    const TOP: f64 = 24.0;
    let narrow = width < 500.0;
    // On a phone, a row's name is above its cells.
    let (left, name_high) = if narrow { (0.0, 18.0) } else { (270.0, 0.0) };
    let letters = if narrow { 52 } else { 42 };
    let column = (width - left) / matrix.columns.len().max(1) as f64;
    for (at, name) in (0u32..).zip(&matrix.columns) {
        let x = left + column * (f64::from(at) + 0.5);
        // About seven pixels per letter.
        let letters = if column < 60.0 { 7 } else { 12 };
        canvas.text("lb", Anchor::Middle, (x, TOP - 8.0), &fit(name, letters));
    }
    for (number, row) in (0u32..).zip(&matrix.rows) {
        let y = TOP + name_high + (ROW + name_high) * f64::from(number);
        let (anchor, at) = if narrow {
            (Anchor::Start, (0.0, y - 4.0))
        } else {
            (Anchor::End, (left - 8.0, y + 14.0))
        };
        canvas.text("lb", anchor, at, &fit(&row.name, letters));
        for (at, (marks, protocol)) in (0u32..).zip(row.cells.iter().zip(&matrix.columns)) {
            let x = left + column * f64::from(at) + 2.0;
            let each = (column - 4.0) / marks.len().max(1) as f64;
            for (stack, (mark, name)) in (0u32..).zip(marks.iter().zip(&matrix.stacks)) {
                let x = x + each * f64::from(stack);
                let tip = format!("{}, {protocol}, {name}: {mark}", row.name);
                let (sign, ground, text) = look(*mark);
                canvas.bar(ground, (x, y + 1.0), (each - 1.0, ROW - 2.0), &tip);
                let at = (x + each / 2.0, y + 14.0);
                canvas.text(text, Anchor::Middle, at, sign);
            }
        }
    }
    TOP + (ROW + name_high) * matrix.rows.len() as f64 + 4.0
}

/// Returns the sign of a mark, which a chart's note explains, and the classes of its background and of the sign.
fn look(mark: Support) -> (&'static str, &'static str, &'static str) {
    match mark {
        Support::Works => ("+", "h4", "on"),
        Support::OffByDefault => ("o", "h2", "lb"),
        Support::Partly => ("±", "h2", "lb"),
        Support::Absent => ("–", "h0", "lb"),
        Support::NotTestable => ("?", "h1", "lb"),
    }
}
