//! The fate of a packet: its site and connection, its loss by the draw or a full queue, and the time at which
//! it is due. The module uses no clock and no device: all randomness comes from the seed.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use netbench_model::{BitRate, LinkProfile};

use super::{
    CHECK_PORT, Direction, Load,
    draw::{self, PacketName},
    losses::Loss,
    observer::Observer,
    packet_log::Entry,
    recorder::{Packet, Recorder},
    segment::{self, Segment},
    trials::{ConnectionName, Drawn, Trials},
};
use crate::{LinkSite, sites};

/// The size of an Ethernet header. As in netem, a rate applies to the packet and an Ethernet header.
const ETHERNET_BYTES: u64 = 14;
/// Number of connections above which those that are long silent are forgotten.
const CONNECTIONS_KEPT: usize = 16_384;
/// The time without packets after which a connection may be forgotten.
const SILENT_NS: u64 = 120_000_000_000;

/// The maximum time of the kernel's answer to a SYN. A later answer is to a retransmitted SYN.
const ANSWER_NS: u64 = 1_000_000;

/// Every site's path, and the connections on them.
pub(crate) struct Paths {
    sites: Vec<Path>,
    trials: Arc<Trials>,
    recorder: Arc<Recorder>,
    observer: Arc<Observer>,
    connections: HashMap<Ends, Connection>,
    /// Number of connections at which the next sweep is due.
    sweep_at: usize,
}

/// The fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The packet belongs to no site's connection and is forwarded at once.
    Pass,
    /// The packet is forwarded at `due_ns`.
    Due {
        /// The due time, by the clock of the arrival.
        due_ns: u64,
    },
    /// A packet with SYN or data, dropped by the draw.
    Lost(Loss),
    /// A bare packet, dropped by the draw.
    LostBare,
    /// The packet is dropped because the bottleneck's queue was full.
    QueueFull,
}

struct Path {
    profile: LinkProfile,
    /// The state of seed and site for the draw.
    draw_state: u64,
    lanes: [Lane; 2],
}

/// One direction of a path.
#[derive(Default)]
struct Lane {
    /// The time at which the bottleneck will have sent all accepted packets.
    free_ns: u64,
    /// The time at which each packet in the bottleneck will have left it; the first is being sent.
    leaving_ns: VecDeque<u64>,
    /// The time at which the last packet is due: the next one is not due before.
    last_due_ns: u64,
}

/// The ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Ends {
    site: u32,
    client_port: u16,
    site_port: u16,
}

struct Connection {
    initial_sequence: u32,
    name: ConnectionName,
    /// Number of packets so far, by direction and load.
    packets: [[u32; 2]; 2],
    /// The time at which the last SYN is due at the site.
    opened_ns: u64,
    seen_ns: u64,
}

impl Paths {
    /// Makes the paths of `sites`, with draws from `seed`.
    pub(crate) fn new(
        sites: &[LinkSite],
        seed: u64,
        trials: Arc<Trials>,
        recorder: Arc<Recorder>,
        observer: Arc<Observer>,
    ) -> Self {
        Self {
            sites: sites
                .iter()
                .map(|site| Path {
                    profile: site.profile,
                    draw_state: draw::site_state(seed, sites::name_word(&site.name)),
                    lanes: Default::default(),
                })
                .collect(),
            trials,
            recorder,
            observer,
            connections: HashMap::new(),
            sweep_at: CONNECTIONS_KEPT,
        }
    }

    /// Decides about an IP packet that arrived at `arrived_ns`. Packets must be given in the order in which
    /// they arrived.
    pub(crate) fn decide(&mut self, direction: Direction, packet: &[u8], arrived_ns: u64) -> Fate {
        let fate = self.fate(direction, packet, arrived_ns);
        self.observer
            .enter(direction, packet, arrived_ns, fate, self.sites.len());
        fate
    }

