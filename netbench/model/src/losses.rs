//! The packets of a trial that an emulated link lost.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::named::words;

words!(
    /// The direction of a packet.
    LinkDirection, {
        /// The direction from the client to the site.
        Up = "up",
        /// The direction from the site to the client.
        Down = "down",
    }
);

impl LinkDirection {
    /// Returns the direction of the answers.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

words!(
    /// The load of a packet, as far as the packet's number depends on it.
    PacketLoad, {
        /// SYN or data.
        Data = "data",
        /// Only ACK, FIN or RST.
        Bare = "bare",
    }
);

/// The losses of a lossy link among the packets of one connection, direction and load, which are numbered from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossLog {
    /// The connection of the trial, from 0.
    pub connection: u32,
    /// The direction of the packets.
    pub direction: LinkDirection,
    /// The load of the packets.
    pub load: PacketLoad,
    /// Number of packets that arrived at the link during the trial.
    pub packets: u32,
    /// The numbers of the packets that the seed dropped, in order. The log ends after [`LossLog::MOST`] losses.
    pub lost: Vec<u32>,
}

impl LossLog {
    /// Maximum number of losses of a log.
    pub const MOST: usize = 256;

    /// Records the arrival of the next packet.
    pub fn enter(&mut self, is_lost: bool) {
        if self.lost.len() >= Self::MOST {
            return;
        }
        if is_lost {
            self.lost.push(self.packets);
        }
        self.packets += 1;
    }
}

/// The degree to which two trials met the same losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameLosses {
    /// The same packets were lost in both trials.
    Throughout,
    /// The same of the common packets were lost. One trial had more packets, and lost some of them.
    WhileAlike,
    /// A packet that both trials have was lost in one trial only.
    No,
}

/// Compares the losses of two trials by their logs.
pub fn same_losses(first: &[LossLog], other: &[LossLog]) -> SameLosses {
    type Lane = (u32, LinkDirection, PacketLoad);
    fn by_lane(logs: &[LossLog]) -> BTreeMap<Lane, &LossLog> {
        let logs = logs.iter();
        logs.map(|log| ((log.connection, log.direction, log.load), log))
            .collect()
    }
    let (first, other) = (by_lane(first), by_lane(other));
    let lanes: BTreeSet<&Lane> = first.keys().chain(other.keys()).collect();
    let mut same = SameLosses::Throughout;
    for lane in lanes {
        let both = [&first, &other].map(|logs| logs.get(lane));
        let packets = both.map(|log| log.map_or(0, |log| log.packets));
        let both_have = packets[0].min(packets[1]);
        let lost = both.map(|log| log.map_or(&[][..], |log| &log.lost));
        let shared = lost.map(|lost| lost.partition_point(|number| *number < both_have));
        if lost[0][..shared[0]] != lost[1][..shared[1]] {
            return SameLosses::No;
        }
        if lost[0] != lost[1] {
            same = SameLosses::WhileAlike;
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(direction: LinkDirection, packets: u32, lost: &[u32]) -> LossLog {
        LossLog {
            connection: 0,
            direction,
            load: PacketLoad::Data,
            packets,
            lost: lost.to_vec(),
        }
    }

    #[test]
    fn losses_are_compared_as_far_as_both_trials_have_packets() {
        use LinkDirection::{Down, Up};
        let first = [log(Up, 5, &[1]), log(Down, 20, &[3, 17])];
        for (other, same) in [
            (first.to_vec(), SameLosses::Throughout),
            // One more packet, which was not lost.
            (
                vec![log(Down, 21, &[3, 17]), log(Up, 5, &[1])],
                SameLosses::Throughout,
            ),
            (
                vec![log(Up, 5, &[1]), log(Down, 17, &[3])],
                SameLosses::WhileAlike,
            ),
            (
                vec![log(Up, 5, &[1]), log(Down, 30, &[3, 17, 25])],
                SameLosses::WhileAlike,
            ),
            (vec![log(Up, 5, &[1])], SameLosses::WhileAlike),
            (vec![log(Up, 5, &[1]), log(Down, 18, &[3])], SameLosses::No),
            (
                vec![log(Up, 5, &[2]), log(Down, 20, &[3, 17])],
                SameLosses::No,
            ),
            (
                vec![log(Up, 5, &[1]), log(Down, 30, &[3, 16, 17])],
                SameLosses::No,
            ),
        ] {
            assert_eq!(same_losses(&first, &other), same, "{other:?}");
            assert_eq!(same_losses(&other, &first), same, "{other:?}");
        }
    }

    #[test]
    fn a_log_that_is_full_says_how_far_it_goes() {
        let mut full = log(LinkDirection::Up, 0, &[]);
        for number in 0..2_000 {
            full.enter(number % 2 == 1);
        }
        assert_eq!(full.lost.len(), LossLog::MOST);
        assert_eq!(full.packets, 512);
        assert_eq!(full.lost.last(), Some(&511));
    }
}
