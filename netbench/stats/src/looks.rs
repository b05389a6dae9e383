//! Looking at verdicts while a run goes on, without being misled by looking often.

/// The first look comes after so many rounds: with fewer, an interval says little.
const FIRST_LOOK: u32 = 9;

/// Each further look after 1.4 times as many rounds.
const NEXT_LOOK: f64 = 1.4;

/// Whether the verdicts are looked at after `rounds` rounds.
pub fn is_look(rounds: u32) -> bool {
    looks()
        .take_while(|look| *look <= rounds)
        .any(|look| look == rounds)
}

/// The share of the chance of a false verdict that the look after `rounds` rounds may spend.
///
/// The k-th look spends 1/(k(k+1)) of it. All looks together, however many there are, spend 1, so
/// that the chance of a false verdict at any of them stays what it is for one (a union bound; it
/// assumes nothing of how the looks depend on one another).
pub fn look_share(rounds: u32) -> f64 {
    let before = looks().take_while(|look| *look < rounds).count();
    let k = (before + 1) as f64;
    1.0 / (k * (k + 1.0))
}

fn looks() -> impl Iterator<Item = u32> {
    let mut next = f64::from(FIRST_LOOK);
    std::iter::from_fn(move || {
        let look = next.ceil();
        next = look * NEXT_LOOK;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and no run has as many rounds"
        )]
        Some(look as u32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_few_and_spend_one() {
        let at: Vec<u32> = (0..60).filter(|rounds| is_look(*rounds)).collect();
        assert_eq!(at, [9, 13, 19, 27, 38, 54]);
        assert!((look_share(9) - 0.5).abs() < 1e-12);
        assert!((look_share(13) - 1.0 / 6.0).abs() < 1e-12);
        // Between two looks a run that ends early has the next one's.
        assert!((look_share(10) - look_share(13)).abs() < 1e-12);
        let spent: f64 = at.iter().map(|rounds| look_share(*rounds)).sum();
        assert!(spent < 1.0);
    }
}
