//! Interim analyses: verdicts while a run goes on, with the chance of a false one shared among them.

/// Rounds before the first interim analysis: with fewer, an interval says little.
const FIRST: u32 = 9;

/// Each further one comes after 1.4 times as many rounds.
const NEXT: f64 = 1.4;

/// Whether there is an interim analysis after `rounds` rounds.
pub fn is_interim_analysis(rounds: u32) -> bool {
    analyses()
        .take_while(|after| *after <= rounds)
        .any(|after| after == rounds)
}

/// The share of the chance of a false verdict that the analysis after `rounds` rounds may spend.
///
/// The k-th analysis spends 1/(k(k+1)) of it. All together, however many there are, spend 1, so
/// that the chance of a false verdict at any of them stays what it is for one (a union bound; it
/// assumes nothing of how the analyses depend on one another).
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
        // Between two analyses a run that ends early has the next one's.
        assert!((interim_share(10) - interim_share(13)).abs() < 1e-12);
        let spent: f64 = at.iter().map(|rounds| interim_share(*rounds)).sum();
        assert!(spent < 1.0);
    }
}
