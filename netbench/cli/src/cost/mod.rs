//! The predicted time of a run, announced before it begins. Each kind of run estimates its own time, from its plan and
//! from figures that were measured on two cores at about 2.5 GHz; during a run, [`Eta`] corrects them by the pace of the
//! run.

mod eta;

use std::{
    fmt,
    io::{IsTerminal, stderr, stdin},
    num::NonZero,
    thread,
    time::Duration,
};

use netbench_model::{Site, Target};
use netbench_report::whole;

pub(crate) use self::eta::{Eta, Piece};
use crate::{exit::bail_input, output::agrees};

/// The time above which a run announces its prediction before it starts.
const WORTH_SAYING: Duration = Duration::from_secs(60);

/// The time above which a run starts only with the user's consent.
const LONG: Duration = Duration::from_secs(3600);

/// The user's consent to a long run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    Needed,
}

impl Consent {
    /// Returns the consent that `--yes` gives.
    pub(crate) fn of_option(yes: bool) -> Self {
        if yes { Self::Given } else { Self::Needed }
    }
}

/// Returns the number of this machine's cores that the process may use.
pub(crate) fn cores() -> u16 {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    u16::try_from(cores).unwrap_or(u16::MAX)
}

/// The predicted cost of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) time: Duration,
    /// Number of pieces of work: samples, sites, tests.
    pub(crate) pieces: u64,
    /// The name of these pieces, in the singular and in the plural.
    pub(crate) unit: (&'static str, &'static str),
    /// The options that make such a run shorter.
    pub(crate) shorter: &'static str,
}

impl Cost {
    /// Returns the remaining cost after `done` pieces.
    pub(crate) fn after(self, done: u64) -> Self {
        let left = self.pieces.saturating_sub(done);
        let share = left as f64 / self.pieces.max(1) as f64;
        Self {
            time: times(self.time, share),
            pieces: left,
            ..self
        }
    }

    /// Returns the time of one piece, if all pieces are alike.
    pub(crate) fn each(&self) -> Duration {
        times(self.time, 1.0 / self.pieces.max(1) as f64)
    }

    /// Announces the prediction, unless it is short, and asks for the user's consent if it is long.
    pub(crate) fn announce(&self, consent: Consent, quiet: bool) -> anyhow::Result<()> {
        if self.time > LONG && consent == Consent::Needed {
            if !stdin().is_terminal() || !stderr().is_terminal() {
                bail_input!(
                    "this takes {self}; --yes starts it, and {} make it shorter",
                    self.shorter
                );
            }
            if !agrees(&format!("this takes {self}. Start it?"))? {
                bail_input!("not started");
            }
        } else if self.time >= WORTH_SAYING && !quiet {
            note!("netbench: this takes {self}");
        }
        Ok(())
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, pieces) = (about(self.time), whole(self.pieces));
        write!(f, "about {time} ({pieces} {})", self.unit.1)
    }
}

/// Formats an estimated time, which is never exact.
pub(crate) fn about(time: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        ..60 => format!("{seconds} s"),
        // Rounded, it is less than an hour.
        60..3570 => format!("{} min", rounded(seconds, MINUTE)),
        // Quarters of an hour.
        3570..86_400 => {
            let quarters = rounded(seconds, HOUR / 4);
            match (quarters / 4, quarters % 4 * 15) {
                (hours, 0) => format!("{hours} h"),
                (hours, minutes) => format!("{hours} h {minutes} min"),
            }
        }
        86_400..172_800 => format!("{} h", rounded(seconds, HOUR)),
        _ => format!("{} days", whole(rounded(seconds, DAY))),
    }
}

/// Returns a time in a unit of this number of seconds.
fn rounded(seconds: u64, unit: u64) -> u64 {
    seconds.saturating_add(unit / 2) / unit
}

