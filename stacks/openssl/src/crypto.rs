//! The key exchange of a handshake, by the same calls as in libssl.

use netbench_tls::{FailureWord, Group};
use netbench_worker::{KeyExchange, SessionError, SetupError};
use openssl::{
    error::ErrorStack,
    pkey::{PKey, Private},
};

use crate::{
    exchange::{derive, encoded, peer},
    line::{decapsulate, encapsulate, key_pair},
};

fn failed(why: impl std::fmt::Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, why)
}

/// Both sides of a key exchange.
pub(crate) struct Exchange {
    group: Group,
    client: PKey<Private>,
    share: Vec<u8>,
    /// The server's message, and its secret.
    answer: (Vec<u8>, Vec<u8>),
    secret: Vec<u8>,
}

impl Exchange {
    pub(crate) fn new(group: Group) -> Result<Self, SetupError> {
        let client = key_pair(group)
            .map_err(|_| SetupError::Unsupported(format!("no {group} in this OpenSSL")))?;
        Ok(Self {
            group,
            client,
            share: Vec::new(),
            answer: Default::default(),
            secret: Vec::new(),
        })
    }

    fn is_kem(&self) -> bool {
        self.group == Group::X25519MLKEM768
    }

    fn answered(&self) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
        let client = peer(&self.client, &self.share)?;
        if self.is_kem() {
            return encapsulate(&client);
        }
        let own = key_pair(self.group)?;
        Ok((encoded(&own)?, derive(&own, &client)?))
    }

    fn agreed(&self) -> Result<Vec<u8>, ErrorStack> {
        if self.is_kem() {
            return decapsulate(&self.client, &self.answer.0);
        }
        derive(&self.client, &*peer(&self.client, &self.answer.0)?)
    }
}

impl KeyExchange for Exchange {
    fn key_share(&mut self) -> Result<(), SessionError> {
        self.client = key_pair(self.group).map_err(failed)?;
        self.share = encoded(&self.client).map_err(failed)?;
        Ok(())
    }

    fn respond(&mut self) -> Result<(), SessionError> {
        self.answer = self.answered().map_err(failed)?;
        Ok(())
    }

    fn agree(&mut self) -> Result<(), SessionError> {
        self.secret = self.agreed().map_err(failed)?;
        Ok(())
    }

    fn secrets(&self) -> Option<[&[u8]; 2]> {
        Some([&self.secret, &self.answer.1])
    }
}
