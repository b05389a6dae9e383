use crate::{
    Basis, Change, Interval, SAME_MARGIN, SINGLE_LEVEL, Verdict, compare_runs, quantile_sorted,
    runs::logs, student_t_quantile,
};

/// Maximum number of pairs of rounds for the exact distribution of the rank sum. Above it, the normal distribution is
/// used.
const EXACT_UP_TO: usize = 2_500;

/// Minimum number of rounds on each side for the normal distribution, which is too inaccurate for fewer.
const FEW: usize = 8;

/// Maximum number of rounds of a run. Above it, means are practically normal, and there are too many pairs to list.
const MOST_ROUNDS: usize = 1_000;

/// Decides between the rounds of two runs, each a positive figure, that were not taken side by side. Returns `None` if
/// a side has no round.
///
/// The ratio is the median of all B/A, each round of one run with each of the other (Hodges and Lehmann), and the
/// interval is that of Mann's and Whitney's test. Unlike [`compare_runs`], this function makes no assumption about the
/// distribution of rounds: over a network, a lost packet makes a round take ten times as long. It does assume that the
/// rounds of a run are independent, and it does not account for other changes between the runs.
pub fn compare_apart(a: &[f64], b: &[f64], level: f64) -> Option<Change> {
    if a.len().max(b.len()) > MOST_ROUNDS {
        let found = compare_runs(a, b, level)?;
        let verdict = Verdict::beyond(found.interval, SAME_MARGIN);
        return Some(Change { verdict, ..found });
    }
    let (a, b) = (logs(a), logs(b));
    let mut ratios: Vec<f64> = b
        .iter()
        .flat_map(|y| a.iter().map(move |x| y - x))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let [interval, interval_single] = [level, SINGLE_LEVEL].map(|level| {
        let (rank, chance) = cut(a.len(), b.len(), level)?;
        Some(Interval {
            level: 1.0 - 2.0 * chance,
            low: ratios[rank].exp(),
            high: ratios[ratios.len() - 1 - rank].exp(),
        })
    });
    Some(Change {
        ratio: quantile_sorted(&ratios, 0.5)?.exp(),
        basis: Basis::Runs {
            first_rounds: a.len() as u64,
            other_rounds: b.len() as u64,
        },
        verdict: Verdict::beyond(interval, SAME_MARGIN),
        interval,
        interval_single,
    })
}

/// Returns the number of rounds of each run that an interval of this level needs.
pub fn rounds_apart(level: f64) -> usize {
    (1..MOST_ROUNDS)
        .find(|rounds| cut(*rounds, *rounds, level).is_some())
        .unwrap_or(MOST_ROUNDS)
}

/// Returns the index of the sorted ratio that ends the interval, and the probability that 1 lies beyond it for equal
/// runs, or `None` if that probability is too high even for the first ratio.
fn cut(a: usize, b: usize, level: f64) -> Option<(usize, f64)> {
    let tail = (1.0 - level) / 2.0;
    let (n, m) = (a as f64, b as f64);
    if a * b > EXACT_UP_TO && a.min(b) >= FEW {
        let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
        let quantile = student_t_quantile(1.0 - tail, 1e9);
        let rank = (n * m / 2.0 - quantile * deviation - 1.0).floor();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and far below the number of pairs"
        )]
        return (rank >= 0.0).then_some((rank as usize, tail));
    }
    within_tail(&probabilities(a, b), tail)
}

/// Returns the last rank up to which the probabilities sum to at most `tail`, and their sum, or `None` if the first
/// exceeds it.
pub(crate) fn within_tail(probabilities: &[f64], tail: f64) -> Option<(usize, f64)> {
    let sums = probabilities.iter().scan(0.0, |below, probability| {
        *below += probability;
        Some(*below)
    });
    sums.enumerate()
        .take_while(|(_, below)| *below <= tail)
        .last()
}

