//! The draw: a number that depends only on the packet that it is for.
//!
//! The words (seed, site, trial, connection, direction, load, packet, purpose) are absorbed one
//! after the other by `state = mix(state + word)`, where `mix` is a step of SplitMix64 (Steele, Lea
//! and Flood, "Fast splittable pseudorandom number generators", 2014). The site is the first 8
//! bytes of its name's SHA-256. Packets are numbered from 0 in their connection, direction and
//! load; a retransmission is a new packet.

use netbench_model::LossRate;
use netbench_stats::mix;

use super::{Direction, Load};
use crate::TrialKey;

/// A packet's identity in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PacketName {
    pub(crate) key: TrialKey,
    pub(crate) connection: u32,
    pub(crate) direction: Direction,
    pub(crate) load: Load,
    pub(crate) packet: u32,
}

/// Returns whether the packet is lost. `site` is the state of seed and site, see [`site_state`].
pub(crate) fn is_lost(site: u64, name: PacketName, loss: LossRate) -> bool {
    scaled(number(site, name, 0), 1_000_000) < u64::from(loss.parts_per_million)
}

/// Returns the packet's jitter: 0 to `jitter_ns`, evenly distributed.
pub(crate) fn jitter_ns(site: u64, name: PacketName, jitter_ns: u64) -> u64 {
    scaled(number(site, name, 1), jitter_ns.saturating_add(1))
}

/// Returns the state of seed and site, which is the same for many draws.
pub(crate) fn site_state(seed: u64, site_word: u64) -> u64 {
    absorb(absorb(0, seed), site_word)
}

fn number(site: u64, name: PacketName, purpose: u64) -> u64 {
    [
        name.key.0,
        u64::from(name.connection),
        name.direction as u64,
        name.load as u64,
        u64::from(name.packet),
        purpose,
    ]
    .into_iter()
    .fold(site, absorb)
}

fn absorb(state: u64, word: u64) -> u64 {
    mix(state.wrapping_add(word))
}

/// Scales an evenly distributed number of 64 bits to the range from 0 up to but not including
/// `limit`.
fn scaled(number: u64, limit: u64) -> u64 {
    ((u128::from(number) * u128::from(limit)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: PacketName = PacketName {
        key: TrialKey(7),
        connection: 0,
        direction: Direction::Up,
        load: Load::Data,
        packet: 0,
    };

    fn losses(seed: u64, base: PacketName, parts_per_million: u32) -> Vec<u32> {
        let site = site_state(seed, 99);
        (0..100_000)
            .filter(|packet| {
                is_lost(
                    site,
                    PacketName {
                        packet: *packet,
                        ..base
                    },
                    LossRate { parts_per_million },
                )
            })
            .collect()
    }

    #[test]
    fn the_share_lost_is_the_share_asked_for() {
        for (ppm, low, high) in [
            (0, 0, 0),
            (1_000, 60, 140),
            (10_000, 880, 1_120),
            (500_000, 49_300, 50_700),
        ] {
            let lost = losses(1, FIRST, ppm).len();
            assert!(
                (low..=high).contains(&lost),
                "{ppm} ppm lost {lost} of 100000"
            );
        }
        assert_eq!(losses(1, FIRST, 1_000_000).len(), 100_000);
    }

    #[test]
    fn every_word_counts() {
        let base = losses(1, FIRST, 10_000);
        assert_eq!(base, losses(1, FIRST, 10_000));
        assert_ne!(base, losses(2, FIRST, 10_000));
        let others = [
            PacketName {
                key: TrialKey(8),
                ..FIRST
            },
            PacketName {
                connection: 1,
                ..FIRST
            },
            PacketName {
                direction: Direction::Down,
                ..FIRST
            },
            PacketName {
                load: Load::Bare,
                ..FIRST
            },
        ];
        for other in others {
            let lost = losses(1, other, 10_000);
            let shared = lost.iter().filter(|packet| base.contains(packet)).count();
            // Independent draws have 1 % of 1 % in common: ten of a hundred thousand.
            assert!(shared < 40, "{other:?} shares {shared} losses");
        }
    }

    #[test]
    fn jitter_is_even_and_bounded() {
        let site = site_state(3, 4);
        let drawn: Vec<u64> = (0..10_000)
            .map(|packet| jitter_ns(site, PacketName { packet, ..FIRST }, 1_000))
            .collect();
        assert!(drawn.iter().all(|ns| *ns <= 1_000));
        let mean = drawn.iter().sum::<u64>() / 10_000;
        assert!((480..=520).contains(&mean), "mean {mean}");
        assert_eq!(jitter_ns(site, FIRST, 0), 0);
        assert!(jitter_ns(site, FIRST, u64::MAX) > 0);
    }
}
