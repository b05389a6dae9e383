use std::collections::HashMap;

use crate::{Basis, CASE_LEVEL, Change, FAMILY_LEVEL, Rng, Verdict};

/// Minimum number of pairs for an interval: a bootstrap of fewer pairs would repeat the same few values.
const MIN_PAIRS: usize = 6;

/// One timing of A and one of B, taken side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The natural logarithm of B/A.
    pub log_ratio: f64,
    /// The block, which identifies the pairs of the same processes.
    pub block: u32,
}

impl Pair {
    /// Creates the pair of two timings. A clock that did not advance counts as one nanosecond, so that the ratio is
    /// always a number.
    pub fn from_ns(a_ns: u64, b_ns: u64, block: u32) -> Self {
        Self::of(a_ns as f64, b_ns as f64, block)
    }

    /// Creates the pair of two figures, of which one under 1 counts as 1.
    pub fn of(a: f64, b: f64, block: u32) -> Self {
        Self {
            log_ratio: (b.max(1.0) / a.max(1.0)).ln(),
            block,
        }
    }
}

/// The settings with which [`compare`] resamples and decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// The seed of the resampling, which determines the interval.
    pub seed: u64,
    /// Number of resamples, in which blocks are drawn with replacement.
    pub resamples: u32,
    /// The level of the interval that determines the verdict.
    pub verdict_level: f64,
}

impl Resampling {
    /// Returns the settings for one of `verdicts` verdicts that are read together. The level of each is high enough for
    /// all of them to hold together with [`FAMILY_LEVEL`].
    pub fn for_family(seed: u64, verdicts: usize) -> Self {
        let verdict_level = 1.0 - (1.0 - FAMILY_LEVEL) / verdicts.max(1) as f64;
        Self {
            seed,
            resamples: 2_000,
            verdict_level,
        }
    }

    /// Returns the settings for a separate verdict, at an interim analysis that may spend `share` of the chance of a
    /// false one ([`crate::interim_share`]; 1 if it is the only analysis): all analyses together hold with
    /// [`CASE_LEVEL`].
    pub fn for_case(seed: u64, share: f64) -> Self {
        Self {
            seed,
            resamples: 2_000,
            verdict_level: 1.0 - (1.0 - CASE_LEVEL) * share,
        }
    }
}

/// Returns the median ratio B/A with its interval from resampling whole blocks, and the verdict, or `None` without
/// pairs. There is no interval under six pairs, or without two blocks to compare, because the variation between pairs of
/// processes is then unknown.
pub fn compare(pairs: &[Pair], resampling: &Resampling) -> Option<Change> {
    let resampler = Resampler::numbered(pairs, &numbers(pairs));
    let blocks = resampler.sizes.len();
    let log_ratio = resampler.median_with(&vec![1; blocks])?;
    let size = resampler.effective_sample_size();
    let error = bootstrap_error(pairs.len(), blocks, size, resampling, |times| {
        resampler.median_with(times)
    });
    let basis = Basis::Pairs {
        pairs: pairs.len() as u64,
        blocks: blocks as u64,
    };
    let change = Change::student(log_ratio, error, resampling.verdict_level, basis);
    Some(Change {
        verdict: Verdict::of(change.interval),
        ..change
    })
}

/// Pairs in increasing order of their ratio, so that the median of any choice of blocks needs one pass.
pub(crate) struct Resampler {
    sorted: Vec<(f64, u32)>,
    sizes: Vec<u32>,
}

impl Resampler {
    /// Creates a resampler with block numbers that are shared with other pairs of the same blocks.
    pub(crate) fn numbered(pairs: &[Pair], numbers: &HashMap<u32, u32>) -> Self {
        let mut sizes = vec![0; numbers.len()];
        let mut sorted: Vec<(f64, u32)> = pairs
            .iter()
            .filter_map(|pair| {
                let number = *numbers.get(&pair.block)?;
                sizes[number as usize] += 1;
                Some((pair.log_ratio, number))
            })
            .collect();
        sorted.sort_by(|x, y| x.0.total_cmp(&y.0));
        Self { sorted, sizes }
    }

    /// Returns Kish's effective sample size, (sum n)^2 / sum n^2: the number of blocks of equal size with the same
    /// precision.
    pub(crate) fn effective_sample_size(&self) -> f64 {
        let total: f64 = self.sizes.iter().map(|n| f64::from(*n)).sum();
        let squares: f64 = self.sizes.iter().map(|n| f64::from(*n).powi(2)).sum();
        total * total / squares
    }

    /// Returns the median with block `i` counted `times[i]` times.
    pub(crate) fn median_with(&self, times: &[u32]) -> Option<f64> {
        let count: u64 = self
            .sizes
            .iter()
            .zip(times)
            .map(|(size, n)| u64::from(*size) * u64::from(*n))
            .sum();
        let lower_rank = count.checked_sub(1)? / 2;
        let upper_rank = count / 2;
        let mut passed = 0u64;
        let mut lower = None;
        for (value, block) in &self.sorted {
            passed += u64::from(times[*block as usize]);
            if lower.is_none() && passed > lower_rank {
                lower = Some(*value);
            }
            if passed > upper_rank {
                return lower.map(|l| f64::midpoint(l, *value));
            }
        }
        None
    }
}