    fn fate(&mut self, direction: Direction, bytes: &[u8], arrived_ns: u64) -> Fate {
        let Some(segment) = segment::parse(bytes) else {
            return Fate::Pass;
        };
        let (address, client_port, site_port) = segment.ends(direction);
        let Some(site) = sites::index_of(address, self.sites.len()) else {
            return Fate::Pass;
        };
        let ends = Ends {
            site: site as u32,
            client_port,
            site_port,
        };
        let fate = self.decide_of_site(direction, bytes.len(), segment, ends, arrived_ns);
        if !ends.is_check() {
            let due_ns = match fate {
                Fate::Due { due_ns } => Some(due_ns),
                Fate::Pass | Fate::Lost(_) | Fate::LostBare | Fate::QueueFull => None,
            };
            let packet = Packet {
                direction,
                load: segment.load,
                opens: segment.opens,
                client_port,
                sequence: segment.sequence,
                data_bytes: u32::try_from(segment.data_bytes).unwrap_or(u32::MAX),
                arrived_ns,
                due_ns,
            };
            self.recorder.enter(site, packet);
            if let Some(connection) = self.connections.get(&ends) {
                let entry = Entry {
                    direction,
                    segment,
                    arrived_ns,
                    due_ns,
                };
                let rtt_ns = self.sites[site].profile.rtt_ns;
                self.trials.came(site, connection.name, &entry, rtt_ns);
            }
        }
        fate
    }

    fn decide_of_site(
        &mut self,
        direction: Direction,
        packet_bytes: usize,
        segment: Segment<'_>,
        ends: Ends,
        arrived_ns: u64,
    ) -> Fate {
        let site = ends.site as usize;
        if direction == Direction::Up && segment.opens {
            self.open(ends, segment.sequence, arrived_ns);
        }
        let path = &mut self.sites[site];
        let delay_ns = path.profile.one_way_ns(direction);
        // A packet of no known connection, such as the reset after a forgotten one, has no number for the
        // draw.
        let mut connection = self.connections.get_mut(&ends);
        let mut left_ns = arrived_ns;
        let mut jitter_ns = 0;
        if let Some(connection) = &mut connection {
            connection.seen_ns = arrived_ns;
            if segment.accepts {
                left_ns = connection.accepted_ns(arrived_ns);
            }
            if !ends.is_check() {
                let drawn = connection.draw(ends.site, direction, segment.load, path);
                if path.profile.loss.parts_per_million > 0 {
                    let said = if drawn.is_err() {
                        Drawn::Lost
                    } else {
                        Drawn::Passed
                    };
                    self.trials
                        .drew(site, connection.name, direction, segment.load, said);
                }
                match drawn {
                    Ok(drawn_ns) => jitter_ns = drawn_ns,
                    Err(lost) => return lost,
                }
            }
        }
        if !ends.is_check() {
            let bytes = packet_bytes as u64 + ETHERNET_BYTES;
            let lane = &mut path.lanes[direction as usize];
            match lane.pass_bottleneck(&path.profile, direction, bytes, left_ns) {
                None => return Fate::QueueFull,
                Some(passed_ns) => left_ns = passed_ns,
            }
            let due_ns = left_ns.saturating_add(delay_ns).saturating_add(jitter_ns);
            lane.last_due_ns = lane.last_due_ns.max(due_ns);
            left_ns = lane.last_due_ns - delay_ns;
        }
        let due_ns = left_ns.saturating_add(delay_ns);
        if let (true, Some(connection)) = (segment.opens, connection) {
            connection.opened_ns = due_ns;
        }
        Fate::Due { due_ns }
    }

    /// Enters a connection that begins; a retransmission of its first packet begins no connection.
    fn open(&mut self, ends: Ends, initial_sequence: u32, now_ns: u64) {
        if self
            .connections
            .get(&ends)
            .is_some_and(|known| known.initial_sequence == initial_sequence)
        {
            return;
        }
        // The link's own check must not count among a trial's connections.
        let name = match ends.is_check() {
            true => ConnectionName::default(),
            false => match self.trials.next_connection(ends.site as usize) {
                Some(name) => name,
                None => return,
            },
        };
        if self.connections.len() >= self.sweep_at {
            self.connections
                .retain(|_, known| now_ns.saturating_sub(known.seen_ns) < SILENT_NS);
            self.sweep_at = CONNECTIONS_KEPT.max(self.connections.len() * 2);
        }
        let connection = Connection {
            initial_sequence,
            name,
            packets: [[0; 2]; 2],
            opened_ns: now_ns,
            seen_ns: now_ns,
        };
        self.connections.insert(ends, connection);
    }
}

