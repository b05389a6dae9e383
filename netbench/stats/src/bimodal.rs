use crate::median;

/// Fewer values than this have no two modes: each would be of a chance or two.
const FEWEST: usize = 8;

/// A mode of fewer values than this is a stray.
const FEWEST_OF_MODE: usize = 2;

/// Values that come in two groups with nothing between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bimodal {
    /// The median of the lower mode.
    pub lower: f64,
    /// The median of the upper mode.
    pub upper: f64,
    /// How many values the upper mode has.
    pub upper_count: u64,
    /// How many there are.
    pub count: u64,
}

/// The two modes of these values, if they are bimodal: the widest gap between neighbours is wider than
/// either mode from its 10th to its 90th percentile, both have two values or more, and there are
/// eight or more.
pub fn bimodal(values: &[f64]) -> Option<Bimodal> {
    if values.len() < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = (FEWEST_OF_MODE..=sorted.len() - FEWEST_OF_MODE)
        .max_by(|a, b| gap(&sorted, *a).total_cmp(&gap(&sorted, *b)))?;
    let (below, above) = sorted.split_at(cut);
    let widest = spread(below).max(spread(above));
    let gap = gap(&sorted, cut);
    (gap > 0.0 && gap > widest).then_some(Bimodal {
        lower: median(below)?,
        upper: median(above)?,
        upper_count: above.len() as u64,
        count: values.len() as u64,
    })
}

fn gap(sorted: &[f64], at: usize) -> f64 {
    sorted[at] - sorted[at - 1]
}

fn spread(sorted: &[f64]) -> f64 {
    let at = |p| crate::quantile_sorted(sorted, p).unwrap_or(0.0);
    at(0.9) - at(0.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_modes_are_told_from_one() {
        let values_at = |low: usize, high: usize| -> Vec<f64> {
            let lower = (0..low).map(|i| 100.0 + i as f64);
            lower.chain((0..high).map(|i| 200.0 + i as f64)).collect()
        };
        let modes = bimodal(&values_at(7, 3)).unwrap();
        assert_eq!((modes.lower, modes.upper), (103.0, 201.0));
        assert_eq!((modes.upper_count, modes.count), (3, 10));
        let one = [
            values_at(10, 0),
            // One stray is no mode, and seven values are too few.
            values_at(10, 1),
            values_at(5, 2),
            vec![5.0; 20],
            (0..20).map(|i| f64::from(i * i)).collect(),
            vec![f64::NAN; 20],
        ];
        for values in one {
            assert_eq!(bimodal(&values), None, "{values:?}");
        }
    }
}
