use std::fmt::Display;

use netbench_tls::FailureWord;

use crate::{KeyExchange, SessionError};

/// A key exchange in progress.
#[derive(Debug)]
pub struct Exchange<G, C, S, A, E> {
    group: G,
    calls: ExchangeCalls<G, C, S, A, E>,
    client: Option<C>,
    server: Option<S>,
    agreed: Option<A>,
}

/// The calls of a library for a key exchange in a group.
#[derive(Debug)]
pub struct ExchangeCalls<G, C, S, A, E> {
    /// Generates the client's key pair.
    pub start: fn(&G) -> Result<C, E>,
    /// Generates the server's share and computes its secret, from the client's key share.
    pub respond: fn(&G, &C) -> Result<S, E>,
    /// Computes the client's secret, and returns the key pair if it is not for one use.
    pub agree: Agree<G, C, S, A, E>,
    /// Returns the secrets of client and server.
    pub secrets: for<'a> fn(&'a A, &'a S) -> [&'a [u8]; 2],
}

/// A call that computes the client's secret in a group, from the client's key pair and the server's share.
pub type Agree<G, C, S, A, E> = fn(&G, C, &S) -> Result<(Option<C>, A), E>;

impl<G, C, S, A, E> Exchange<G, C, S, A, E> {
    /// Creates a key exchange that has not begun.
    pub fn new(group: G, calls: ExchangeCalls<G, C, S, A, E>) -> Self {
        Self {
            group,
            calls,
            client: None,
            server: None,
            agreed: None,
        }
    }
}

impl<G, C, S, A, E: Display> KeyExchange for Exchange<G, C, S, A, E> {
    fn key_share(&mut self) -> Result<(), SessionError> {
        self.client = Some((self.calls.start)(&self.group).map_err(failed)?);
        Ok(())
    }

    fn respond(&mut self) -> Result<(), SessionError> {
        let client = self.client.as_ref().ok_or_else(|| failed("no key share"))?;
        self.server = Some((self.calls.respond)(&self.group, client).map_err(failed)?);
        Ok(())
    }

    fn agree(&mut self) -> Result<(), SessionError> {
        let (Some(client), Some(server)) = (self.client.take(), &self.server) else {
            return Err(failed("no share"));
        };
        let (client, agreed) = (self.calls.agree)(&self.group, client, server).map_err(failed)?;
        (self.client, self.agreed) = (client, Some(agreed));
        Ok(())
    }

    fn secrets(&self) -> Option<[&[u8]; 2]> {
        Some((self.calls.secrets)(
            self.agreed.as_ref()?,
            self.server.as_ref()?,
        ))
    }
}

fn failed(why: impl Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_agree_once_for_each_key_share() {
        let calls = ExchangeCalls {
            start: |base: &u8| Ok::<_, String>(vec![*base]),
            respond: |base, client| Ok(vec![client[0] * base]),
            agree: |_, client, server| Ok((None, vec![client[0] * server[0], 1])),
            secrets: |client, server| [&client[..1], server.as_slice()],
        };
        let mut exchange = Exchange::new(2, calls);
        assert_eq!(exchange.respond(), Err(failed("no key share")));
        exchange.key_share().unwrap();
        assert_eq!(exchange.agree(), Err(failed("no share")));
        exchange.key_share().unwrap();
        exchange.respond().unwrap();
        assert_eq!(exchange.secrets(), None);
        exchange.agree().unwrap();
        assert_eq!(exchange.secrets(), Some([&[8][..], &[4]]));
        assert_eq!(exchange.agree(), Err(failed("no share")));
    }
}
