use super::canvas::{Anchor, Canvas, fit};
use crate::document::Bars;

pub(super) fn draw(canvas: &mut Canvas, bars: &Bars, width: f64) -> f64 {
    const BAR: f64 = 17.0;
    const NAME: f64 = 20.0;
    const GAP: f64 = 12.0;
    let narrow = width < 500.0;
    let labels = bars.groups.iter().flat_map(|group| &group.bars);
    let label = labels.clone().map(|bar| bar.label.chars().count()).max();
    let label = label.unwrap_or(0);
    let after = labels.clone().map(|bar| bar.text.chars().count()).max();
    let letters = if narrow { 15 } else { 34 };
    // If a label has no room beside its bar, all labels are above their bars.
    let above = label > letters;
    let left = match label {
        n if n == 0 || above => 0.0,
        n => n as f64 * 7.0 + 8.0,
    };
    let right = after.unwrap_or(0) as f64 * 7.0 + 8.0;
    let most = labels.map(|bar| whole(&bar.parts)).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let room = (width - left - right).max(40.0);
    let names = if narrow { 50 } else { 120 };
    let mut y = 4.0;
    for group in &bars.groups {
        if !group.name.is_empty() {
            let text = fit(&group.name, names);
            canvas.text("lb", Anchor::Start, (0.0, y + 13.0), &text);
            y += NAME;
        }
        for bar in &group.bars {
            if above {
                let text = fit(&bar.label, names);
                canvas.text("ax", Anchor::Start, (0.0, y + 13.0), &text);
                y += NAME;
            } else if left > 0.0 {
                canvas.text("ax", Anchor::End, (left - 6.0, y + 12.0), &bar.label);
            }
            let all = whole(&bar.parts).max(f64::MIN_POSITIVE);
            let mut x = left;
            for (series, part) in &bar.parts {
                let long = part.max(0.0) / most * room;
                let name = bars.series.get(*series).map_or("", String::as_str);
                let share = 100.0 * part.max(0.0) / all;
                let tip = match (bar.parts.len(), bar.label.as_str()) {
                    (1, _) => format!("{}, {name}: {}", group.name, bar.text),
                    (_, "") => format!("{name}: {share:.1} % of {}", bar.text),
                    (_, label) => format!("{label}, {name}: {share:.1} % of {}", bar.text),
                };
                canvas.bar(
                    bars.colours.class(*series),
                    (x, y + 1.0),
                    (long, BAR - 3.0),
                    &tip,
                );
                x += long;
            }
            canvas.text("ax", Anchor::Start, (x + 6.0, y + 12.0), &bar.text);
            y += BAR;
        }
        y += GAP;
    }
    y
}

fn whole(parts: &[(usize, f64)]) -> f64 {
    parts.iter().map(|(_, part)| part.max(0.0)).sum()
}
