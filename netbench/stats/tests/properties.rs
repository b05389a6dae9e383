//! Properties of quantiles, ratios and intervals that hold for all timings.

use netbench_stats::{
    Figures, Interval, Pair, Resampling, Verdict, compare, compare_rounds, median, quantile_sorted,
};
use proptest::prelude::*;

/// Computes type 7 by its definition in Hyndman and Fan: the line through the points (k / (n - 1), x_k).
fn quantile_by_definition(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let steps = (sorted.len() - 1) as f64;
    for k in 1..sorted.len() {
        let (left, right) = ((k - 1) as f64 / steps, k as f64 / steps);
        if p <= right {
            let share = (p - left) / (right - left);
            return sorted[k - 1] + share * (sorted[k] - sorted[k - 1]);
        }
    }
    sorted[sorted.len() - 1]
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale.max(1.0)
}

/// Generates timings of A and B with their block. The values are few, so that ties are common.
fn timings(at_least: usize) -> impl Strategy<Value = Vec<(u64, u64, u32)>> {
    let time = prop_oneof![
        900u64..1_100,
        0u64..3,
        Just(u64::MAX),
        1_000_000u64..2_000_000
    ];
    prop::collection::vec((time.clone(), time, 0u32..7), at_least..60)
}

fn pairs(timings: &[(u64, u64, u32)]) -> Vec<Pair> {
    timings
        .iter()
        .map(|(a, b, block)| Pair::from_ns(*a, *b, *block))
        .collect()
}

fn swapped(timings: &[(u64, u64, u32)]) -> Vec<Pair> {
    timings
        .iter()
        .map(|(a, b, block)| Pair::from_ns(*b, *a, *block))
        .collect()
}

fn settings(seed: u64) -> Resampling {
    Resampling {
        resamples: 100,
        ..Resampling::for_family(seed, 8)
    }
}

/// Returns whether two ratios are each other's inverse. The ratios may differ by a factor of e^44.
fn inverse(a: f64, b: f64) -> bool {
    (a.ln() + b.ln()).abs() < 1e-6
}

fn inverse_interval(a: Option<Interval>, b: Option<Interval>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            a.level == b.level && inverse(a.low, b.high) && inverse(a.high, b.low)
        }
        _ => false,
    }
}

