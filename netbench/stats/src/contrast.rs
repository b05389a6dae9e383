use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Interval, Pair, Resampling, SINGLE_LEVEL, Verdict,
    paired::{Resampler, bootstrap_error, numbers},
};

/// The median ratio of some pairs over that of all other pairs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-unit" = "ratio/ratio"))]
pub struct Contrast {
    /// The median of B/A inside over the median of B/A outside: under 1, B does better inside.
    pub ratio: f64,
    /// The verdict from the interval.
    pub verdict: Verdict,
    /// The interval that determines the verdict; `None` with under six pairs on either side, or with too few blocks.
    pub interval: Option<Interval>,
    /// The interval at [`SINGLE_LEVEL`].
    pub interval_single: Option<Interval>,
}

/// Compares two parts of a run's pairs. Blocks are resampled for both parts at once, because a fast process is fast in
/// both parts. Returns `None` if a side has no pair.
pub fn contrast(inside: &[Pair], outside: &[Pair], resampling: &Resampling) -> Option<Contrast> {
    let numbers = numbers(inside.iter().chain(outside));
    let (one, rest) = (
        Resampler::numbered(inside, &numbers),
        Resampler::numbered(outside, &numbers),
    );
    let log_ratio = difference(&one, &rest, &vec![1; numbers.len()])?;
    let sample_size = one
        .effective_sample_size()
        .min(rest.effective_sample_size());
    let pairs = inside.len().min(outside.len());
    let error = bootstrap_error(pairs, numbers.len(), sample_size, resampling, |times| {
        difference(&one, &rest, times)
    });
    let [interval, interval_single] = [resampling.verdict_level, SINGLE_LEVEL].map(|level| {
        let (error, degrees) = error?;
        Some(Interval::student(log_ratio, error, degrees, level))
    });
    Some(Contrast {
        ratio: log_ratio.exp(),
        verdict: Verdict::of(interval),
        interval,
        interval_single,
    })
}

/// Returns the difference of the medians with block `i` counted `times[i]` times.
fn difference(one: &Resampler, other: &Resampler, times: &[u32]) -> Option<f64> {
    Some(one.median_with(times)? - other.median_with(times)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Returns pairs of `blocks` blocks, each with a separate layout that both sides share.
    fn pairs(rng: &mut Rng, blocks: u32, shift: f64, layouts: &[f64]) -> Vec<Pair> {
        (0..blocks)
            .flat_map(|block| (0..8).map(move |_| block))
            .map(|block| Pair {
                log_ratio: shift + layouts[block as usize] + 0.01 * rng.normal(),
                block,
            })
            .collect()
    }

    #[test]
    fn what_differs_is_found_and_what_does_not_is_not() {
        let mut rng = Rng::new(3);
        let settings = Resampling::for_family(1, 20);
        let mut found = 0;
        for _ in 0..40 {
            let layouts: Vec<f64> = (0..12).map(|_| 0.02 * rng.normal()).collect();
            let outside = pairs(&mut rng, 12, -0.1, &layouts);
            let alike = pairs(&mut rng, 12, -0.1, &layouts);
            let better = pairs(&mut rng, 12, -0.2, &layouts);
            let alike = contrast(&alike, &outside, &settings).unwrap();
            assert_ne!(alike.verdict, Verdict::Faster, "{alike:?}");
            let better = contrast(&better, &outside, &settings).unwrap();
            assert!((better.ratio.ln() + 0.1).abs() < 0.03, "{better:?}");
            found += u32::from(better.verdict == Verdict::Faster);
        }
        assert!(found >= 38, "{found} of 40");
    }

    #[test]
    fn intervals_hold_as_often_as_they_say() {
        let mut rng = Rng::new(9);
        let settings = Resampling {
            seed: 1,
            resamples: 300,
            verdict_level: 0.99,
        };
        let runs = 400;
        let held = (0..runs)
            .filter(|_| {
                let layouts: Vec<f64> = (0..10).map(|_| 0.02 * rng.normal()).collect();
                let (a, b) = (
                    pairs(&mut rng, 10, 0.03, &layouts),
                    pairs(&mut rng, 10, 0.0, &layouts),
                );
                let interval = contrast(&a, &b, &settings)
                    .unwrap()
                    .interval_single
                    .unwrap();
                (interval.low.ln()..interval.high.ln()).contains(&0.03)
            })
            .count();
        let share = held as f64 / f64::from(runs);
        assert!((0.92..=1.0).contains(&share), "{share}");
    }

    #[test]
    fn few_pairs_have_no_interval_and_none_no_contrast() {
        let settings = Resampling::for_family(1, 1);
        let pairs: [Pair; 9] = std::array::from_fn(|block| Pair::from_ns(100, 110, block as u32));
        assert_eq!(contrast(&[], &pairs, &settings), None);
        let few = contrast(&pairs[..5], &pairs, &settings).unwrap();
        assert_eq!((few.verdict, few.interval), (Verdict::NotJudged, None));
        let enough = contrast(&pairs, &pairs, &settings).unwrap();
        assert!(enough.interval.is_some());
    }
}
