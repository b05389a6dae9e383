//! Continuation of a handshake after a HelloRetryRequest, on the same connection.

use std::rc::Rc;

use super::{
    prober::Prober,
    wire::{Reply, Wire},
};
use crate::{
    codec::{Flight, HelloSpec, ServerHello, extension, message},
    session::{PrivateShares, Session13, crypto::Hash},
};

/// The type of the message that takes the place of the first ClientHello in a transcript (RFC 8446 section 4.4.1).
const MESSAGE_HASH: u8 = 254;

impl Prober<'_> {
    /// Sends a second ClientHello with these keys after a HelloRetryRequest, and reads the encrypted flight that follows.
    /// Returns `None` if the flight cannot be read.
    pub(super) async fn after_retry(
        &self,
        spec: &HelloSpec,
        keys: &PrivateShares,
        retry: &Flight,
        mut wire: Wire,
    ) -> Option<Session13> {
        let second = second_hello(spec, keys, &retry.hello);
        let bytes = second.records(usize::MAX);
        wire.write(&bytes, &self.counts).await.ok()?;
        let reply = wire.flight_after_retry(&self.counts).await;
        let Reply::Flight(flight, mut wire) = reply else {
            return None;
        };
        let first = Hash::of(retry.hello.suite).of_bytes(&spec.message());
        let messages = [
            message(MESSAGE_HASH, &first).as_slice(),
            &retry.hello_message,
            &second.message(),
        ]
        .concat();
        self.decrypt(&messages, keys, &flight, &mut wire).await
    }

    /// Returns keys of the group that a HelloRetryRequest asks for, or `None` if they cannot be computed.
    pub(super) fn keys_for(retry: &ServerHello) -> Option<Rc<PrivateShares>> {
        let keys = PrivateShares::new(&[retry.group()?]);
        (!keys.is_empty()).then(|| Rc::new(keys))
    }
}

/// Returns the first hello with key shares, and with the server's cookie (RFC 8446 section 4.1.2).
fn second_hello(first: &HelloSpec, keys: &PrivateShares, retry: &ServerHello) -> HelloSpec {
    let mut second = first.clone();
    second.shares = Some(keys.public());
    if let Some(cookie) = retry.extension(extension::COOKIE) {
        second.more.push((extension::COOKIE, cookie.to_vec()));
    }
    second
}