impl Ends {
    fn is_check(self) -> bool {
        self.site_port == CHECK_PORT
    }
}

impl Connection {
    /// Returns the time that counts as the arrival of the SYN's answer, which arrived at `arrived_ns`: the
    /// time at which the SYN was due. The round-trip time is between the hosts' kernels. Otherwise, the time
    /// that this machine needs to release the SYN and to answer it would be added, and a SYN that was
    /// released slightly early, so that it arrives in time, would shorten the round-trip time.
    fn accepted_ns(&self, arrived_ns: u64) -> u64 {
        let answered_at_once = arrived_ns.abs_diff(self.opened_ns) < ANSWER_NS;
        if answered_at_once {
            self.opened_ns
        } else {
            arrived_ns
        }
    }

    /// Counts a packet and draws for it: returns its jitter in nanoseconds, or the kind of loss.
    fn draw(
        &mut self,
        site: u32,
        direction: Direction,
        load: Load,
        path: &Path,
    ) -> Result<u64, Fate> {
        let number = &mut self.packets[direction as usize][load as usize];
        let packet = *number;
        *number = number.wrapping_add(1);
        let name = PacketName {
            key: self.name.key,
            connection: self.name.connection,
            direction,
            load,
            packet,
        };
        if !draw::is_lost(path.draw_state, name, path.profile.loss) {
            return Ok(draw::jitter_ns(
                path.draw_state,
                name,
                path.profile.jitter_ns,
            ));
        }
        Err(match load {
            Load::Bare => Fate::LostBare,
            Load::Data => Fate::Lost(Loss {
                site,
                connection: self.name,
                direction,
                packet,
            }),
        })
    }
}

impl Lane {
    /// Returns the time at which a packet of `bytes` has left the bottleneck, or `None` where its queue is
    /// full.
    fn pass_bottleneck(
        &mut self,
        profile: &LinkProfile,
        direction: Direction,
        bytes: u64,
        now_ns: u64,
    ) -> Option<u64> {
        let Some(rate) = profile.rate_of(direction) else {
            return Some(now_ns);
        };
        while self.leaving_ns.front().is_some_and(|left| *left <= now_ns) {
            self.leaving_ns.pop_front();
        }
        let waiting = self.leaving_ns.len().saturating_sub(1);
        // With a queue of 0, no packet passes while another is sent, as configured.
        if !self.leaving_ns.is_empty() && waiting >= profile.queue.packets as usize {
            return None;
        }
        let sending_ns =
            u128::from(bytes) * 8 * 1_000_000_000 / u128::from(rate.bits_per_second.max(1));
        let sending_ns = u64::try_from(sending_ns).unwrap_or(u64::MAX);
        self.free_ns = self.free_ns.max(now_ns).saturating_add(sending_ns);
        self.leaving_ns.push_back(self.free_ns);
        Some(self.free_ns)
    }
}

/// The properties of a link in one direction.
pub(crate) trait OneWay {
    /// Returns the delay of one direction without jitter. The sum of both directions is exactly the
    /// round-trip time.
    fn one_way_ns(&self, direction: Direction) -> u64;

    /// Returns the bottleneck's rate in one direction.
    fn rate_of(&self, direction: Direction) -> Option<BitRate>;
}

impl OneWay for LinkProfile {
    fn one_way_ns(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Up => self.rtt_ns / 2,
            Direction::Down => self.rtt_ns - self.rtt_ns / 2,
        }
    }

    fn rate_of(&self, direction: Direction) -> Option<BitRate> {
        match direction {
            Direction::Up => self.rate_up.or(self.rate),
            Direction::Down => self.rate,
        }
    }
}

#[cfg(test)]
mod tests;
