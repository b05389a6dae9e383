//! Which trial a site's connections belong to. Written by the threads that start trials, read by
//! the forwarder once a connection.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
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

#[derive(Default)]
struct SiteTrials {
    key: u64,
    occurrence: u32,
    connections: u32,
    begun: HashMap<u64, u32>,
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
        Some(ConnectionName {
            key: TrialKey(trials.key),
            occurrence: trials.occurrence,
            connection,
        })
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
