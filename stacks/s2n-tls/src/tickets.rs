use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use netbench_worker::SetupError;
use s2n_tls::{
    callbacks::{ConnectionFuture, SessionTicket, SessionTicketCallback},
    config::{Builder, ConnectionInitializer},
    connection::Connection,
    enums::Version,
    error::Error,
};

/// The maximum number of tickets that a client keeps: the same as rustls'.
const KEPT: usize = 8;

/// The sessions that a client can resume. The crate leaves their storage to its users.
#[derive(Clone, Default)]
pub(crate) struct Tickets(Arc<Mutex<Vec<Ticket>>>);

#[derive(Clone)]
struct Ticket {
    host: String,
    version: Version,
    state: Vec<u8>,
}

impl Tickets {
    /// Makes `connection` resume the newest session with its server, if there is one. A ticket of TLS 1.3 is
    /// for one use (RFC 8446 appendix C.4), a session of TLS 1.2 for many.
    pub(crate) fn resume(&self, connection: &mut Connection) -> Result<(), Error> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let host = connection.server_name().unwrap_or_default();
        let Some(at) = kept.iter().rposition(|ticket| ticket.host == host) else {
            return Ok(());
        };
        let ticket = if kept[at].version == Version::TLS13 {
            kept.remove(at)
        } else {
            kept[at].clone()
        };
        drop(kept);
        connection.set_session_ticket(&ticket.state).map(drop)
    }

    fn keep(&self, connection: &Connection, ticket: &SessionTicket) -> Result<(), Error> {
        let mut state = vec![0; ticket.len()?];
        ticket.data(&mut state)?;
        let new = Ticket {
            host: connection.server_name().unwrap_or_default().to_owned(),
            version: connection.actual_protocol_version()?,
            state,
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(new);
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
        getrandom::fill(bytes).map_err(|e| SetupError::refused("ticket key", e))?;
    }
    config
        .add_session_ticket_key(&name, &key, SystemTime::now())
        .map(drop)
        .map_err(|e| SetupError::refused("ticket key", e))
}
