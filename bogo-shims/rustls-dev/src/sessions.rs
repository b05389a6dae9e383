use std::{sync::Arc, time::Duration};

use rustls::{
    KeyLog,
    client::{
        ClientSessionKey, ClientSessionMemoryCache, ClientSessionStore, Tls12Session, Tls13Session,
    },
    crypto::{TicketProducer, kx::NamedGroup},
    server::{ServerSessionKey, StoresServerSessions},
    time_provider::TimeProvider,
};
use rustls_pki_types::UnixTime;

use netbench_bogo_shims::of_rustls::{Observed, now};

/// A client's sessions, kept over connections, and the sessions that this connection stores and takes.
#[derive(Debug)]
pub(crate) struct ClientSessions {
    pub(crate) cache: Arc<ClientSessionMemoryCache>,
    pub(crate) observed: Arc<Observed>,
}

impl ClientSessionStore for ClientSessions {
    // The runner requires the same key shares on every connection, so hints are forgotten.
    fn set_kx_hint(&self, _: ClientSessionKey<'static>, _: NamedGroup) {}

    fn kx_hint(&self, _: &ClientSessionKey<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, key: ClientSessionKey<'static>, value: Tls12Session) {
        self.observed.get().new_session = Some(0);
        self.cache.set_tls12_session(key, value);
    }

    fn tls12_session(&self, key: &ClientSessionKey<'_>) -> Option<Tls12Session> {
        self.cache.tls12_session(key)
    }

    fn remove_tls12_session(&self, key: &ClientSessionKey<'static>) {
        self.cache.remove_tls12_session(key);
    }

    fn insert_tls13_ticket(&self, key: ClientSessionKey<'static>, value: Tls13Session) {
        let facts = suite_and_early_data(&value);
        self.observed.get().new_session = facts.map(|(_, early_data_bytes)| early_data_bytes);
        self.cache.insert_tls13_ticket(key, value);
    }

    fn take_tls13_ticket(&self, key: &ClientSessionKey<'static>) -> Option<Tls13Session> {
        let ticket = self.cache.take_tls13_ticket(key)?;
        self.observed.get().offered_suite = suite_and_early_data(&ticket).map(|(suite, _)| suite);
        Some(ticket)
    }
}

/// Returns the suite of a session, and the early data that it permits, in bytes. rustls shows both in the serialized form
/// alone, which begins with the suite, the secret with its length before it, the addition to the ticket's age, and the
/// early data.
fn suite_and_early_data(session: &Tls13Session) -> Option<(u16, u32)> {
    let mut bytes = Vec::new();
    session.encode(&mut bytes);
    let (suite, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first()?;
    let rest = rest.get(usize::from(*length)..)?;
    let (_, rest) = rest.split_first_chunk::<4>()?;
    let early_data_bytes = rest.first_chunk()?;
    Some((
        u16::from_be_bytes(*suite),
        u32::from_be_bytes(*early_data_bytes),
    ))
}

/// A server's sessions, kept over connections, with a record of whether this connection stores any.
#[derive(Debug)]
pub(crate) struct ServerSessions {
    pub(crate) cache: Arc<dyn StoresServerSessions>,
    pub(crate) observed: Arc<Observed>,
}

impl StoresServerSessions for ServerSessions {
    fn put(&self, key: ServerSessionKey<'_>, value: Vec<u8>) -> bool {
        self.observed.get().stored = true;
        self.cache.put(key, value)
    }

    fn get(&self, key: ServerSessionKey<'_>) -> Option<Vec<u8>> {
        self.cache.get(key)
    }

    fn take(&self, key: ServerSessionKey<'_>) -> Option<Vec<u8>> {
        self.cache.take(key)
    }

    fn can_cache(&self) -> bool {
        self.cache.can_cache()
    }
}

/// The application's producer of tickets, which uses the library's keys and counts as called at each call.
#[derive(Debug)]
pub(crate) struct ApplicationsTickets {
    pub(crate) library: Arc<dyn TicketProducer>,
    /// Whether it makes no ticket, and only accepts those that were made before.
    pub(crate) skips: bool,
    pub(crate) observed: Arc<Observed>,
}

impl TicketProducer for ApplicationsTickets {
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

    fn lifetime(&self) -> Duration {
        self.library.lifetime()
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
#[derive(Debug)]
pub(crate) struct Secrets(pub(crate) Arc<Observed>);

impl KeyLog for Secrets {
    fn log(&self, label: &str, _client_random: &[u8], secret: &[u8]) {
        let secrets = &mut self.0.get().secrets;
        secrets.insert(label.to_owned(), secret.to_vec());
    }
}
