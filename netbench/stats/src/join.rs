use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::{Change, Interval, Verdict, student::bisect, student_t_quantile};

/// The level of the interval of several runs' joined ratio. Three runs have two degrees of freedom, with which an
/// interval of 99 % would be more than twice as wide.
pub const JOINED_LEVEL: f64 = 0.95;

/// Minimum standard error of a run's ratio, because counts and sizes may not vary within a run at all.
const LEAST_ERROR: f64 = 1e-4;

/// The natural logarithm of a run's ratio, with its standard error from the variation within the run.
struct RunRatio {
    log_ratio: f64,
    standard_error: f64,
}

/// The joined result of several runs of the same comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedRatio {
    /// The mean of the runs' ratios on the logarithmic scale, each weighted by the inverse of the sum of its
    /// variance and the variance between runs.
    #[schemars(extend("x-unit" = "other/first"))]
    pub ratio: f64,
    /// The interval of the ratio, at [`JOINED_LEVEL`].
    #[schemars(extend("x-unit" = "other/first"))]
    pub interval: Interval,
    /// The verdict from the interval.
    pub verdict: Verdict,
    /// Cochran's Q: the sum of the runs' squared deviations from the weighted mean, in units of their standard errors.
    pub q: f64,
    /// The probability of at least this Q if all runs measure one ratio. Below 0.01, the runs differ.
    pub q_p: f64,
    /// The standard deviation between runs beyond their own errors, of the logarithm: 0.005 is 0.5 %.
    pub between_runs: f64,
}

/// Joins the ratios of two or more runs by a random-effects model: each run measured a separate ratio, which varies
/// about the common one. Runs without an interval are left out. Returns `None` for fewer than two others.
///
/// The variance between runs is the estimator of Paule and Mandel (1982), and the interval that of Hartung and Knapp
/// (2001). The interval is never narrower than with only the runs' own errors (Röver, Knapp and Friede 2015), which
/// would often happen by chance with three runs.
pub fn join_runs<'a>(
    runs: impl IntoIterator<Item = &'a Change>,
    margin: f64,
) -> Option<JoinedRatio> {
    let ratios: Vec<RunRatio> = runs.into_iter().filter_map(RunRatio::of).collect();
    join(&ratios, margin)
}

fn join(runs: &[RunRatio], margin: f64) -> Option<JoinedRatio> {
    if runs.len() < 2
        || !runs
            .iter()
            .all(|run| run.standard_error > 0.0 && run.standard_error.is_finite())
    {
        return None;
    }
    let degrees = (runs.len() - 1) as f64;
    let alone = weighted(runs, 0.0);
    let variance = between(runs, degrees);
    let joined = weighted(runs, variance);
    let spread = (joined.q / degrees).max(1.0);
    let standard_error = (spread / joined.weight).sqrt();
    let interval = Interval::student(joined.mean, standard_error, degrees, JOINED_LEVEL);
    Some(JoinedRatio {
        ratio: joined.mean.exp(),
        interval,
        verdict: Verdict::beyond(Some(interval), margin),
        q: alone.q,
        q_p: ChiSquared::new(degrees).map_or(1.0, |chi| chi.sf(alone.q)),
        between_runs: variance.sqrt(),
    })
}

struct Weighted {
    mean: f64,
    weight: f64,
    q: f64,
}

/// Returns the weighted mean with this variance between runs, and the weighted squares about it.
fn weighted(runs: &[RunRatio], variance: f64) -> Weighted {
    let weight: f64 = runs.iter().map(|run| run.weight(variance)).sum();
    let products = runs.iter().map(|run| run.weight(variance) * run.log_ratio);
    let mean = products.sum::<f64>() / weight;
    let squares = runs
        .iter()
        .map(|run| run.weight(variance) * (run.log_ratio - mean).powi(2));
    Weighted {
        mean,
        weight,
        q: squares.sum(),
    }
}

