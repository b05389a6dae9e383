/// The chance that `drawn` of `all` things, drawn blindly, have among them `found` or more of the
/// `marked` ones (the upper tail of the hypergeometric distribution; Fisher's exact test, one-sided).
pub fn chance_of_as_many(found: u64, drawn: u64, marked: u64, all: u64) -> f64 {
    let (drawn, marked) = (drawn.min(all), marked.min(all));
    let fewest = (drawn + marked).saturating_sub(all);
    let whole = ln_choose(all, drawn);
    let chance: f64 = (found.max(fewest)..=drawn.min(marked))
        .map(|k| (ln_choose(marked, k) + ln_choose(all - marked, drawn - k) - whole).exp())
        .sum();
    chance.min(1.0)
}

/// The logarithm of the number of ways to choose `k` of `n`.
fn ln_choose(n: u64, k: u64) -> f64 {
    let k = k.min(n - k);
    (1..=k)
        .map(|i| ((n - k + i) as f64).ln() - (i as f64).ln())
        .sum()
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
        ];
        for ((found, drawn, marked, all), chance) in cases {
            let computed = chance_of_as_many(found, drawn, marked, all);
            assert!((computed - chance).abs() < 1e-12, "{computed} {chance}");
        }
    }
}