/// Formats an elapsed time, to the second.
pub(crate) fn exact(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let parts = [(hours, "h"), (minutes, "min"), (seconds, "s")];
    let words = parts.iter().filter(|(number, _)| *number > 0);
    let words: Vec<_> = words
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect();
    match words.is_empty() {
        true => "0 s".to_owned(),
        false => words.join(" "),
    }
}

/// Multiplies a duration, and returns the maximum if the product exceeds the range of `Duration`.
pub(crate) fn times(time: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

/// The way in which sites are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Emulated links.
    Links,
    /// Loopback on this machine.
    Loopback,
    /// A real network.
    Network,
}

impl Reached {
    /// Returns the way to sites in this location, over the requested link.
    pub(crate) fn of(target: Target, link: Option<&str>) -> Self {
        match (target, link) {
            (Target::Lab, Some("none")) | (Target::Loopback, _) => Self::Loopback,
            (Target::Lab, _) => Self::Links,
            (Target::Live, _) => Self::Network,
        }
    }
}

/// Returns the time of a site's body beyond the round trips of a connection: at the link's rate, or at the rate that
/// TCP reaches with packet loss (Mathis et al.: The macroscopic behavior of the TCP congestion avoidance algorithm,
/// 1997). The loss of one of the first packets costs a second (RFC 6298 section 2.1).
pub(crate) fn transfer(site: &Site) -> Duration {
    const SEGMENT_BYTES: f64 = 1_448.0;
    const FIRST_WINDOW_BYTES: f64 = 10.0 * SEGMENT_BYTES;
    const FIRST_PACKETS: f64 = 3.0;
    let link = &site.lab.link;
    let (bytes, rtt_s) = (site.lab.body_bytes as f64, link.rtt().as_secs_f64());
    let loss = f64::from(link.loss.parts_per_million) / 1e6;
    let at_rate_s = link
        .rate
        .map_or(0.0, |rate| bytes * 8.0 / rate.bits_per_second.max(1) as f64);
    let slow_start_s = rtt_s * (bytes / FIRST_WINDOW_BYTES).max(1.0).log2();
    let lossy_s = bytes / SEGMENT_BYTES * rtt_s * (2.0 * loss / 3.0).sqrt();
    let seconds = at_rate_s.max(slow_start_s).max(lossy_s) + FIRST_PACKETS * loss;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_rough_as_they_are_sure() {
        for (seconds, words) in [
            (0.4, "0 s"),
            (59.0, "59 s"),
            (60.0, "1 min"),
            (90.0, "2 min"),
            (100.0, "2 min"),
            (3569.0, "59 min"),
            (3570.0, "1 h"),
            (3600.0, "1 h"),
            (4500.0, "1 h 15 min"),
            (5400.0, "1 h 30 min"),
            (7200.0, "2 h"),
            (12_000.0, "3 h 15 min"),
            (90_000.0, "25 h"),
            (1_209_600.0, "14 days"),
            (1e12, "11,574,074 days"),
        ] {
            assert_eq!(about(Duration::from_secs_f64(seconds)), words);
        }
    }

    #[test]
    fn times_that_have_passed_keep_their_format() {
        for (seconds, words) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (76, "1 min 16 s"),
            (125, "2 min 5 s"),
            (3600, "1 h"),
            (3725, "1 h 2 min 5 s"),
        ] {
            assert_eq!(exact(Duration::from_secs(seconds)), words);
        }
    }

    #[test]
    fn a_cost_is_told_with_its_pieces() {
        let cost = Cost {
            time: Duration::from_secs(600),
            pieces: 20_200_000,
            unit: ("sample", "samples"),
            shorter: "fewer --rounds",
        };
        assert_eq!(cost.to_string(), "about 10 min (20,200,000 samples)");
        let left = cost.after(5_050_000);
        assert_eq!(left.time, Duration::from_secs(450));
        assert_eq!(left.pieces, 15_150_000);
        assert_eq!(cost.after(u64::MAX).pieces, 0);
    }
}