impl RunRatio {
    /// Returns the ratio with the standard error from which its interval was made; `None` if it has no interval. With blocks of
    /// unequal size, the interval had fewer degrees of freedom than blocks; the error is then a few percent too large.
    fn of(change: &Change) -> Option<Self> {
        let interval = change.interval?;
        let degrees = change.blocks().saturating_sub(1).max(1) as f64;
        let quantile = student_t_quantile(f64::midpoint(1.0, interval.level), degrees);
        Some(Self {
            log_ratio: change.ratio.ln(),
            standard_error: (interval.log_half_width() / quantile).max(LEAST_ERROR),
        })
    }

    /// Returns the run's weight with this variance between runs.
    fn weight(&self, variance: f64) -> f64 {
        1.0 / (self.standard_error.powi(2) + variance)
    }
}

/// Returns the variance between runs at which the weighted squares equal their expectation, or 0 if they are already
/// less without such a variance.
fn between(runs: &[RunRatio], degrees: f64) -> f64 {
    if weighted(runs, 0.0).q <= degrees {
        return 0.0;
    }
    let mut high = 1e-6;
    while weighted(runs, high).q > degrees {
        high *= 4.0;
    }
    bisect(high, |variance| weighted(runs, variance).q > degrees)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn run(log_ratio: f64, standard_error: f64) -> RunRatio {
        RunRatio {
            log_ratio,
            standard_error,
        }
    }

    #[test]
    fn runs_that_agree_have_nothing_between_them() {
        let joined = join(&[run(0.1, 0.01), run(0.1, 0.01), run(0.1, 0.01)], 0.005).unwrap();
        assert!((joined.ratio.ln() - 0.1).abs() < 1e-12);
        assert!(joined.q.abs() < 1e-12 && (joined.q_p - 1.0).abs() < 1e-12);
        assert!(joined.between_runs.abs() < 1e-12);
        // t(2, 0.975) * 0.01 / sqrt(3)
        assert!((joined.interval.high.ln() - 0.1 - 4.302_652_73 * 0.005_773_503).abs() < 1e-6);
        assert_eq!(join(&[run(0.1, 0.01)], 0.005), None);
        assert_eq!(join(&[run(0.1, 0.0), run(0.1, 0.01)], 0.005), None);
    }

    #[test]
    fn equal_errors_have_a_closed_form() {
        // With equal errors, the variance of Paule and Mandel is the sample variance minus the variance of the error.
        let runs = [run(0.10, 0.01), run(0.16, 0.01), run(0.13, 0.01)];
        let joined = join(&runs, 0.005).unwrap();
        assert!((joined.between_runs.powi(2) - (0.0009 - 0.0001)).abs() < 1e-9);
        assert!((joined.q - 18.0).abs() < 1e-9);
        // The upper tail of chi-squared with two degrees is exp(-q / 2).
        assert!((joined.q_p - (-9.0f64).exp()).abs() < 1e-9);
        assert!((joined.ratio.ln() - 0.13).abs() < 1e-9);
        let half = 4.302_652_73 * (0.0009f64 / 3.0).sqrt();
        assert!((joined.interval.low.ln() - (0.13 - half)).abs() < 1e-6);
        assert_eq!(joined.verdict, Verdict::Slower);
    }

    #[test]
    fn joined_intervals_hold_as_often_as_they_say() {
        let mut rng = Rng::new(21);
        for between in [0.0, 0.002, 0.01] {
            let total = 2_000;
            let held = (0..total)
                .filter(|_| {
                    let runs = [0.001, 0.002, 0.003].map(|error| {
                        run(0.02 + between * rng.normal() + error * rng.normal(), error)
                    });
                    let interval = join(&runs, 0.005).unwrap().interval;
                    (interval.low.ln()..interval.high.ln()).contains(&0.02)
                })
                .count();
            let share = held as f64 / f64::from(total);
            assert!(share >= 0.93, "{between}: {share}");
        }
    }
}
