use super::canvas::{Anchor, Canvas, fit};
use crate::{
    document::{Heat, HeatCell},
    formats::html::markup::verdict_class,
};

const ROW: f64 = 30.0;

/// The mean width of a letter, in pixels.
const LETTER: f64 = 6.8;

/// Draws a cell for each pair of values: its colour is the verdict's, the stronger the larger the change is.
pub(super) fn draw(canvas: &mut Canvas, heat: &Heat, width: f64) -> f64 {
    let longest = heat.down.values.iter().map(|value| value.chars().count());
    let longest = longest
        .max()
        .unwrap_or(0)
        .max(heat.down.name.chars().count());
    let (left, top) = (longest as f64 * LETTER + 12.0, 40.0);
    let column = (width - left) / heat.across.values.len().max(1) as f64;
    let letters = (column / LETTER) as usize;
    canvas.text("ax", Anchor::End, (left - 8.0, top - 8.0), &heat.down.name);
    canvas.text("ax", Anchor::Start, (left, 12.0), &heat.across.name);
    for (place, value) in heat.across.values.iter().enumerate() {
        let x = left + column * (place as f64 + 0.5);
        canvas.text(
            "lb",
            Anchor::Middle,
            (x, top - 8.0),
            &fit(value, letters.max(3)),
        );
    }
    for (place, value) in heat.down.values.iter().enumerate() {
        let y = top + ROW * (place as f64 + 0.5) + 4.0;
        canvas.text("lb", Anchor::End, (left - 8.0, y), value);
    }
    let largest = heat.cells.iter().map(|cell| cell.change_ns.abs());
    let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
    for cell in &heat.cells {
        let (across, down) = cell.place;
        let at = (left + column * across as f64, top + ROW * down as f64);
        let strength = (cell.change_ns.abs() / largest * 4.0)
            .ceil()
            .clamp(1.0, 4.0);
        let class = format!("heat {} o{strength}", verdict_class(cell.verdict));
        canvas.bar(
            &class,
            (at.0 + 1.0, at.1 + 1.0),
            (column - 2.0, ROW - 2.0),
            &tip(heat, cell),
        );
        // Where a change does not fit, the colour and the tip remain.
        if cell.text.chars().count() <= letters {
            let class = if cell.verdict.is_decided() {
                "lb"
            } else {
                "ax"
            };
            let middle = (at.0 + column / 2.0, at.1 + ROW / 2.0 + 4.0);
            canvas.text(class, Anchor::Middle, middle, &cell.text);
        }
    }
    top + ROW * heat.down.values.len() as f64 + 6.0
}

fn tip(heat: &Heat, cell: &HeatCell) -> String {
    let (across, down) = cell.place;
    format!(
        "{} {}, {} {}: {} ({}), {}",
        heat.down.name,
        heat.down.values[down],
        heat.across.name,
        heat.across.values[across],
        cell.text,
        cell.about,
        cell.verdict
    )
}
