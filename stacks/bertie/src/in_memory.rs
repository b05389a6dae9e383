//! Sessions over plain buffers. Bertie's state machine has its own type for records; they are copied into and
//! out of it as in Bertie's own stream.

use std::any::Any;

use bertie::{
    Client, Server,
    server::ServerDB,
    tls13crypto::Algorithms,
    tls13utils::{AppData, Bytes, TLSError},
};
use netbench_tls::{FailureWord, Negotiated};
use netbench_worker::{
    Endpoint, EndpointSetup, HandshakeState, InMemory, Observed, Session, SessionError, SetupError,
    TrustRoots, Verifier, first_record,
};
use rand::thread_rng;

use crate::{
    key,
    settings::{algorithms, unsupported},
    stack::BertieStack,
};

/// The maximum plaintext of a record (RFC 8446 section 5.1). Bertie leaves the limit to its user.
const RECORD: u16 = 1 << 14;

impl InMemory for BertieStack {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let (algorithms, record, host, leaf) = common(setup)?;
        let leaf_bytes = u32::try_from(leaf.len()).unwrap_or(u32::MAX);
        Ok(Box::new(move || {
            let side = Side::New(Begin::Client(host.clone()), algorithms);
            session(side, record, vec![leaf_bytes])
        }))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let (algorithms, record, host, leaf) = common(setup)?;
        let key = key::signature_key(&setup.material.key_pem, algorithms.signature())?;
        let identity = ServerDB::new(host, Bytes::from(leaf), key, None);
        Ok(Box::new(move || {
            let begin = Begin::Server(Box::new(identity.clone()));
            session(Side::New(begin, algorithms), record, Vec::new())
        }))
    }

    fn verifier(&self, _: &str, _: &str) -> Result<Box<dyn Verifier>, SetupError> {
        unsupported("Bertie verifies no certificates")
    }

    fn configuration(&self, _: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        unsupported("Bertie has no trust roots")
    }
}

/// Returns the suite, the maximum plaintext of a record, the server's name, and its certificate.
fn common(setup: &EndpointSetup<'_>) -> Result<(Algorithms, usize, Bytes, Vec<u8>), SetupError> {
    let algorithms = algorithms(setup)?;
    let record = setup.max_fragment_bytes.unwrap_or(RECORD);
    if !(1..=RECORD).contains(&record) {
        let why = format!("maximum fragment: from 1 to {RECORD} bytes");
        return Err(SetupError::Refused(why));
    }
    let material = setup.material;
    let host = Bytes::from(material.host.as_bytes());
    let leaf = key::certificate(&material.chain_pem)?;
    Ok((algorithms, usize::from(record), host, leaf))
}

fn session(
    side: Side,
    record: usize,
    chain_bytes: Vec<u32>,
) -> Result<Box<dyn Session>, SessionError> {
    Ok(Box::new(Records {
        side,
        record,
        chain_bytes,
        hello: Vec::new(),
    }))
}

/// The initial data of a side.
enum Begin {
    Client(Bytes),
    Server(Box<ServerDB>),
}

/// Bertie's states. Each step consumes a state and returns the next.
enum Side {
    New(Begin, Algorithms),
    Client(Client),
    Server(Server),
    Failed,
}

struct Records {
    side: Side,
    /// The maximum plaintext of a sent record.
    record: usize,
    /// The sizes of the server's certificates, for a client: its signature verifies with no other
    /// certificate, and Bertie does not report them.
    chain_bytes: Vec<u32>,
    /// The ServerHello, from which the suite and the group are read.
    hello: Vec<u8>,
}

fn failed(what: FailureWord) -> impl Fn(TLSError) -> SessionError {
    move |code| SessionError::new(what, format!("Bertie's error {code}"))
}

/// Splits off the first record from the bytes after it.
fn record(bytes: &[u8], what: FailureWord) -> Result<(Bytes, &[u8]), SessionError> {
    let split = first_record(bytes);
    let (record, rest) = split.ok_or_else(|| SessionError::new(what, "a part of a record"))?;
    Ok((Bytes::from(record), rest))
}

fn put(output: &mut Vec<u8>, record: &Bytes) {
    output.extend_from_slice(&record.declassify());
}

impl Records {
    fn next(&mut self) -> Side {
        std::mem::replace(&mut self.side, Side::Failed)
    }

    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<HandshakeState, SessionError> {
        const WHAT: FailureWord = FailureWord::Handshake;
        let (side, state) = match self.next() {
            Side::New(Begin::Client(host), algorithms) => {
                let (hello, client) =
                    Client::connect(algorithms, &host, None, None, &mut thread_rng())
                        .map_err(failed(WHAT))?;
                put(output, &hello);
                (Side::Client(client), HandshakeState::Going)
            }
            Side::New(Begin::Server(identity), algorithms) => {
                let (hello, _) = record(input, WHAT)?;
                let (hello, finished, server) =
                    Server::accept(algorithms, *identity, &hello, &mut thread_rng())
                        .map_err(failed(WHAT))?;
                put(output, &hello);
                self.hello.clone_from(output);
                put(output, &finished);
                (Side::Server(server), HandshakeState::Going)
            }
            Side::Client(mut client) => {
                if self.hello.is_empty() {
                    let (_, after) = record(input, WHAT)?;
                    let hello = &input[..input.len() - after.len()];
                    self.hello.extend_from_slice(hello);
                }
                let (mut rest, mut state) = (input, HandshakeState::Going);
                while !rest.is_empty() {
                    let (next, after) = record(rest, WHAT)?;
                    let (finished, read) = client.read_handshake(&next).map_err(failed(WHAT))?;
                    (client, rest) = (read, after);
                    if let Some(finished) = finished {
                        put(output, &finished);
                        state = HandshakeState::Done;
                    }
                }
                (Side::Client(client), state)
            }
            Side::Server(server) => {
                let (finished, _) = record(input, WHAT)?;
                let server = server.read_handshake(&finished).map_err(failed(WHAT))?;
                (Side::Server(server), HandshakeState::Done)
            }
            Side::Failed => return Err(SessionError::new(WHAT, "it has failed before")),
        };
        self.side = side;
        Ok(state)
    }
}

