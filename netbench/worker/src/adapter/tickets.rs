use std::{
    borrow::Borrow,
    sync::{Mutex, PoisonError},
};

use netbench_tls::TlsVersion;

/// Maximum number of sessions that a client keeps: the same as rustls'.
const KEPT: usize = 8;

/// The sessions that a client can resume, for libraries that leave their storage to the user. `K` identifies the
/// server.
#[derive(Debug)]
pub struct Tickets<K, T>(Mutex<Vec<Ticket<K, T>>>);

#[derive(Debug)]
struct Ticket<K, T> {
    server: K,
    allowed: TicketUse,
    session: T,
}

/// The number of times that a session may be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketUse {
    /// Once, as a ticket of TLS 1.3 (RFC 8446 appendix C.4).
    Once,
    /// Many times, as a session of TLS 1.2.
    Often,
}

impl TicketUse {
    /// Returns the use of a session of `version`.
    pub fn of(version: TlsVersion) -> Self {
        match version {
            TlsVersion::Tls13 => Self::Once,
            _ => Self::Often,
        }
    }
}

impl<K, T> Default for Tickets<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, T> Tickets<K, T> {
    /// Keeps a session, in place of the oldest one if there are too many.
    pub fn keep(&self, server: K, allowed: TicketUse, session: T) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Ticket {
            server,
            allowed,
            session,
        });
    }

    /// Calls `resume` with the newest session of a server, if there is one. A session for one use is removed.
    pub fn resume_newest<Q, R>(&self, server: &Q, resume: impl FnOnce(&T) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: PartialEq + ?Sized,
    {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = kept.iter().rposition(|it| it.server.borrow() == server)?;
        Some(match kept[newest].allowed {
            TicketUse::Once => resume(&kept.remove(newest).session),
            TicketUse::Often => resume(&kept[newest].session),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_session_of_a_server_is_resumed_as_often_as_it_may_be() {
        let tickets: Tickets<String, u32> = Tickets::default();
        tickets.keep("a".to_owned(), TicketUse::Often, 1);
        tickets.keep("a".to_owned(), TicketUse::Once, 2);
        tickets.keep("b".to_owned(), TicketUse::Once, 3);
        let resumed: Vec<_> = ["a", "a", "a", "b", "b", "c"]
            .into_iter()
            .map(|server| tickets.resume_newest(server, |session| *session))
            .collect();
        assert_eq!(resumed, [Some(2), Some(1), Some(1), Some(3), None, None]);
    }

    #[test]
    fn the_oldest_session_makes_room() {
        let tickets: Tickets<(), usize> = Tickets::default();
        for session in 0..=KEPT {
            tickets.keep((), TicketUse::Once, session);
        }
        let resumed = std::iter::from_fn(|| tickets.resume_newest(&(), |session| *session));
        assert_eq!(
            resumed.collect::<Vec<_>>(),
            (1..=KEPT).rev().collect::<Vec<_>>()
        );
    }
}
