//! The trials to which the sites' connections belong. They are written by the threads that start trials, and
//! read by the forwarder once per connection.

use std::collections::HashMap;

use netbench_model::{LinkPackets, LossLog};
use parking_lot::Mutex;

use super::{
    Direction, Load,
    packet_log::{Entry, PacketLog},
};
use crate::TrialKey;

/// Every site's trial.
pub(crate) struct Trials {
    sites: Vec<Mutex<SiteTrials>>,
}

/// A connection's identity among the trials of its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct ConnectionName {
    pub(crate) key: TrialKey,
    /// Number of earlier trials of this site that had the same key.
    pub(crate) occurrence: u32,
    /// Number of earlier connections of the trial.
    pub(crate) connection: u32,
}

/// The result of a packet's draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drawn {
    Lost,
    Passed,
}

#[derive(Default)]
struct SiteTrials {
    /// The name of the next connection of the trial that began last.
    next: ConnectionName,
    begun: HashMap<TrialKey, u32>,
    /// The losses of that trial.
    losses: Vec<LossLog>,
    /// The packets of the first connection of that trial.
    packets: PacketLog,
}

impl Trials {
    /// Makes the trials of `sites` sites. Before the first trial, every site's key is 0.
    pub(crate) fn new(sites: usize) -> Self {
        Self {
            sites: (0..sites).map(|_| Mutex::default()).collect(),
        }
    }

    /// Begins a trial: new connections to `site` belong to it.
    pub(crate) fn begin(&self, site: usize, key: TrialKey) {
        let Some(trials) = self.sites.get(site) else {
            return;
        };
        let mut trials = trials.lock();
        let begun = trials.begun.entry(key).or_default();
        let occurrence = *begun;
        *begun += 1;
        trials.next = ConnectionName {
            key,
            occurrence,
            connection: 0,
        };
        trials.losses.clear();
        trials.packets = PacketLog::default();
    }

    /// Enters a packet of a connection over a path of `rtt_ns`. Packets of ended trials are left out, and
    /// those of all connections of a trial but the first.
    pub(super) fn came(&self, site: usize, name: ConnectionName, entry: &Entry<'_>, rtt_ns: u64) {
        let Some(trials) = self.sites.get(site) else {
            return;
        };
        let mut trials = trials.lock();
        if name.connection == 0 && trials.is_current(name) {
            trials.packets.enter(entry, rtt_ns);
        }
    }

    /// Returns the packets of the trial that began last.
    pub(crate) fn packets(&self, site: usize) -> Option<LinkPackets> {
        Some(self.sites.get(site)?.lock().packets.packets().clone())
    }

    /// Enters the draw for the next packet of a connection. Draws of ended trials are left out.
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
        let mut trials = trials.lock();
        if !trials.is_current(name) {
            return;
        }
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

    /// Returns the draws for the packets of the trial that began last.
    pub(crate) fn losses(&self, site: usize) -> Vec<LossLog> {
        let trials = self.sites.get(site);
        trials.map_or_else(Vec::new, |trials| trials.lock().losses.clone())
    }

    /// Returns the name of a connection that begins now.
    pub(crate) fn next_connection(&self, site: usize) -> Option<ConnectionName> {
        let mut trials = self.sites.get(site)?.lock();
        let name = trials.next;
        trials.next.connection += 1;
        trials.packets.open();
        Some(name)
    }
}

impl SiteTrials {
    /// Returns whether a connection belongs to the trial that began last. Where no trial ever begins, as in a
    /// scan, no log is kept: it would grow without limit.
    fn is_current(&self, name: ConnectionName) -> bool {
        let is_last = (self.next.key, self.next.occurrence) == (name.key, name.occurrence);
        is_last && !self.begun.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(trials: &Trials) -> (u64, u32, u32) {
        let name = trials.next_connection(1).expect("a site");
        (name.key.0, name.occurrence, name.connection)
    }

    #[test]
    fn both_stacks_of_a_pair_count_from_zero() {
        let trials = Trials::new(2);
        assert_eq!(next(&trials), (0, 0, 0));
        trials.begin(1, TrialKey(5));
        assert_eq!([next(&trials), next(&trials)], [(5, 0, 0), (5, 0, 1)]);
        trials.begin(1, TrialKey(5));
        assert_eq!(next(&trials), (5, 1, 0));
        trials.begin(0, TrialKey(9));
        assert_eq!(next(&trials), (5, 1, 1));
        assert_eq!(trials.next_connection(2), None);
    }
}