/// Returns whether two verdicts are opposite. `same` takes precedence and is not exactly symmetrical (0.99 is not 1 /
/// 1.01), so a difference of one percent may be certain in one direction and `same` in the other.
fn opposite(a: Verdict, b: Verdict) -> bool {
    match (a, b) {
        (Verdict::Faster, other) => matches!(other, Verdict::Slower | Verdict::Same),
        (Verdict::Slower, other) => matches!(other, Verdict::Faster | Verdict::Same),
        (Verdict::Undecided, other) => matches!(other, Verdict::Undecided | Verdict::Same),
        (Verdict::NotJudged, other) => other == Verdict::NotJudged,
        (Verdict::Same, _) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn quantiles_are_those_of_the_definition(
        values in prop::collection::vec(-1e6..1e6f64, 1..40),
        p in 0.0..=1.0f64,
    ) {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let got = quantile_sorted(&sorted, p).unwrap();
        let expected = quantile_by_definition(&values, p);
        prop_assert!(close(got, expected, 1e6), "{got} is not {expected}");
        prop_assert!(got >= sorted[0] - 1e-9 && got <= sorted[sorted.len() - 1] + 1e-9);
        // Probabilities outside 0 to 1 give the extreme values.
        prop_assert_eq!(quantile_sorted(&sorted, -1.0), Some(sorted[0]));
        prop_assert_eq!(quantile_sorted(&sorted, 2.0), Some(sorted[sorted.len() - 1]));
    }

    #[test]
    fn quantiles_rise_with_their_share(
        values in prop::collection::vec(0u64..1_000_000_000, 1..40),
    ) {
        let figures = Figures::of_ns(&values).unwrap();
        let rising = [figures.p5_ns, figures.p50_ns, figures.p95_ns, figures.p99_ns];
        prop_assert!(rising.windows(2).all(|w| w[0] <= w[1] + 1e-6), "{figures:?}");
        let half_beyond = values
            .iter()
            .filter(|v| (**v as f64 - figures.p50_ns).abs() >= figures.mad_ns - 1e-6)
            .count();
        prop_assert!(2 * half_beyond >= values.len(), "{figures:?}");
    }

    #[test]
    fn the_ratio_is_the_median_of_the_pairs(timings in timings(1)) {
        let pairs = pairs(&timings);
        let logs: Vec<f64> = pairs.iter().map(|pair| pair.log_ratio).collect();
        let ratio = compare(&pairs, &settings(1)).unwrap().ratio;
        prop_assert!((ratio.ln() - median(&logs).unwrap()).abs() < 1e-9);
    }

    #[test]
    fn swapping_the_stacks_turns_everything_around(timings in timings(1), seed: u64) {
        let there = compare(&pairs(&timings), &settings(seed)).unwrap();
        let back = compare(&swapped(&timings), &settings(seed)).unwrap();
        prop_assert!(inverse(there.ratio, back.ratio), "{there:?} {back:?}");
        prop_assert!(inverse_interval(there.interval, back.interval), "{there:?} {back:?}");
        prop_assert!(
            inverse_interval(there.interval_single, back.interval_single),
            "{there:?} {back:?}"
        );
        prop_assert!(opposite(there.verdict, back.verdict), "{there:?} {back:?}");

        let there = compare_rounds(&pairs(&timings)).unwrap();
        let back = compare_rounds(&swapped(&timings)).unwrap();
        prop_assert!(inverse(there.ratio, back.ratio), "{there:?} {back:?}");
        prop_assert!(inverse_interval(there.interval, back.interval), "{there:?} {back:?}");
        prop_assert!(opposite(there.verdict, back.verdict), "{there:?} {back:?}");
    }

    #[test]
    fn intervals_hold_the_ratio_and_are_numbers(timings in timings(1), seed: u64) {
        let pairs = pairs(&timings);
        let ratio = compare(&pairs, &settings(seed)).unwrap();
        let rounds = compare_rounds(&pairs).unwrap();
        prop_assert_eq!(ratio.interval.is_some(), ratio.interval_single.is_some());
        let held = [
            (ratio.interval, ratio.ratio),
            (ratio.interval_single, ratio.ratio),
            (rounds.interval, rounds.ratio),
        ];
        for (interval, ratio) in held {
            prop_assert!(ratio.is_finite() && ratio > 0.0);
            let Some(interval) = interval else { continue };
            prop_assert!(interval.low > 0.0 && interval.high.is_finite(), "{interval:?}");
            let slack = 1.0 + 1e-12;
            prop_assert!(
                interval.low <= ratio * slack && ratio <= interval.high * slack,
                "{ratio} is not in {interval:?}"
            );
        }
        if let (Some(wide), Some(narrow)) = (ratio.interval, ratio.interval_single) {
            prop_assert!(wide.level > narrow.level);
            prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        }
        if let Some(interval) = rounds.interval {
            prop_assert!(interval.level >= netbench_stats::SINGLE_LEVEL);
        }
    }

    #[test]
    fn a_seed_decides_everything(timings in timings(1), seed: u64) {
        let pairs = pairs(&timings);
        prop_assert_eq!(compare(&pairs, &settings(seed)), compare(&pairs, &settings(seed)));
    }

    #[test]
    fn numbers_of_blocks_are_only_names(timings in timings(1), shift in 1u32..1_000_000) {
        let plain = pairs(&timings);
        let renamed: Vec<Pair> = plain
            .iter()
            .map(|pair| Pair { block: pair.block * 3 + shift, ..*pair })
            .collect();
        prop_assert_eq!(compare(&plain, &settings(5)), compare(&renamed, &settings(5)));
    }
}

fn width(timings: &[(u64, u64, u32)], settings: &Resampling) -> Option<f64> {
    let interval = compare(&pairs(timings), settings)?.interval?;
    Some(interval.high - interval.low)
}

#[test]
fn another_seed_draws_other_blocks() {
    let timings: Vec<_> = (0..60u64)
        .map(|i| (1_000, 900 + i * 37 % 211, i as u32 / 5))
        .collect();
    let [one, other] = [1, 2].map(|seed| width(&timings, &settings(seed)).unwrap());
    assert!((one - other).abs() > 0.0);
    assert!((one / other - 1.0).abs() < 0.5);
}

#[test]
fn more_resamples_agree_with_fewer() {
    let timings: Vec<_> = (0..600u64)
        .map(|i| (1_000, 900 + i * 37 % 211, i as u32 / 10))
        .collect();
    let [few, many] = [500, 4_000].map(|resamples| {
        let settings = Resampling {
            resamples,
            ..settings(3)
        };
        width(&timings, &settings).unwrap()
    });
    assert!((few / many - 1.0).abs() < 0.15, "{few} {many}");
}
