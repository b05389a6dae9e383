use crate::quantile_sorted;

/// The quantile that is taken for the level of an undisturbed machine.
const LEVEL: f64 = 0.02;

/// How far over that level still counts as undisturbed.
const TOLERANCE: f64 = 0.05;

/// Which of these figures were taken while nothing disturbed the machine: those at most 5 % over
/// their 2nd percentile. Given are their natural logarithms.
///
/// A virtual core whose sibling is at work runs at two thirds of its speed for seconds, and slows one
/// library more than another; then pairs taken side by side measure the neighbour. Applied to the
/// mean of both sides of a pair, the choice favours neither. The percentile is as low as that because a
/// machine may be disturbed nearly all the time; where there is no quiet turn at all, nothing helps.
pub fn quiet(logs: &[f64]) -> Vec<bool> {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let most = quantile_sorted(&sorted, LEVEL).map(|level| level + TOLERANCE.ln_1p());
    logs.iter()
        .map(|log| most.is_some_and(|most| *log <= most))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn the_disturbed_half_is_left_out_and_nothing_else() {
        let mut rng = Rng::new(9);
        let logs: Vec<f64> = (0..400)
            .map(|i| {
                let slow = if i % 40 < 20 { 0.3 } else { 0.0 };
                10.0 + slow + 0.005 * rng.normal()
            })
            .collect();
        let kept = quiet(&logs);
        for (i, kept) in kept.iter().enumerate() {
            assert_eq!(*kept, i % 40 >= 20, "{i}");
        }
        assert!(quiet(&[]).is_empty());
        assert_eq!(quiet(&[1.0]), [true]);
    }
}
