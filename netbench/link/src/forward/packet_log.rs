//! The packets of a trial's connection, counted as they arrive: a client's report is compared with them.

use netbench_model::{AckWait, LinkPackets, tls::wire::content};

use super::{Direction, Load, segment::Segment};

/// The maximum time by which the forwarder may deliver a packet before it is due.
const EARLY_NS: u64 = 200_000;

/// The maximum time from an acknowledgement's arrival to the data that it released: both are the kernel's
/// work.
const RELEASED_NS: u64 = 1_000_000;

/// The size of a record of change_cipher_spec with its header.
const CHANGE_CIPHER_SPEC_BYTES: usize = 6;

/// A packet of the connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) direction: Direction,
    pub(super) segment: Segment<'a>,
    pub(super) arrived_ns: u64,
    /// The time at which the packet is due at its receiver, or `None` where it was dropped.
    pub(super) due_ns: Option<u64>,
}

/// A log that counts the packets of one connection.
#[derive(Debug, Default)]
pub(super) struct PacketLog {
    packets: LinkPackets,
    /// The lanes in the order of [`Direction`].
    lanes: [Lane; 2],
    /// The time at which the server's first data after the client's was due.
    client_turn_ns: Option<u64>,
    is_past_handshake: bool,
    /// The time at which the client's first SYN arrived.
    opened_ns: Option<u64>,
}

/// One direction of the connection.
#[derive(Debug, Default)]
struct Lane {
    /// The sequence number of the SYN.
    initial: Option<u32>,
    /// Number of bytes of data that were sent.
    end: u64,
    /// The time at which the last segment with data was sent.
    sent_ns: Option<u64>,
    /// The due times of the segments with data that are in transit, and of the last one that has arrived.
    due_ns: Vec<u64>,
    /// Acknowledgements without data in transit to the sender of this lane, and the last one that has
    /// arrived.
    acks: Vec<Ack>,
}

#[derive(Debug, Clone, Copy)]
struct Ack {
    due_ns: u64,
    delay_ns: u64,
}

impl PacketLog {
    pub(super) fn packets(&self) -> &LinkPackets {
        &self.packets
    }

    /// Counts a connection of the trial.
    pub(super) fn open(&mut self) {
        self.packets.connections += 1;
    }

    /// Enters a packet. `rtt_ns` is the round-trip time of the site's path.
    pub(super) fn enter(&mut self, entry: &Entry<'_>, rtt_ns: u64) {
        let Entry {
            direction, segment, ..
        } = *entry;
        if segment.opens || segment.accepts {
            let lane = &mut self.lanes[direction as usize];
            let is_again = lane.initial.replace(segment.sequence).is_some();
            match direction {
                Direction::Up => {
                    self.packets.syns += 1;
                    self.opened_ns.get_or_insert(entry.arrived_ns);
                }
                Direction::Down => {
                    self.packets.resent_down += u32::from(is_again);
                    let times = self.opened_ns.zip(entry.due_ns);
                    let connect_ns = times.map(|(opened, due)| due.saturating_sub(opened));
                    self.packets.connect_ns = self.packets.connect_ns.or(connect_ns);
                }
            }
        } else if segment.data_bytes > 0 {
            self.enter_data(entry, rtt_ns);
        } else if segment.load == Load::Bare && !segment.ends {
            self.enter_ack(entry);
        }
    }

