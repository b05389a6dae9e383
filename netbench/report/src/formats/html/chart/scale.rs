use std::ops::Range;

use crate::text::time;

pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Returns an axis from `low` to `high`, drawn from `from` to `to`.
    pub(super) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self {
            low,
            high,
            from,
            to,
        }
    }

    /// Returns the position of a value. Values beyond the axis are drawn at its end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Returns the positions of about `count` round values, with their text.
    pub(super) fn marks(&self, count: f64, text: fn(f64) -> String) -> Vec<(f64, String)> {
        let ticks = self.ticks(count).into_iter();
        ticks.map(|tick| (self.at(tick), text(tick))).collect()
    }

    /// Returns about `count` round values to mark.
    pub(super) fn ticks(&self, count: f64) -> Vec<f64> {
        let step = round_step((self.high - self.low) / count);
        let first = (self.low / step).ceil();
        let last = (self.high / step).floor();
        let steps = (last - first).clamp(0.0, 100.0);
        let mut ticks = Vec::new();
        let mut n = 0.0;
        while n <= steps {
            ticks.push((first + n) * step);
            n += 1.0;
        }
        ticks
    }
}

/// Returns 1, 2 or 5 times a power of ten, at least `about`.
fn round_step(about: f64) -> f64 {
    let power = 10f64.powf(about.max(1e-12).log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = factors.iter().find(|f| *f * power >= about * 0.999_999);
    fits.unwrap_or(&10.0) * power
}

/// Returns times to mark on a logarithmic axis, as natural logarithms with their text.
pub(super) fn time_ticks(low_ln: f64, high_ln: f64, most: usize) -> Vec<(f64, String)> {
    let fine = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];
    let factors: [&[f64]; 4] = [&fine, &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let ticks = round_values((low_ln, high_ln), 0..13, &factors, most);
    let ticks = ticks.into_iter();
    ticks.map(|ns| (ns.ln(), short_time(ns))).collect()
}

/// Returns factors to mark on a logarithmic axis, with their text.
pub(super) fn factor_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let fine = [
        1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0,
    ];
    let few = [1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0];
    let factors: [&[f64]; 5] = [&fine, &few, &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let ticks = round_values((low.ln(), high.ln()), -6..7, &factors, most);
    let ticks = ticks.into_iter();
    ticks
        .map(|tick| (tick, format!("{}×", short_number(tick))))
        .collect()
}

/// Returns the products of powers of ten and the first of these lists of factors with at most `most` values between the
/// natural logarithms; the last list if each has more.
fn round_values(
    (low_ln, high_ln): (f64, f64),
    exponents: Range<i32>,
    factors: &[&[f64]],
    most: usize,
) -> Vec<f64> {
    let mut values = Vec::new();
    for factors in factors {
        values.clear();
        for exponent in exponents.clone() {
            let products = factors.iter().map(|factor| factor * 10f64.powi(exponent));
            values.extend(products.filter(|value| (low_ln..=high_ln).contains(&value.ln())));
        }
        if values.len() <= most {
            break;
        }
    }
    values
}

/// Formats a number without superfluous decimals. Six digits hide errors of a multiplication.
fn short_number(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// Formats a round time without superfluous decimals.
pub(super) fn short_time(ns: f64) -> String {
    if ns <= 0.0 {
        return "0".to_owned();
    }
    let text = time(ns);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use itertools::Itertools;

    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        for (low, high) in [(0.0, 1.0), (-0.07, 0.033), (1e6, 9.3e8), (5.0, 5.0)] {
            let scale = Scale::new((low, high), (0.0, 100.0));
            let ticks = scale.ticks(5.0);
            assert!((2..=8).contains(&ticks.len()), "{ticks:?}");
            for tick in ticks {
                assert!(tick >= low - 1e-9 && tick <= high.max(low + 1.0) + 1e-9);
            }
        }
    }

    #[test]
    fn factors_are_round_and_few() {
        for (low, high, expected) in [
            (0.02, 3.0, "0.02× 0.05× 0.1× 0.2× 0.5× 1× 2×"),
            (0.95, 1.25, "1× 1.1× 1.2×"),
            (0.9, 2.1, "1× 1.2× 1.5× 2×"),
            (0.001, 900.0, "0.001× 0.01× 0.1× 1× 10× 100×"),
        ] {
            let ticks = factor_ticks(low, high, 8);
            assert_eq!(ticks.iter().map(|(_, text)| text).join(" "), expected);
        }
    }

    #[test]
    fn times_lose_what_says_nothing() {
        assert_eq!(short_time(1e6), "1 ms");
        assert_eq!(short_time(2.5e6), "2.5 ms");
        assert_eq!(short_time(200e6), "200 ms");
        assert_eq!(short_time(0.0), "0");
    }
}
