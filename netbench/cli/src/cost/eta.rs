use std::time::Duration;

use super::times;

/// The remaining time of a run: the estimate for the remaining work, times the pace of the completed work. Trials of
/// very different length follow one another, so that a count of trials would make the prediction jump.
#[derive(Debug, Clone)]
pub(crate) struct Eta {
    /// The estimate for all work.
    whole: Duration,
    /// The estimate for the completed work.
    done: Duration,
    /// The remaining time, as predicted when the last piece was completed.
    left: Duration,
    /// The time of that prediction, since the beginning.
    at: Duration,
}

/// A piece of work that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Completed work, with its estimated time.
    Done(Duration),
    /// A time limit that was reached despite a shorter estimate, which does not affect the pace of other work.
    TimedOut {
        estimated: Duration,
        /// The share of the limit in the run's time.
        waited: Duration,
    },
    /// Omitted work, with its estimated time.
    Skipped(Duration),
}

/// The weight of the estimate, as if this share of it had been measured.
const TRUST: f64 = 0.05;

impl Eta {
    /// Returns the prediction for work that was estimated to take `whole`.
    pub(crate) fn new(whole: Duration) -> Self {
        Self {
            whole,
            done: Duration::ZERO,
            left: whole,
            at: Duration::ZERO,
        }
    }

    /// Records the end of a piece of work, at the time `at` since the beginning.
    pub(crate) fn advance(&mut self, piece: Piece, at: Duration) {
        match piece {
            Piece::Done(work) => self.done = self.done.saturating_add(work).min(self.whole),
            Piece::TimedOut { estimated, waited } => {
                let rest = self.whole.saturating_sub(estimated);
                self.done = self.done.saturating_add(waited);
                self.whole = rest.saturating_add(waited).max(self.done);
            }
            Piece::Skipped(work) => self.whole = self.whole.saturating_sub(work).max(self.done),
        }
        let trust = self.whole.as_secs_f64() * TRUST;
        let pace = (trust + at.as_secs_f64()) / (trust + self.done.as_secs_f64());
        let left = (self.whole - self.done).as_secs_f64() * pace;
        self.left = Duration::try_from_secs_f64(left).unwrap_or(Duration::ZERO);
        self.at = at;
    }

    /// Multiplies the remaining work by `share`.
    pub(crate) fn rescale(&mut self, share: f64) {
        let left = self.whole - self.done;
        self.whole = self.done.saturating_add(times(left, share));
        self.left = times(self.left, share);
    }

    /// Returns the remaining time, at the time `at` since the beginning.
    pub(crate) fn left(&self, at: Duration) -> Duration {
        self.left.saturating_sub(at.saturating_sub(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the predicted ends while `pieces` are completed. Each piece has its estimated and its actual time, in
    /// seconds.
    fn ends(pieces: &[(f64, f64)]) -> Vec<f64> {
        let whole: f64 = pieces.iter().map(|(estimated, _)| estimated).sum();
        let mut eta = Eta::new(Duration::from_secs_f64(whole));
        let mut now = 0.0;
        let ends = pieces.iter().map(|(estimated, takes)| {
            now += takes;
            let at = Duration::from_secs_f64(now);
            eta.advance(Piece::Done(Duration::from_secs_f64(*estimated)), at);
            now + eta.left(at).as_secs_f64()
        });
        ends.collect()
    }

    #[test]
    fn an_estimate_that_is_right_stays() {
        // Rounds of short trials that are followed by long ones, as memory follows handshakes.
        let round = [0.25; 40].into_iter().chain([13.0, 6.0]);
        let pieces: Vec<_> = round.cycle().take(420).map(|time| (time, time)).collect();
        let whole: f64 = pieces.iter().map(|(_, takes)| takes).sum();
        for end in ends(&pieces) {
            assert!((end / whole - 1.0).abs() < 1e-6, "{end} of {whole}");
        }
    }

    #[test]
    fn one_that_is_wrong_settles_at_the_pace_of_the_machine() {
        for slower in [0.4, 2.5] {
            let round = [0.25; 40].into_iter().chain([13.0, 6.0]);
            let pieces: Vec<_> = round.cycle().take(420).map(|t| (t, t * slower)).collect();
            let whole: f64 = pieces.iter().map(|(_, takes)| takes).sum();
            let ends = ends(&pieces);
            for (at, most) in [(420 / 3, 0.15), (420 / 2, 0.1)] {
                let apart = (ends[at] / whole - 1.0).abs();
                assert!(apart < most, "{slower}: {apart}");
            }
            // The prediction changes in one direction, and by small steps.
            for pair in ends.windows(2) {
                let step = pair[1] / pair[0];
                assert!((0.7..1.3).contains(&step), "{slower}: {pair:?}");
            }
        }
    }

    #[test]
    fn time_passes_while_a_piece_is_under_way() {
        let mut eta = Eta::new(Duration::from_secs(100));
        eta.advance(
            Piece::Done(Duration::from_secs(40)),
            Duration::from_secs(40),
        );
        assert_eq!(eta.left(Duration::from_secs(50)), Duration::from_secs(50));
        assert_eq!(eta.left(Duration::from_secs(500)), Duration::ZERO);
        eta.rescale(0.5);
        assert_eq!(eta.left(Duration::from_secs(40)), Duration::from_secs(30));
        // More work than was estimated.
        eta.advance(Piece::Done(Duration::MAX), Duration::from_secs(60));
        assert_eq!(eta.left(Duration::from_secs(60)), Duration::ZERO);
    }
}
