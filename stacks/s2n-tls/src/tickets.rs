use std::{sync::Arc, time::SystemTime};

use netbench_worker::{SetupError, TicketUse, refused};
use s2n_tls::{
    callbacks::{SessionTicket, SessionTicketCallback},
    config::Builder,
    connection::Connection,
    error::Error,
};

use crate::negotiated::tls_version;

/// The sessions that a client can resume, by their host, as the library serializes them.
#[derive(Clone, Default)]
pub(crate) struct Tickets(Arc<netbench_worker::Tickets<String, Vec<u8>>>);

impl Tickets {
    /// Makes `connection` resume the newest session with its server, if there is one.
    pub(crate) fn resume(&self, connection: &mut Connection) -> Result<(), Error> {
        let host = connection.server_name().unwrap_or_default().to_owned();
        let set = self.0.resume_newest(host.as_str(), |state| {
            connection.set_session_ticket(state).map(drop)
        });
        set.unwrap_or(Ok(()))
    }

    fn keep(&self, connection: &Connection, ticket: &SessionTicket) -> Result<(), Error> {
        let mut state = vec![0; ticket.len()?];
        ticket.data(&mut state)?;
        let host = connection.server_name().unwrap_or_default().to_owned();
        let version = tls_version(connection.actual_protocol_version()?);
        let allowed = version.map_or(TicketUse::Often, TicketUse::of);
        self.0.keep(host, allowed, state);
        Ok(())
    }
}

impl SessionTicketCallback for Tickets {
    fn on_session_ticket(&self, connection: &mut Connection, ticket: &SessionTicket) {
        // A session that cannot be kept is not resumed, which every sample shows.
        let _ = self.keep(connection, ticket);
    }
}

/// Makes a server encrypt its tickets with a new key.
pub(crate) fn seal(config: &mut Builder) -> Result<(), SetupError> {
    let mut random = [0; 48];
    getrandom::fill(&mut random).map_err(refused("ticket key"))?;
    let (name, key) = random.split_at(16);
    config
        .add_session_ticket_key(name, key, SystemTime::now())
        .map(drop)
        .map_err(refused("ticket key"))
}
