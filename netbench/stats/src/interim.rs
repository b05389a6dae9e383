//! Interim analyses: verdicts during a run, which share the chance of a false verdict.

/// Number of rounds before the first interim analysis. With fewer rounds, an interval is too wide.
const FIRST: u32 = 9;

/// Factor between the numbers of rounds of successive analyses.
const NEXT: f64 = 1.4;

/// Returns whether there is an interim analysis after `rounds` rounds.
pub fn is_interim_analysis(rounds: u32) -> bool {
    analyses()
        .take_while(|after| *after <= rounds)
        .any(|after| after == rounds)
}

/// Returns the share of the chance of a false verdict that the analysis after `rounds` rounds may spend.
///
/// The k-th analysis spends 1/(k(k+1)) of it. All analyses together, whatever their number, spend 1, so the chance of a
/// false verdict at any of them remains that of a single analysis (a union bound, which makes no assumption about the
/// dependence between the analyses).
pub fn interim_share(rounds: u32) -> f64 {
    let before = analyses().take_while(|after| *after < rounds).count();
    let k = (before + 1) as f64;
    1.0 / (k * (k + 1.0))
}

fn analyses() -> impl Iterator<Item = u32> {
    let mut next = f64::from(FIRST);
    std::iter::from_fn(move || {
        let after = next.ceil();
        next = after * NEXT;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and no run has as many rounds"
        )]
        Some(after as u32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analyses_are_few_and_spend_one() {
        let at: Vec<u32> = (0..60)
            .filter(|rounds| is_interim_analysis(*rounds))
            .collect();
        assert_eq!(at, [9, 13, 19, 27, 38, 54]);
        assert!((interim_share(9) - 0.5).abs() < 1e-12);
        assert!((interim_share(13) - 1.0 / 6.0).abs() < 1e-12);
        // A run that ends between two analyses has the share of the next one.
        assert!((interim_share(10) - interim_share(13)).abs() < 1e-12);
        let spent: f64 = at.iter().map(|rounds| interim_share(*rounds)).sum();
        assert!(spent < 1.0);
    }
}
