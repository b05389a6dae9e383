use statrs::distribution::{DiscreteCDF, Hypergeometric};

/// Returns the probability that `drawn` of `all` items, drawn at random, include `found` or more of the `marked` ones
/// (the upper tail of the hypergeometric distribution; Fisher's exact test, one-sided).
pub fn chance_of_as_many(found: u64, drawn: u64, marked: u64, all: u64) -> f64 {
    let Some(fewer) = found.checked_sub(1) else {
        return 1.0;
    };
    Hypergeometric::new(all, marked.min(all), drawn.min(all))
        .map_or(1.0, |distribution| distribution.sf(fewer).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_exact_test() {
        // scipy.stats.hypergeom.sf(found - 1, all, marked, drawn)
        let cases = [
            ((0, 5, 3, 10), 1.0),
            ((3, 5, 3, 10), 1.0 / 12.0),
            ((2, 2, 2, 4), 1.0 / 6.0),
            ((4, 3, 9, 10), 0.0),
            ((1, 4, 1, 4), 1.0),
            ((2, 10, 20, 101), 0.630_650_157_285_212_6),
            ((7, 12, 30, 101), 0.027_758_202_946_633_406),
            ((40, 80, 60, 101), 0.999_996_902_634_429_9),
            ((15, 300, 40, 2_000), 0.000_354_328_201_096_152_75),
        ];
        for ((found, drawn, marked, all), chance) in cases {
            let computed = chance_of_as_many(found, drawn, marked, all);
            assert!((computed - chance).abs() < 1e-12, "{computed} {chance}");
        }
    }
}
