use netbench_stats::Verdict;

use super::{Anchor, Canvas, Point, Steps, colour, fit, scale::Scale};

/// Number of letters of a figure that fit beside the figure two versions later.
const LETTERS: usize = 14;

/// Draws a point for each version, in their order, over an axis that begins at 0.
pub(super) fn draw(canvas: &mut Canvas, steps: &Steps, width: f64) -> f64 {
    let (side, top, bottom) = (38.0, 30.0, 190.0);
    let highest = steps.points.iter().filter_map(|point| point.value);
    let up = Scale::new((0.0, highest.fold(0.0, f64::max) * 1.1), (bottom, top));
    let last = steps.points.len().saturating_sub(1).max(1) as f64;
    let across = Scale::new((0.0, last), (side, width - side));
    for tick in up.ticks(4.0) {
        let y = up.at(tick);
        canvas.line("gr", (0.0, y), (width, y));
    }
    let placed: Vec<(f64, &Point)> = steps
        .points
        .iter()
        .enumerate()
        .map(|(number, point)| (across.at(number as f64), point))
        .collect();
    for (x, point) in &placed {
        canvas.text(
            "ax",
            Anchor::Middle,
            (*x, bottom + 16.0),
            &fit(&point.label, 9),
        );
    }
    let known = placed
        .iter()
        .filter_map(|(x, point)| Some((*x, up.at(point.value?), *point)));
    let known: Vec<(f64, f64, &Point)> = known.collect();
    let line = format!("ln {}", colour(0));
    canvas.path(&line, known.iter().map(|(x, y, _)| (*x, *y)));
    for (number, (x, y, point)) in known.iter().enumerate() {
        let (class, shape) = match point.step {
            Some(Verdict::Faster) => ("faster".to_owned(), 2),
            Some(Verdict::Slower) => ("slower".to_owned(), 1),
            _ => (format!("pt {}", colour(0)), 0),
        };
        let tip = format!("{}: {} {}", point.label, point.text, point.about);
        canvas.mark(&class, shape, (*x, *y), 5.0, tip.trim_end());
        // Figures alternate above and below their points: side by side they have no room.
        let below = if number % 2 == 0 { -11.0 } else { 20.0 };
        let text = fit(&point.text, LETTERS);
        canvas.text("lb", Anchor::Middle, (*x, y + below), &text);
    }
    bottom + 24.0
}