/// Returns the standard error of a statistic from resampling whole blocks, with its degrees of freedom. The statistic is
/// computed from the number of times that each block was drawn. Returns `None` if there are too few pairs or blocks, or if
/// most draws give no value.
pub(crate) fn bootstrap_error(
    pairs: usize,
    blocks: usize,
    effective_sample_size: f64,
    resampling: &Resampling,
    statistic: impl Fn(&[u32]) -> Option<f64>,
) -> Option<(f64, f64)> {
    if pairs < MIN_PAIRS || effective_sample_size < 1.999 {
        return None;
    }
    let count = u32::try_from(blocks).ok()?;
    let mut rng = Rng::new(resampling.seed);
    let mut times = vec![0u32; blocks];
    let drawn: Vec<f64> = (0..resampling.resamples)
        .filter_map(|_| {
            times.fill(0);
            for _ in 0..count {
                times[rng.below(count) as usize] += 1;
            }
            statistic(&times)
        })
        .collect();
    if drawn.len() < 2 || (drawn.len() as u64) < u64::from(resampling.resamples) / 2 {
        return None;
    }
    let n = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / n;
    let variance = drawn.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // A bootstrap underestimates the variance by the factor (n - 1) / n, where n is the effective sample size.
    let degrees = effective_sample_size - 1.0;
    Some(((variance * effective_sample_size / degrees).sqrt(), degrees))
}

/// Returns a number for each block, from 0, in the order of their first appearance.
pub(crate) fn numbers<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> HashMap<u32, u32> {
    let mut numbers = HashMap::new();
    for pair in pairs {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        numbers.entry(pair.block).or_insert(next);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::median;

    fn settings() -> Resampling {
        Resampling::for_family(1, 8)
    }

    #[test]
    fn the_walk_finds_the_median_of_what_was_drawn() {
        let mut rng = Rng::new(5);
        for _ in 0..200 {
            let pairs: Vec<Pair> = (0..rng.below(30) + 1)
                .map(|_| Pair {
                    log_ratio: f64::from(rng.below(9)),
                    block: rng.below(5),
                })
                .collect();
            let resampler = Resampler::numbered(&pairs, &numbers(&pairs));
            let times: Vec<u32> = resampler.sizes.iter().map(|_| rng.below(3)).collect();
            let drawn: Vec<f64> = resampler
                .sorted
                .iter()
                .flat_map(|(v, block)| vec![*v; times[*block as usize] as usize])
                .collect();
            assert_eq!(resampler.median_with(&times), median(&drawn));
        }
    }

    #[test]
    fn few_pairs_or_one_block_have_no_interval() {
        assert_eq!(compare(&[], &settings()), None);
        for (n, blocks, is_judged) in [
            (1, 1, false),
            (5, 5, false),
            (100, 1, false),
            (100, 2, true),
        ] {
            let pairs: Vec<Pair> = (0..n)
                .map(|i| Pair::from_ns(100, 200 + u64::from(i), i % blocks))
                .collect();
            let ratio = compare(&pairs, &settings()).unwrap();
            assert_eq!(ratio.interval.is_some(), is_judged, "{n} in {blocks}");
            assert_eq!(ratio.verdict != Verdict::NotJudged, is_judged);
        }
        // A second block of nine pairs is too small for an estimate of the variation between blocks.
        let lopsided: Vec<Pair> = (0..100)
            .map(|i| Pair::from_ns(100, 200, u32::from(i < 9)))
            .collect();
        assert_eq!(compare(&lopsided, &settings()).unwrap().interval, None);
    }

    #[test]
    fn same_seed_same_interval_and_clocks_that_stand_still() {
        let pairs: Vec<Pair> = (0..60)
            .map(|i| Pair::from_ns(1000 + i * 7 % 31, 1000, 0))
            .collect();
        let blocks: Vec<Pair> = pairs
            .iter()
            .zip(0..)
            .map(|(p, i)| Pair { block: i / 5, ..*p })
            .collect();
        assert_eq!(compare(&blocks, &settings()), compare(&blocks, &settings()));

        let still: Vec<Pair> = (0..60).map(|i| Pair::from_ns(0, 0, i / 5)).collect();
        let ratio = compare(&still, &settings()).unwrap();
        assert_eq!(ratio.verdict, Verdict::Same);
        assert!((ratio.ratio - 1.0).abs() < 1e-12);
        let extreme: Vec<Pair> = (0..60).map(|i| Pair::from_ns(0, u64::MAX, i / 5)).collect();
        assert!(
            compare(&extreme, &settings())
                .unwrap()
                .interval
                .unwrap()
                .high
                .is_finite()
        );
    }

    #[test]
    fn the_family_shares_its_error() {
        assert!((settings().verdict_level - 0.998_75).abs() < 1e-12);
        assert!((Resampling::for_family(0, 0).verdict_level - FAMILY_LEVEL).abs() < 1e-12);
    }
}
