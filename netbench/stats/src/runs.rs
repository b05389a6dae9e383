use crate::{Basis, Change, Pair};

/// Decides between two sets of rounds, each a positive figure, taken independently, by Welch's interval of the
/// difference of their logarithms (Welch 1947). The ratio is that of the geometric means. Returns `None` if a side has no
/// round; there is no interval with under two rounds on either side.
pub fn compare_runs(a: &[f64], b: &[f64], level: f64) -> Option<Change> {
    let (a, b) = (logs(a), logs(b));
    let log_ratio = mean(&b)? - mean(&a)?;
    let basis = Basis::Runs {
        first_rounds: a.len() as u64,
        other_rounds: b.len() as u64,
    };
    Some(Change::student(log_ratio, welch(&a, &b), level, basis))
}

/// Decides from one pair for each round, of figures that hardly vary (bytes, instructions), by the geometric mean with
/// Student's interval, from three rounds on. Returns `None` without pairs.
pub fn compare_whole(pairs: &[Pair], level: f64) -> Option<Change> {
    const FEWEST: usize = 3;
    let logs: Vec<f64> = pairs.iter().map(|pair| pair.log_ratio).collect();
    let log_ratio = mean(&logs)?;
    let variance = variance_of_mean(&logs).filter(|_| logs.len() >= FEWEST);
    let error = variance.map(|(variance, degrees)| (variance.sqrt(), degrees));
    let basis = Basis::Pairs {
        pairs: pairs.len() as u64,
        blocks: pairs.len() as u64,
    };
    Some(Change::student(log_ratio, error, level, basis))
}

/// Returns the logarithms of the positive values.
pub(crate) fn logs(values: &[f64]) -> Vec<f64> {
    let positive = values.iter().filter(|value| **value > 0.0);
    positive.map(|value| value.ln()).collect()
}

/// Returns the standard error of Welch's interval, with the degrees of freedom of Satterthwaite.
fn welch(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    let ((share_a, degrees_a), (share_b, degrees_b)) = (variance_of_mean(a)?, variance_of_mean(b)?);
    let variance = share_a + share_b;
    if variance <= 0.0 {
        return Some((0.0, 1.0));
    }
    let degrees = variance.powi(2) / (share_a.powi(2) / degrees_a + share_b.powi(2) / degrees_b);
    Some((variance.sqrt(), degrees))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the variance of the mean, and its degrees of freedom.
fn variance_of_mean(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (n - 1.0) / n, n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, Verdict};

    #[test]
    fn welch_agrees_with_r() {
        // scipy.stats.ttest_ind(log(b), log(a), equal_var=False).confidence_interval()
        let a = [10.0, 10.2, 9.9, 10.1];
        let b = [11.0, 11.4, 10.9, 11.1, 11.2];
        let found = compare_runs(&a, &b, 0.95).unwrap();
        let interval = found.interval.unwrap();
        for (value, log) in [
            (found.ratio, 0.101_115_312),
            (interval.low, 0.077_372_279),
            (interval.high, 0.124_858_346),
        ] {
            assert!((value.ln() - log).abs() < 1e-6, "{value}");
        }
        assert_eq!(found.verdict, Verdict::Slower);
    }

    fn whole(logs: &[f64], level: f64) -> Option<Change> {
        let pairs = logs.iter().zip(0..);
        let pairs = pairs.map(|(&log_ratio, block)| Pair { log_ratio, block });
        compare_whole(&pairs.collect::<Vec<_>>(), level)
    }

    #[test]
    fn figures_that_hardly_vary_need_three_rounds() {
        assert_eq!(whole(&[], 0.99), None);
        let two = whole(&[-0.1, -0.1], 0.99).unwrap();
        assert_eq!((two.verdict, two.interval), (Verdict::NotJudged, None));
        let exact = whole(&[-0.1; 3], 0.999_9).unwrap();
        assert_eq!(exact.verdict, Verdict::Faster);
        // scipy.stats.ttest_1samp([-0.1, -0.11, -0.09], 0).confidence_interval(0.95)
        let three = whole(&[-0.1, -0.11, -0.09], 0.95).unwrap();
        let interval = three.interval.unwrap();
        assert!((interval.low.ln() + 0.124_841_4).abs() < 1e-6);
        assert!((interval.high.ln() + 0.075_158_6).abs() < 1e-6);
    }

    #[test]
    fn one_round_has_no_interval_and_none_no_ratio() {
        assert_eq!(compare_runs(&[], &[1.0], 0.95), None);
        let one = compare_runs(&[1.0], &[2.0, 2.0], 0.95).unwrap();
        assert_eq!((one.verdict, one.interval), (Verdict::NotJudged, None));
        let still = compare_runs(&[1.0, 1.0], &[1.0, 1.0], 0.95).unwrap();
        assert_eq!(still.verdict, Verdict::Same);
    }

    #[test]
    fn equal_runs_are_rarely_called_different() {
        let mut rng = Rng::new(11);
        let runs = 4_000;
        let (mut outside, mut different) = (0, 0);
        for _ in 0..runs {
            let both = [(); 8 + 12].map(|()| (9.0 + 0.01 * rng.normal()).exp());
            let (a, b) = both.split_at(8);
            let found = compare_runs(a, b, 0.95).unwrap();
            let interval = found.interval.unwrap();
            outside += u32::from(!(interval.low..interval.high).contains(&1.0));
            different += u32::from(matches!(found.verdict, Verdict::Faster | Verdict::Slower));
        }
        let [outside, different] =
            [outside, different].map(|count| f64::from(count) / f64::from(runs));
        assert!((0.03..0.075).contains(&outside), "{outside}");
        // The margin leaves few of those verdicts.
        assert!(different < 0.025, "{different}");
    }
}
