use netbench_stats::Interval;

use super::{
    canvas::{Anchor, Canvas},
    dots::shape,
    scale::{Scale, factor_ticks},
};
use crate::{
    document::{Ranked, Ranking},
    formats::html::markup::verdict_class,
    text::factor,
};

const ROW: f64 = 26.0;

/// The height of a row with the name above the mark.
const TALL_ROW: f64 = 40.0;

pub(super) fn draw(canvas: &mut Canvas, ranking: &Ranking, width: f64) -> f64 {
    let narrow = width < 500.0;
    let longest = ranking
        .rows
        .iter()
        .map(|row| row.name.chars().count())
        .max();
    let (left, right, row_high, middle) = if narrow {
        (8.0, 12.0, TALL_ROW, 0.72)
    } else {
        (longest.unwrap_or(0) as f64 * 6.6 + 16.0, 180.0, ROW, 0.5)
    };
    let top = 24.0;
    let bottom = top + row_high * ranking.rows.len() as f64 + 6.0;
    let (low, high) = range(&ranking.rows);
    let scale = Scale::new((low.ln(), high.ln()), (left, width - right));
    let ticks = factor_ticks(low, high, if narrow { 4 } else { 8 }).into_iter();
    let ticks = ticks.map(|(tick, text)| (scale.at(tick.ln()), text));
    canvas.uprights((top, bottom), 15.0, ticks);
    canvas.line("zero", (scale.at(0.0), top), (scale.at(0.0), bottom));
    canvas.text("ax", Anchor::End, (width - right, top - 8.0), "better →");
    for (number, row) in (0u32..).zip(&ranking.rows) {
        let y = top + row_high * (f64::from(number) + middle);
        let figure = match row.verdict {
            _ if row.name == ranking.first => row.text.clone(),
            verdict if verdict.is_decided() => format!("{} · {}", row.text, factor(row.ratio)),
            verdict => format!("{} · {verdict}", row.text),
        };
        if narrow {
            let text = format!("{}: {figure}", row.name);
            canvas.text("lb", Anchor::Start, (0.0, y - 13.0), &text);
        } else {
            canvas.text("lb", Anchor::End, (left - 10.0, y + 4.0), &row.name);
            canvas.text(
                "lb",
                Anchor::Start,
                (width - right + 14.0, y + 4.0),
                &figure,
            );
        }
        let class = verdict_class(row.verdict);
        if let Some(Interval { low, high, .. }) = row.interval {
            canvas.line(
                &format!("iv {class}"),
                (scale.at((1.0 / high).ln()), y),
                (scale.at((1.0 / low).ln()), y),
            );
        }
        canvas.mark(
            class,
            shape(row.verdict),
            (scale.at((1.0 / row.ratio).ln()), y),
            5.0,
            &tip(row),
        );
    }
    bottom + 24.0
}

/// Returns the range of the factors and most of their intervals, with room at both ends.
fn range(rows: &[Ranked]) -> (f64, f64) {
    let factors = rows.iter().map(|row| 1.0 / row.ratio);
    let low = factors.clone().fold(1.0, f64::min);
    let high = factors.fold(1.0, f64::max);
    let room = (high / low).powf(0.04).max(1.02);
    (low / room, high * room)
}

fn tip(row: &Ranked) -> String {
    match row.interval {
        Some(Interval { low, high, .. }) => format!(
            "{}: {} · {} ({} … {}), {}",
            row.name,
            row.text,
            factor(row.ratio),
            factor(high),
            factor(low),
            row.verdict
        ),
        None => format!("{}: {}", row.name, row.text),
    }
}