impl Session for Records {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        let stepped = self.step(input, output);
        input.clear();
        stepped
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        const WHAT: FailureWord = FailureWord::Send;
        for data in plaintext.chunks(self.record) {
            let data = AppData::new(Bytes::from(data));
            let (sent, side) = match self.next() {
                Side::Client(client) => {
                    let (sent, client) = client.write(data).map_err(failed(WHAT))?;
                    (sent, Side::Client(client))
                }
                Side::Server(server) => {
                    let (sent, server) = server.write(data).map_err(failed(WHAT))?;
                    (sent, Side::Server(server))
                }
                Side::New(..) | Side::Failed => {
                    return Err(SessionError::new(WHAT, "no finished handshake"));
                }
            };
            self.side = side;
            put(output, &sent);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        const WHAT: FailureWord = FailureWord::Receive;
        let (mut rest, mut received) = (&input[..], 0);
        while !rest.is_empty() {
            let (next, after) = record(rest, WHAT)?;
            rest = after;
            let (data, side) = match self.next() {
                Side::Client(client) => {
                    let (data, client) = client.read(&next).map_err(failed(WHAT))?;
                    (data, Side::Client(client))
                }
                Side::Server(server) => {
                    let (data, server) = server.read(&next).map_err(failed(WHAT))?;
                    (data, Side::Server(server))
                }
                Side::New(..) | Side::Failed => {
                    return Err(SessionError::new(WHAT, "no finished handshake"));
                }
            };
            self.side = side;
            let data = data.map(|data| data.into_raw().declassify());
            let room = plaintext.len().max(1);
            for part in data.unwrap_or_default().chunks(room) {
                if let Some(room) = plaintext.get_mut(..part.len()) {
                    room.copy_from_slice(part);
                }
                received += part.len();
            }
        }
        input.clear();
        Ok(received)
    }

    fn negotiated(&self) -> Negotiated {
        let mut observed = Observed::default();
        observed.received(&self.hello);
        Negotiated {
            chain_bytes: self.chain_bytes.clone(),
            ..observed.negotiated()
        }
    }

    fn resumed(&self) -> bool {
        let mut observed = Observed::default();
        observed.received(&self.hello);
        observed.negotiated().resumed
    }
}

#[cfg(test)]
mod tests {
    use netbench_lab::suite_pki;
    use netbench_protocol::Material;
    use netbench_tls::{Aead, HandshakeKind, KeyType, SessionSettings, TlsVersion};
    use netbench_worker::EndpointSide;

    use super::*;
    use crate::settings::GROUPS;

    /// Checks every key, group and suite that Bertie has; the scenarios of other stacks' tests have longer
    /// chains.
    #[test]
    fn sessions_agree_on_what_they_are_set_to_and_carry_data() {
        let keys = [KeyType::EcdsaP256, KeyType::Rsa2048, KeyType::Rsa3072];
        for key in keys {
            let material = suite_pki(key, 1);
            for aead in Aead::ALL.iter().copied() {
                for (group, _) in GROUPS {
                    let settings = SessionSettings {
                        group,
                        chain_length: 1,
                        ..SessionSettings::usual(TlsVersion::Tls13, key, aead)
                    };
                    session(&settings, &material);
                }
            }
        }
    }

    fn session(settings: &SessionSettings, material: &Material) {
        let [mut client, mut server] = [EndpointSide::Client, EndpointSide::Server].map(|side| {
            let setup = EndpointSetup {
                side,
                settings,
                kind: HandshakeKind::Full,
                max_fragment_bytes: None,
                material,
            };
            BertieStack.endpoint(&setup).unwrap().session().unwrap()
        });
        let (mut up, mut down) = (Vec::new(), Vec::new());
        client.handshake(&mut down, &mut up).unwrap();
        server.handshake(&mut up, &mut down).unwrap();
        let done = client.handshake(&mut down, &mut up).unwrap();
        assert_eq!(done, HandshakeState::Done);
        let done = server.handshake(&mut up, &mut down).unwrap();
        assert_eq!(done, HandshakeState::Done);
        for side in [&client, &server] {
            let agreed = side.negotiated();
            assert_eq!(agreed.version, Some(TlsVersion::Tls13));
            assert_eq!(agreed.suite, Some(settings.suite()));
            assert_eq!(agreed.group, Some(settings.group));
            assert!(!side.resumed());
        }
        assert_eq!(client.negotiated().chain_bytes.len(), 1);

        let sent: Vec<u8> = (0..40_000).map(|i| (i % 251) as u8).collect();
        server.send(&sent, &mut down).unwrap();
        let mut last = [0; 40_000 % (1 << 14)];
        assert_eq!(client.receive(&mut down, &mut last).unwrap(), sent.len());
        assert!(sent.ends_with(&last));
        server.send(&sent, &mut down).unwrap();
        down[20_000] ^= 1;
        assert!(client.receive(&mut down, &mut last).is_err());
    }
}
