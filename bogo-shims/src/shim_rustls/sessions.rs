use std::sync::Arc;

use rustls::{
    KeyLog, NamedGroup,
    client::{
        ClientSessionMemoryCache, ClientSessionStore, Tls12ClientSessionValue,
        Tls13ClientSessionValue,
    },
    pki_types::{ServerName, UnixTime},
    server::{ProducesTickets, StoresServerSessions},
    time_provider::TimeProvider,
};

use crate::of_rustls::{Observed, now};

/// A client's sessions, kept over connections, and the sessions that this connection stores and takes.
#[derive(Debug)]
pub(crate) struct ClientSessions {
    pub(crate) cache: Arc<ClientSessionMemoryCache>,
    pub(crate) observed: Arc<Observed>,
}

impl ClientSessionStore for ClientSessions {
    // The runner requires the same key shares on every connection, so hints are forgotten.
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.observed.get().new_session = Some(0);
        self.cache.set_tls12_session(name, value);
    }

    fn tls12_session(&self, name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.cache.tls12_session(name)
    }

    fn remove_tls12_session(&self, name: &ServerName<'static>) {
        self.cache.remove_tls12_session(name);
    }

    fn insert_tls13_ticket(&self, name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.observed.get().new_session = Some(value.max_early_data_size());
        self.cache.insert_tls13_ticket(name, value);
    }

    fn take_tls13_ticket(&self, name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let ticket = self.cache.take_tls13_ticket(name)?;
        self.observed.get().offered_suite = Some(ticket.suite().common.suite.into());
        Some(ticket)
    }
}

/// A server's sessions, kept over connections, with a record of whether this connection stores any.
#[derive(Debug)]
pub(crate) struct ServerSessions {
    pub(crate) cache: Arc<dyn StoresServerSessions>,
    pub(crate) observed: Arc<Observed>,
}

impl StoresServerSessions for ServerSessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.observed.get().stored = true;
        self.cache.put(key, value)
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.cache.get(key)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.cache.take(key)
    }

    fn can_cache(&self) -> bool {
        self.cache.can_cache()
    }
}

/// The application's producer of tickets, which uses the library's keys and counts as called at each call.
#[derive(Debug)]
pub(crate) struct ApplicationsTickets {
    pub(crate) library: Arc<dyn ProducesTickets>,
    /// Whether it makes no ticket, and only accepts those that were made before.
    pub(crate) skips: bool,
    pub(crate) observed: Arc<Observed>,
}

impl ProducesTickets for ApplicationsTickets {
    fn enabled(&self) -> bool {
        self.library.enabled()
    }

    fn lifetime(&self) -> u32 {
        self.library.lifetime()
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.observed.get().tickets_called = true;
        if self.skips {
            None
        } else {
            self.library.encrypt(plain)
        }
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.observed.get().tickets_called = true;
        self.library.decrypt(ticket)
    }
}

/// The time of day, advanced by the test's amount.
#[derive(Debug)]
pub(crate) struct Clock;

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        now()
    }
}

/// The log of the traffic secrets of a connection.
impl KeyLog for Observed {
    fn log(&self, label: &str, _client_random: &[u8], secret: &[u8]) {
        self.get().secrets.insert(label.to_owned(), secret.to_vec());
    }
}