    fn enter_data(&mut self, entry: &Entry<'_>, rtt_ns: u64) {
        let (sender, receiver) = (entry.direction, entry.direction.opposite());
        let now_ns = entry.arrived_ns;
        let lane = &mut self.lanes[sender as usize];
        let Some(initial) = lane.initial else { return };
        let begin = entry.segment.sequence.wrapping_sub(initial).wrapping_sub(1);
        let end = u64::from(begin) + entry.segment.data_bytes as u64;
        let sent_ns = lane.sent_ns.replace(now_ns);
        lane.due_ns.extend(entry.due_ns);
        if end <= lane.end {
            match sender {
                Direction::Up => self.packets.resent_up += 1,
                Direction::Down => {
                    self.packets.resent_down += 1;
                    // Earlier segments of the server's flight may all have been lost: the client's turn
                    // begins with this one.
                    self.begin_turn(entry);
                }
            }
            return;
        }
        lane.end = end;
        match sender {
            Direction::Up => self.packets.bytes_up = end,
            Direction::Down => self.packets.bytes_down = end,
        }
        let ack = last_come(&mut lane.acks, now_ns, |ack| ack.due_ns);
        let data_ns = last_come(&mut self.lanes[receiver as usize].due_ns, now_ns, |due| {
            *due
        });
        if let (Some(ack), Some(sent_ns)) = (ack, sent_ns) {
            let idle_ns = now_ns - sent_ns.min(now_ns);
            let is_released = now_ns <= ack.due_ns + RELEASED_NS && ack.due_ns > sent_ns;
            let is_answer = data_ns.is_some_and(|data_ns| data_ns > sent_ns);
            let is_wait = idle_ns >= RELEASED_NS.max(rtt_ns / 2);
            if is_released && is_wait && !is_answer {
                self.enter_wait(sender, idle_ns, ack.delay_ns);
            }
        }
        self.enter_turn(entry);
    }

    fn enter_wait(&mut self, sender: Direction, wait_ns: u64, ack_delay_ns: u64) {
        if self.packets.waits.len() < LinkPackets::MOST_WAITS {
            self.packets.waits.push(AckWait {
                direction: sender,
                wait_ns,
                ack_delay_ns,
            });
        }
    }

    fn enter_ack(&mut self, entry: &Entry<'_>) {
        let acknowledged = &mut self.lanes[entry.direction.opposite() as usize];
        let data_ns = last_come(&mut acknowledged.due_ns, entry.arrived_ns, |due| *due);
        if let (Some(due_ns), Some(data_ns)) = (entry.due_ns, data_ns) {
            acknowledged.acks.push(Ack {
                due_ns,
                delay_ns: entry.arrived_ns.saturating_sub(data_ns),
            });
        }
    }

    /// Records whose turn it is in the handshake, which ends with the client's first protected record after
    /// data of the server.
    fn enter_turn(&mut self, entry: &Entry<'_>) {
        if self.is_past_handshake {
            return;
        }
        match (entry.direction, self.client_turn_ns) {
            (Direction::Down, _) => self.begin_turn(entry),
            (Direction::Up, Some(begun_ns)) => {
                // A client may send change_cipher_spec before it has received the certificate (RFC 8446
                // appendix D.4).
                let after = match entry.segment.data.first() {
                    Some(&content::CHANGE_CIPHER_SPEC) => {
                        entry.segment.data.get(CHANGE_CIPHER_SPEC_BYTES)
                    }
                    first => first,
                };
                let Some(content) = after else { return };
                let took_ns = entry.arrived_ns.saturating_sub(begun_ns);
                let longest = &mut self.packets.longest_client_turn_ns;
                *longest = Some(longest.unwrap_or(0).max(took_ns));
                self.client_turn_ns = None;
                self.is_past_handshake = *content == content::APPLICATION_DATA;
            }
            (Direction::Up, None) => {}
        }
    }

    /// Begins the client's turn with data of the server, unless it has begun.
    fn begin_turn(&mut self, entry: &Entry<'_>) {
        self.client_turn_ns = self.client_turn_ns.or(entry.due_ns);
    }
}

/// Returns the last entry that has arrived by `now_ns`, and removes the entries before it.
fn last_come<T: Copy>(on_way: &mut Vec<T>, now_ns: u64, due_ns: impl Fn(&T) -> u64) -> Option<T> {
    let come = on_way.partition_point(|one| due_ns(one).saturating_sub(EARLY_NS) <= now_ns);
    on_way.drain(..come.saturating_sub(1));
    (come > 0).then(|| on_way[0])
}

#[cfg(test)]
mod tests;
