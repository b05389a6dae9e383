//! The correlation of each round with the previous one.

/// Minimum number of rounds of a run for an estimate of the autocorrelation.
const FEWEST: usize = 8;

/// Maximum assumed autocorrelation: above it, a run has hardly one independent round.
const MOST: f64 = 0.9;

/// The correlation of each round with the previous one. The correlation with the `k`th previous round is assumed to be
/// its `k`th power, as in an autoregressive process of order one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Autocorrelation(f64);

impl Autocorrelation {
    /// Estimates the autocorrelation from the rounds of some runs, each in their order.
    ///
    /// The estimate uses the ranks within each run, which a lost packet does not dominate, pooled over the runs. An
    /// estimate from `n` rounds is too low by (1 + 4 r) / n (Marriott and Pope 1954, Kendall 1954), which the function
    /// corrects. A negative estimate counts as 0, as do runs of fewer than eight rounds.
    pub fn of(runs: &[&[f64]]) -> Self {
        let runs = runs.iter().filter(|run| run.len() >= FEWEST);
        let centered: Vec<Vec<f64>> = runs.map(|run| centered_ranks(run)).collect();
        let squares: f64 = centered.iter().flatten().map(|rank| rank * rank).sum();
        if squares <= 0.0 {
            return Self::default();
        }
        let products = centered
            .iter()
            .flat_map(|ranks| ranks.windows(2))
            .map(|two| two[0] * two[1]);
        let rounds = centered.iter().map(Vec::len).sum::<usize>() as f64 / centered.len() as f64;
        let lag_one = products.sum::<f64>() / squares;
        Self(((rounds * lag_one + 1.0) / (rounds - 4.0)).clamp(0.0, MOST))
    }

    /// Returns the number of independent rounds whose mean varies as much as that of `rounds` correlated ones.
    pub(crate) fn effective_rounds(self, rounds: f64) -> f64 {
        let Self(r) = self;
        let away = 1.0 - r;
        let inflation =
            (1.0 + r) / away - 2.0 * r * (1.0 - r.powf(rounds)) / (rounds * away * away);
        rounds / inflation
    }
}

/// Returns the ranks of values minus the mean rank; equal values have the same rank.
fn centered_ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let above = values.iter().filter(|other| *other > value).count() as f64;
            (below - above) / 2.0
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Rng;

    /// Returns rounds with a correlation of `r`.
    pub(crate) fn correlated(r: f64, rounds: usize, rng: &mut Rng) -> Vec<f64> {
        let mut state = rng.normal();
        (0..rounds)
            .map(|_| {
                state = r * state + (1.0 - r * r).sqrt() * rng.normal();
                state
            })
            .collect()
    }

    #[test]
    fn the_estimate_is_near_the_true_correlation() {
        let mut rng = Rng::new(3);
        for (r, rounds) in [(0.3, 16), (0.7, 16), (0.7, 40), (0.5, 200)] {
            let runs = 1_000;
            let mean = (0..runs)
                .map(|_| {
                    let [first, other] = [(); 2].map(|()| correlated(r, rounds, &mut rng));
                    Autocorrelation::of(&[&first, &other]).0
                })
                .sum::<f64>()
                / f64::from(runs);
            assert!((mean - r).abs() < 0.07, "{r} of {rounds}: {mean}");
        }
    }

    #[test]
    fn equal_few_or_alternating_rounds_are_not_correlated() {
        let alternating: Vec<f64> = (0..20).map(|round| f64::from(round % 2)).collect();
        let rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        for run in [&[5.0; 20][..], &alternating, &rising, &[]] {
            assert_eq!(Autocorrelation::of(&[run, run]), Autocorrelation(0.0));
        }
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(Autocorrelation::of(&[&rising]), Autocorrelation(MOST));
    }

    #[test]
    fn effective_rounds_are_those_of_the_variance_of_the_mean() {
        // The inflation of the variance is 1 + 2 × (1 − 1/2) × 0.5 for two rounds.
        for (r, rounds, expected) in [(0.0, 16.0, 16.0), (0.5, 2.0, 2.0 / 1.5)] {
            let effective = Autocorrelation(r).effective_rounds(rounds);
            assert!((effective - expected).abs() < 1e-9, "{r}: {effective}");
        }
        // The result approaches n (1 − r) / (1 + r) for many rounds.
        let many = Autocorrelation(0.5).effective_rounds(1e6);
        assert!((many / 1e6 - 1.0 / 3.0).abs() < 1e-5, "{many}");
    }
}
