use std::{pin::Pin, sync::Arc, time::SystemTime};

use netbench_worker::{SetupError, TicketUse, refused};
use s2n_tls::{
    callbacks::{ConnectionFuture, SessionTicket, SessionTicketCallback},
    config::{Builder, ConnectionInitializer},
    connection::Connection,
    enums::Version,
    error::Error,
};

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
        let allowed = match connection.actual_protocol_version()? {
            Version::TLS13 => TicketUse::Once,
            _ => TicketUse::Often,
        };
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

impl ConnectionInitializer for Tickets {
    fn initialize_connection(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<Pin<Box<dyn ConnectionFuture>>>, Error> {
        self.resume(connection).map(|()| None)
    }
}

/// Makes a server encrypt its tickets with a new key.
pub(crate) fn seal(config: &mut Builder) -> Result<(), SetupError> {
    let (mut name, mut key) = ([0; 16], [0; 32]);
    for bytes in [&mut name[..], &mut key[..]] {
        getrandom::fill(bytes).map_err(refused("ticket key"))?;
    }
    config
        .add_session_ticket_key(&name, &key, SystemTime::now())
        .map(drop)
        .map_err(refused("ticket key"))
}
