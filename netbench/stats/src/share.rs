//! Estimates of a share of a population from a sample.

use crate::Interval;

/// The normal distribution's 97.5th percentile.
const Z: f64 = 1.959_963_985;

/// Returns the interval of Wilson (1927) at 95 % for the share of a population with a property, which `having` of
/// `asked` items have. `sampled` of `whole` items were drawn at random and without replacement, so the interval becomes
/// narrower with the share of the population that was drawn, and is a point if all of it was (the correction for a
/// finite population). Returns `None` if `asked` is 0.
pub fn share_of_whole(having: u64, asked: u64, sampled: u64, whole: u64) -> Option<Interval> {
    if asked == 0 || having > asked {
        return None;
    }
    let share = having as f64 / asked as f64;
    let left = whole.saturating_sub(sampled) as f64;
    let (low, high) = if left == 0.0 {
        (share, share)
    } else {
        let n = asked as f64 * (whole as f64 - 1.0).max(1.0) / left;
        let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let spread = (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let half = Z / (1.0 + Z * Z / n) * spread;
        ((middle - half).max(0.0), (middle + half).min(1.0))
    };
    Some(Interval {
        level: 0.95,
        low,
        high,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    #[test]
    fn intervals_are_those_of_the_literature() {
        for (having, asked, sampled, whole, expected) in [
            (81, 263, 0, u64::MAX, Some([0.2553, 0.3662])),
            (15, 148, 0, u64::MAX, Some([0.0624, 0.1605])),
            (0, 20, 0, u64::MAX, Some([0.0, 0.1611])),
            (1, 29, 0, u64::MAX, Some([0.0061, 0.1718])),
            (3, 10, 10, 10, Some([0.3, 0.3])),
            (0, 0, 0, 10, None),
        ] {
            let found = share_of_whole(having, asked, sampled, whole);
            let ends = found.map(|it| [it.low, it.high].map(|end| (end * 1e4).round() / 1e4));
            assert_eq!(ends, expected, "{having} of {asked}");
        }
    }

    /// Intervals from samples of a third of a population of 600 contain its share as often as their level requires.
    #[test]
    fn intervals_hold_the_share_of_the_whole() {
        const WHOLE: u32 = 600;
        const HAVING: u32 = 90;
        let mut rng = Rng::new(7);
        let mut held = 0;
        for _ in 0..2_000 {
            let mut all: Vec<u32> = (0..WHOLE).collect();
            let mut having = 0;
            for drawn in 0..200 {
                let at = drawn + rng.below(WHOLE - drawn);
                all.swap(drawn as usize, at as usize);
                having += u64::from(all[drawn as usize] < HAVING);
            }
            let interval = share_of_whole(having, 200, 200, WHOLE.into()).unwrap();
            let share = f64::from(HAVING) / f64::from(WHOLE);
            held += u32::from((interval.low..=interval.high).contains(&share));
        }
        assert!((1_860..=1_950).contains(&held), "{held} of 2000");
    }
}
