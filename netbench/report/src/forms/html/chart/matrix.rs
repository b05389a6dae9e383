use super::{Anchor, Canvas, Matrix, fit};

/// Shares from this on have so dark a ground that their text is light.
const DARK: f64 = 0.6;

pub(super) fn draw(canvas: &mut Canvas, matrix: &Matrix, width: f64) -> f64 {
    const ROW: f64 = 22.0;
    const TOP: f64 = 24.0;
    let narrow = width < 500.0;
    // On a phone a row's name stands above its cells.
    let (left, name_high) = if narrow { (0.0, 18.0) } else { (270.0, 0.0) };
    let letters = if narrow { 52 } else { 42 };
    let columns = matrix.columns.len().max(1) as f64;
    // The difference is a column too, and a wider one where there is room.
    let share = match (matrix.against_first, narrow) {
        (None, _) => 0.0,
        (Some(_), true) => 1.0,
        (Some(_), false) => 2.0,
    };
    let column = ((width - left) / (columns + share)).min(150.0);
    for (at, name) in (0u32..).zip(&matrix.columns) {
        let x = left + column * (f64::from(at) + 0.5);
        // About seven pixels a letter.
        let letters = if column < 100.0 { 13 } else { 18 };
        canvas.text("lb", Anchor::Middle, (x, TOP - 8.0), &fit(name, letters));
    }
    let differences = Differences {
        middle: left + column * (columns + share / 2.0),
        // The text of a difference stands at the end of its bar.
        reach: (column * share / 2.0 - if narrow { 36.0 } else { 40.0 }).max(4.0),
    };
    if let Some(name) = matrix.against_first.and_then(|at| matrix.columns.get(at)) {
        let text = if narrow {
            "change".to_owned()
        } else {
            fit(&format!("change to {name}"), 34)
        };
        let at = (differences.middle, TOP - 8.0);
        canvas.text("lb", Anchor::Middle, at, &text);
    }
    for (number, (name, shares)) in (0u32..).zip(&matrix.rows) {
        let y = TOP + name_high + (ROW + name_high) * f64::from(number);
        let (anchor, at) = if narrow {
            (Anchor::Start, (0.0, y - 4.0))
        } else {
            (Anchor::End, (left - 8.0, y + 15.0))
        };
        canvas.text("lb", anchor, at, &fit(name, letters));
        for (at, (share, stack)) in (0u32..).zip(shares.iter().zip(&matrix.columns)) {
            let x = left + column * f64::from(at);
            let (class, text) = match share {
                None => ("none", "–".to_owned()),
                Some(share) => (step(*share), percent(*share)),
            };
            let tip = format!("{name}, {stack}: {text}");
            let size = (column - 2.0, ROW - 2.0);
            canvas.bar(class, (x + 1.0, y + 1.0), size, &tip);
            let dark = share.is_some_and(|share| share >= DARK);
            let class = if dark { "on" } else { "lb" };
            let at = (x + column / 2.0, y + 15.0);
            canvas.text(class, Anchor::Middle, at, &text);
        }
        if let Some(at) = matrix.against_first
            && let (Some(Some(first)), Some(Some(other))) = (shares.first(), shares.get(at))
        {
            differences.draw(canvas, (y, ROW), name, other - first);
        }
    }
    TOP + (ROW + name_high) * matrix.rows.len() as f64 + 4.0
}

/// Bars to both sides of a middle.
struct Differences {
    middle: f64,
    reach: f64,
}

impl Differences {
    fn draw(&self, canvas: &mut Canvas, (y, row): (f64, f64), name: &str, difference: f64) {
        canvas.line("gr", (self.middle, y), (self.middle, y + row));
        let points = (difference * 100.0).round();
        if points == 0.0 {
            return;
        }
        let long = difference.abs().min(1.0) * self.reach;
        let text = format!("{points:+.0}");
        let tip = format!("{name}: {text} percentage points");
        let (class, from, at, anchor) = if difference > 0.0 {
            (
                "faster",
                self.middle,
                self.middle + long + 4.0,
                Anchor::Start,
            )
        } else {
            (
                "slower",
                self.middle - long,
                self.middle - long - 4.0,
                Anchor::End,
            )
        };
        canvas.bar(class, (from, y + 4.0), (long, row - 8.0), &tip);
        canvas.text("ax", anchor, (at, y + 15.0), &text);
    }
}

/// The class of a share's ground: one colour, in steps.
fn step(share: f64) -> &'static str {
    match share {
        s if s <= 0.0 => "h0",
        s if s < 0.25 => "h1",
        s if s < DARK => "h2",
        s if s < 0.95 => "h3",
        _ => "h4",
    }
}

/// A share in percent; only all of it is 100 %, and only none of it 0 %.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let rounded = if percent > 0.0 && percent < 100.0 {
        percent.round().clamp(1.0, 99.0)
    } else {
        percent
    };
    format!("{rounded:.0} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_is_all() {
        let cases = [
            (0.0, "0 %"),
            (0.001, "1 %"),
            (0.5, "50 %"),
            (0.999, "99 %"),
            (1.0, "100 %"),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text);
        }
    }
}