/// Returns P(U = u) of Mann's and Whitney's statistic of `a` and `b` equal rounds, for u up to its mean.
fn probabilities(a: usize, b: usize) -> Vec<f64> {
    let most = a * b / 2;
    // The distributions for `a` rounds of one side and each number of rounds of the other: the largest of all is of
    // either side, with probabilities in proportion to their numbers.
    let mut only_zero = vec![0.0; most + 1];
    only_zero[0] = 1.0;
    let mut of = vec![only_zero; b + 1];
    for first in 1..=a {
        for other in 1..=b {
            let share = first as f64 / (first + other) as f64;
            let row: Vec<f64> = (0..=most)
                .map(|u| {
                    let above = u.checked_sub(other).map_or(0.0, |u| of[other][u]);
                    share * above + (1.0 - share) * of[other - 1][u]
                })
                .collect();
            of[other] = row;
        }
    }
    of.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn critical_values_agree_with_tables() {
        // Two-sided 5 % and 1 %: the largest U that rejects, from any table of Mann's and Whitney's test.
        for (a, b, five, one) in [
            (4, 4, Some(0), None),
            (5, 5, Some(2), Some(0)),
            (6, 6, Some(5), Some(2)),
            (8, 8, Some(13), Some(7)),
            (6, 10, Some(11), Some(6)),
            (10, 6, Some(11), Some(6)),
            (10, 10, Some(23), Some(16)),
            (20, 20, Some(127), Some(105)),
            (3, 3, None, None),
        ] {
            let ranks = [0.95, 0.99].map(|level| cut(a, b, level).map(|(rank, _)| rank));
            assert_eq!(ranks, [five, one], "{a} and {b}");
        }
        let sum: f64 = probabilities(5, 7).iter().sum();
        // U goes to 35, and is as likely to be at most 17 as 18 or more.
        assert!((sum - 0.5).abs() < 1e-12, "{sum}");
        // The exact and the normal distribution agree at the transition.
        let ((exact, _), (normal, _)) = (cut(50, 50, 0.95).unwrap(), cut(50, 51, 0.95).unwrap());
        assert!(normal > exact && normal - exact < 30, "{exact} {normal}");
        assert_eq!([0.95, 0.99, 0.9999].map(rounds_apart), [4, 5, 9]);
    }

    /// Returns the times of a run in which a tenth of the rounds lose a packet.
    fn times<const N: usize>(rng: &mut Rng) -> [f64; N] {
        [(); N].map(|()| {
            let lost = if rng.below(10) == 0 { 1_000.0 } else { 0.0 };
            50.0 * (0.03 * rng.normal()).exp() + lost
        })
    }

    #[test]
    fn equal_runs_are_as_often_outside_as_the_level_says() {
        let mut rng = Rng::new(5);
        let runs = 4_000;
        let (mut outside, mut slower) = (0, 0);
        for _ in 0..runs {
            let (a, b) = (times::<10>(&mut rng), times::<8>(&mut rng));
            let interval = compare_apart(&a, &b, 0.95).unwrap().interval.unwrap();
            outside += u32::from(!(interval.low..=interval.high).contains(&1.0));
            let b = times::<8>(&mut rng).map(|time| 1.2 * time);
            let found = compare_apart(&times::<10>(&mut rng), &b, 0.95).unwrap();
            slower += u32::from(found.verdict == Verdict::Slower);
        }
        let [outside, slower] = [outside, slower].map(|count| f64::from(count) / f64::from(runs));
        assert!((0.03..=0.056).contains(&outside), "{outside}");
        assert!(slower > 0.9, "{slower}");
    }

    #[test]
    fn few_rounds_have_no_interval_and_none_no_ratio() {
        assert_eq!(compare_apart(&[], &[1.0], 0.95), None);
        let few = compare_apart(&[1.0, 1.0], &[2.0, 2.0, 2.0], 0.95).unwrap();
        assert_eq!((few.verdict, few.interval), (Verdict::NotJudged, None));
        assert!((few.ratio - 2.0).abs() < 1e-12);
        let still = compare_apart(&[1.0; 6], &[1.0; 6], 0.95).unwrap();
        assert_eq!(still.verdict, Verdict::Same);
        let many = compare_apart(&[1.0; 2_000], &[2.0; 6], 0.95).unwrap();
        assert_eq!(many.verdict, Verdict::Slower);
    }
}
