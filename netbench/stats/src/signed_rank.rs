use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Basis, Change, Interval, Pair, SINGLE_LEVEL, Verdict, quantile_sorted, rank_sum::within_tail,
};

/// Minimum number of rounds for a decision on one site. With five rounds, all differences have the same direction by
/// chance in more than one case of twenty.
pub const MIN_ROUNDS: u32 = 6;

/// Maximum number of rounds for the exact distribution of the signed-rank statistic. Above it, the normal distribution
/// is used.
const EXACT_UP_TO: usize = 100;

/// Decides on one site from its rounds, taken as independent. Returns `None` without pairs.
///
/// The signed-rank test only assumes that both directions of a difference are equally likely if the stacks are equal,
/// which holds for pairs in shuffled order. The ratio is the median of the means of all pairs of two rounds (Hodges and
/// Lehmann), which always lies in the interval. That is of Wilcoxon's signed-rank test, with its actual level, which is at
/// least [`SINGLE_LEVEL`]; there is none under [`MIN_ROUNDS`] rounds.
pub fn compare_rounds(pairs: &[Pair]) -> Option<Change> {
    let logs: Vec<f64> = pairs.iter().map(|pair| pair.log_ratio).collect();
    let (middle, ends) = middle(&logs)?;
    let interval = ends.as_ref().map(|ends| Interval {
        level: 1.0 - 2.0 * ends.chance,
        low: ends.low.exp(),
        high: ends.high.exp(),
    });
    Some(Change {
        ratio: middle.exp(),
        verdict: Verdict::of(interval),
        interval,
        interval_single: None,
        basis: Basis::Rounds {
            pairs: pairs.len() as u64,
            chance: ends.map_or(0.0, |ends| ends.chance),
        },
    })
}

/// The difference between two stacks over some rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundsDifference {
    /// The estimate of B-A, computed as the ratio of [`compare_rounds`].
    pub middle_ns: f64,
    /// The lower end of the interval; `None` under [`MIN_ROUNDS`] rounds.
    pub low_ns: Option<f64>,
    /// The upper end.
    pub high_ns: Option<f64>,
}

/// Returns the estimate of the differences of rounds, taken as independent, in nanoseconds, or `None` without rounds.
pub fn difference_of_rounds(differences_ns: &[f64]) -> Option<RoundsDifference> {
    let (middle_ns, ends) = middle(differences_ns)?;
    Some(RoundsDifference {
        middle_ns,
        low_ns: ends.as_ref().map(|ends| ends.low),
        high_ns: ends.as_ref().map(|ends| ends.high),
    })
}

/// The ends of an interval, and the probability that zero lies beyond one of them.
struct Ends {
    low: f64,
    high: f64,
    chance: f64,
}

/// Returns the median of the means of all pairs of two values, and its interval.
fn middle(values: &[f64]) -> Option<(f64, Option<Ends>)> {
    let n = values.len();
    let mut means: Vec<f64> = Vec::with_capacity(n * (n + 1) / 2);
    for (i, x) in values.iter().enumerate() {
        means.extend(values[..=i].iter().map(|y| f64::midpoint(*x, *y)));
    }
    means.sort_by(f64::total_cmp);
    let middle = quantile_sorted(&means, 0.5)?;
    let ends = cut(n).map(|(rank, chance)| Ends {
        low: means[rank],
        high: means[means.len() - 1 - rank],
        chance,
    });
    Some((middle, ends))
}

/// Returns the index of the sorted mean that ends the interval, and the probability that zero lies beyond it.
fn cut(n: usize) -> Option<(usize, f64)> {
    let tail = (1.0 - SINGLE_LEVEL) / 2.0;
    if n < MIN_ROUNDS as usize {
        return None;
    }
    if n <= EXACT_UP_TO {
        return within_tail(&signed_rank_probabilities(n), tail);
    }
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive for every n over EXACT_UP_TO"
    )]
    let rank = (mean - 1.959_964 * deviation - 1.0).floor() as usize;
    Some((rank, tail))
}

/// Returns P(T = t) of the signed-rank statistic of `n` rounds, for t up to its mean.
fn signed_rank_probabilities(n: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; n * (n + 1) / 4 + 1];
    probabilities[0] = 1.0;
    for rank in 1..=n {
        for t in (0..probabilities.len()).rev() {
            let with = t.checked_sub(rank).map_or(0.0, |t| probabilities[t]);
            probabilities[t] = 0.5 * (probabilities[t] + with);
        }
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn critical_values_agree_with_tables() {
        // Two-sided 5 %: the largest T that rejects, from any table of Wilcoxon's test.
        for (n, rank) in [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (12, 13),
            (20, 52),
            (25, 89),
        ] {
            let (found, chance) = cut(n).unwrap();
            assert_eq!(found, rank, "n {n}");
            assert!(chance <= 0.025);
        }
        assert!(cut(5).is_none());
        // The exact and the normal distribution agree at the transition.
        let ((exact, _), (normal, _)) = (cut(100).unwrap(), cut(101).unwrap());
        assert!(normal > exact && normal - exact < 60);
    }

    #[test]
    fn a_site_needs_six_rounds() {
        let pairs = [0, 1, 2, 3, 4, 5].map(|i| Pair::from_ns(1_000_000, 900_000 + i * 100, 0));
        assert_eq!(compare_rounds(&[]), None);
        let few = compare_rounds(&pairs[..5]).unwrap();
        assert_eq!(few.verdict, Verdict::NotJudged);
        let decided = compare_rounds(&pairs).unwrap();
        assert_eq!(decided.verdict, Verdict::Faster);
        assert!((decided.interval.unwrap().level - (1.0 - 1.0 / 32.0)).abs() < 1e-12);
    }

    #[test]
    fn equal_stacks_win_as_often_as_chance_says() {
        let mut rng = Rng::new(3);
        let (mut faster, mut slower, runs) = (0u32, 0u32, 10_000u32);
        let mut chance = 0.0;
        for _ in 0..runs {
            let pairs: Vec<Pair> = (0..10)
                .map(|_| Pair {
                    log_ratio: 0.05 * rng.normal(),
                    block: 0,
                })
                .collect();
            let site = compare_rounds(&pairs).unwrap();
            chance = site.chance();
            match site.verdict {
                Verdict::Faster => faster += 1,
                Verdict::Slower => slower += 1,
                Verdict::Same | Verdict::Undecided | Verdict::NotJudged => {}
            }
        }
        assert!((chance - 0.0244).abs() < 1e-3);
        for wins in [faster, slower] {
            let share = f64::from(wins) / f64::from(runs);
            assert!((share - chance).abs() < 0.006, "{share}");
        }
    }
}
