use crate::median;

/// Minimum number of values for two modes, because fewer values can form groups by chance.
const FEWEST: usize = 8;

/// Minimum number of values of a mode.
const FEWEST_OF_MODE: usize = 2;

/// Values in two groups with a gap in between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bimodal {
    /// The median of the lower mode.
    pub lower: f64,
    /// The median of the upper mode.
    pub upper: f64,
    /// Number of values in the upper mode.
    pub upper_count: u64,
    /// Number of all values.
    pub count: u64,
}

/// Returns the two modes of the values if they are bimodal: the widest gap between neighbours is wider than either mode
/// from its 10th to its 90th percentile, both modes have two values or more, and there are eight values or more.
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
    let [low, high] = [0.1, 0.9].map(|p| crate::quantile_sorted(sorted, p).unwrap_or(0.0));
    high - low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values from 100 and from 200 on.
    fn values(lower: usize, upper: usize) -> Vec<f64> {
        let lower = (0..lower).map(|i| 100.0 + i as f64);
        lower.chain((0..upper).map(|i| 200.0 + i as f64)).collect()
    }

    #[test]
    fn two_modes_are_told_from_one() {
        let modes = bimodal(&values(7, 3)).unwrap();
        assert_eq!((modes.lower, modes.upper), (103.0, 201.0));
        assert_eq!((modes.upper_count, modes.count), (3, 10));
        let one = [
            values(10, 0),
            // A single outlier is not a mode, and seven values are too few.
            values(10, 1),
            values(5, 2),
            vec![5.0; 20],
            (0..20).map(|i| f64::from(i * i)).collect(),
            vec![f64::NAN; 20],
        ];
        for values in one {
            assert_eq!(bimodal(&values), None, "{values:?}");
        }
    }
}
