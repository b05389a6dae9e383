use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Returns the quantile `p` (0 to 1) of values in increasing order, by linear interpolation between the two nearest
/// ranks (type 7 of Hyndman and Fan 1996), or `None` without values.
pub fn quantile_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = p.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last index"
    )]
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    let share = at - below as f64;
    Some(sorted[below] * (1.0 - share) + sorted[above] * share)
}

/// Returns the median, or `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile_sorted(&sorted(values), 0.5)
}

/// The distribution of a set of timings, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Number of values.
    pub count: u64,
    /// The 5th percentile.
    pub p5_ns: f64,
    /// The median.
    pub p50_ns: f64,
    /// The 95th percentile.
    pub p95_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
    /// The median absolute deviation from the median, not scaled.
    pub mad_ns: f64,
}

impl Figures {
    /// Returns the figures of the timings, or `None` without values.
    pub fn of_ns(values: &[u64]) -> Option<Self> {
        let sorted = sorted(&values.iter().map(|v| *v as f64).collect::<Vec<_>>());
        let p50_ns = quantile_sorted(&sorted, 0.5)?;
        let deviations: Vec<f64> = sorted.iter().map(|v| (v - p50_ns).abs()).collect();
        Some(Self {
            count: values.len() as u64,
            p5_ns: quantile_sorted(&sorted, 0.05)?,
            p50_ns,
            p95_ns: quantile_sorted(&sorted, 0.95)?,
            p99_ns: quantile_sorted(&sorted, 0.99)?,
            mad_ns: median(&deviations)?,
        })
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_7_quantiles() {
        // R: quantile(c(1,2,4,8), p)
        let values = [1.0, 2.0, 4.0, 8.0];
        for (p, expected) in [(0.0, 1.0), (0.05, 1.15), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            let got = quantile_sorted(&values, p).unwrap();
            assert!((got - expected).abs() < 1e-12, "p {p}: {got}");
        }
        assert_eq!(quantile_sorted(&[], 0.5), None);
        assert_eq!(quantile_sorted(&[7.0], 0.99), Some(7.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn figures_of_timings() {
        let figures = Figures::of_ns(&[5, 1, 2, 3, 100]).unwrap();
        assert_eq!(figures.count, 5);
        assert!((figures.p50_ns - 3.0).abs() < 1e-12);
        assert!((figures.mad_ns - 2.0).abs() < 1e-12);
        assert!((figures.p95_ns - 81.0).abs() < 1e-9);
        assert_eq!(Figures::of_ns(&[]), None);
    }
}
