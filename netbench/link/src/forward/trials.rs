//! Which trial a site's connections belong to. Written by the threads that start trials, read by
//! the forwarder once a connection.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use netbench_model::{LinkDirection, LinkPackets, LossLog, PacketLoad};

use super::{
    Direction, Load,
    packet_log::{Entry, PacketLog},
};
use crate::TrialKey;

/// Every site's trial.
pub(crate) struct Trials {
    sites: Vec<Mutex<SiteTrials>>,
}

/// A connection by its place in the trials of its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionName {
    pub(crate) key: TrialKey,
    /// Trials of this site before this one that had the same key.
    pub(crate) occurrence: u32,
    /// Connections of the trial before this one.
    pub(crate) connection: u32,
}

/// What a draw said of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawn {
    Lost,
    Passed,
}

#[derive(Default)]
struct SiteTrials {
    key: u64,
    occurrence: u32,
    connections: u32,
    begun: HashMap<u64, u32>,
    /// Of the trial that has begun last.
    losses: Vec<LossLog>,
    /// Of its first connection.
    packets: PacketLog,
}

impl Trials {
    /// Before the first trial, every site's key is 0.
    pub(crate) fn new(sites: usize) -> Self {
        Self {
            sites: (0..sites).map(|_| Mutex::default()).collect(),
        }
    }

    /// Connections to `site` belong to a new trial from now on.
    pub(crate) fn begin(&self, site: usize, key: TrialKey) {
        let Some(trials) = self.sites.get(site) else {
            return;
        };
        let mut trials = trials.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = trials.begun.entry(key.0).or_default();
        let occurrence = *begun;
        *begun += 1;
        trials.key = key.0;
        trials.occurrence = occurrence;
        trials.connections = 0;
        trials.losses.clear();
        trials.packets = PacketLog::default();
    }

    /// Enters a packet of a connection over a path of `rtt_ns`. Those of trials that are over are left out, and of a trial's connections
    /// all but the first.
    pub(super) fn came(&self, site: usize, name: ConnectionName, entry: &Entry<'_>, rtt_ns: u64) {
        let Some(trials) = self.sites.get(site) else {
            return;
        };
        let mut trials = trials.lock().unwrap_or_else(PoisonError::into_inner);
        if name.connection == 0 && trials.is_current(name) {
            trials.packets.enter(entry, rtt_ns);
        }
    }

    /// Returns the packets of the trial that has begun last.
    pub(crate) fn packets(&self, site: usize) -> Option<LinkPackets> {
        let trials = self.sites.get(site)?.lock();
        let trials = trials.unwrap_or_else(PoisonError::into_inner);
        Some(trials.packets.packets().clone())
    }

    /// Enters that a draw was made for the next packet of a connection. Those of trials that are over are left out.
    pub(crate) fn drew(
        &self,
        site: usize,
        name: ConnectionName,
        direction: Direction,
        load: Load,
        drawn: Drawn,
    ) {
        let Some(trials) = self.sites.get(site) else {
            return;
        };
        let mut trials = trials.lock().unwrap_or_else(PoisonError::into_inner);
        if !trials.is_current(name) {
            return;
        }
        let direction = match direction {
            Direction::Up => LinkDirection::Up,
            Direction::Down => LinkDirection::Down,
        };
        let load = match load {
            Load::Carrying => PacketLoad::Data,
            Load::Bare => PacketLoad::Bare,
        };
        let place = trials.losses.iter().position(|log| {
            (log.connection, log.direction, log.load) == (name.connection, direction, load)
        });
        let place = place.unwrap_or_else(|| {
            trials.losses.push(LossLog {
                connection: name.connection,
                direction,
                load,
                packets: 0,
                lost: Vec::new(),
            });
            trials.losses.len() - 1
        });
        trials.losses[place].enter(drawn == Drawn::Lost);
    }

    /// What was drawn for the packets of the trial that has begun last.
    pub(crate) fn losses(&self, site: usize) -> Vec<LossLog> {
        let Some(trials) = self.sites.get(site) else {
            return Vec::new();
        };
        let trials = trials.lock().unwrap_or_else(PoisonError::into_inner);
        trials.losses.clone()
    }

    /// Names a connection that begins now.
    pub(crate) fn next_connection(&self, site: usize) -> Option<ConnectionName> {
        let mut trials = self
            .sites
            .get(site)?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let connection = trials.connections;
        trials.connections += 1;
        trials.packets.open();
        Some(ConnectionName {
            key: TrialKey(trials.key),
            occurrence: trials.occurrence,
            connection,
        })
    }
}

impl SiteTrials {
    /// Returns whether a connection is of the trial that has begun last. Where no trial ever begins, as in a scan, no log is
    /// kept: it would have no end.
    fn is_current(&self, name: ConnectionName) -> bool {
        let is_last = (self.key, self.occurrence) == (name.key.0, name.occurrence);
        is_last && !self.begun.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_stacks_of_a_pair_count_from_zero() {
        let trials = Trials::new(2);
        let next = || {
            let name = trials.next_connection(1).expect("a site");
            (name.key.0, name.occurrence, name.connection)
        };
        assert_eq!(next(), (0, 0, 0));
        trials.begin(1, TrialKey(5));
        assert_eq!((next(), next()), ((5, 0, 0), (5, 0, 1)));
        trials.begin(1, TrialKey(5));
        assert_eq!(next(), (5, 1, 0));
        trials.begin(0, TrialKey(9));
        assert_eq!(next(), (5, 1, 1));
        assert_eq!(trials.next_connection(2), None);
    }
}
