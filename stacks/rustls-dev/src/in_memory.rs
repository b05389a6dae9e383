//! Sessions over plain buffers.

use std::{any::Any, mem, sync::Arc};

use netbench_protocol::Material;
use netbench_tls::{
    Aead, ClientAuth, FailureWord, Group, HandshakeKind, KeyType, Negotiated, SessionSettings,
    TlsVersion,
};
use netbench_worker::{
    Endpoint, EndpointSetup, HandshakeState, InMemory, InPlaceRecords, KEPT_SESSIONS, KeyExchange,
    RecordProtection, Session, SessionError, SetupError, Signatures, SigningPair, TICKETS,
    TrustRoots, Verifier, chains_of_server, failed, refused,
};
use rustls::{
    ClientConfig, Connection, Error, ServerConfig, ServerSide, SideData, Tcp, VecInput,
    client::Resumption,
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms},
    server::{
        NoServerSessionStorage, ServerSessionMemoryCache, Tls13Tickets, WebPkiClientVerifier,
    },
};
use rustls_pki_types::ServerName;
use rustls_ring::{ALL_VERIFICATION_ALGS, DEFAULT_PROVIDER};

use crate::{
    chain::WebPki,
    crypto::{self, RecordKeys, Signing},
    names,
    settings::{held_to, identity, lacks, mappings, roots},
    stack::NextLine,
};

impl InMemory for NextLine {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let (settings, material) = (setup.settings, setup.material);
        let builder = ClientConfig::builder(provider(settings)?)
            .with_root_certificates(roots(TrustRoots::Pem(&material.roots_pem))?);
        let config = match settings.client_auth {
            ClientAuth::Off => builder.with_no_client_auth(),
            ClientAuth::On => {
                let (chain, key) = identity(&material.client_chain_pem, &material.client_key_pem)?;
                builder.with_client_auth_cert(chain, key)
            }
        };
        let mut config = config.map_err(refused("client"))?;
        config.max_fragment_size = fragment(setup);
        config.resumption = match setup.kind {
            HandshakeKind::Full => Resumption::disabled(),
            // This is a client's default.
            HandshakeKind::SessionId | HandshakeKind::Ticket => {
                Resumption::in_memory_sessions(KEPT_SESSIONS)
            }
        };
        let name = ServerName::try_from(material.host.clone()).map_err(refused("host name"))?;
        let config = Arc::new(config);
        Ok(Box::new(move || {
            let mut hello = Vec::new();
            let connection = config.connect(name.clone()).build(&mut hello);
            session(connection, hello)
        }))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let (settings, material) = (setup.settings, setup.material);
        let provider = provider(settings)?;
        let builder = ServerConfig::builder(Arc::clone(&provider));
        let builder = match settings.client_auth {
            ClientAuth::Off => builder.with_no_client_auth(),
            ClientAuth::On => {
                let trust = roots(TrustRoots::Pem(&material.roots_pem))?;
                let verifier = WebPkiClientVerifier::builder(trust, &provider).build();
                let verifier = verifier.map_err(refused("verifier of clients"))?;
                builder.with_client_cert_verifier(Arc::new(verifier))
            }
        };
        let (chain, key) = identity(&material.chain_pem, &material.key_pem)?;
        let config = builder.with_single_cert(chain, key);
        let mut config = config.map_err(refused("chain and key"))?;
        config.max_fragment_size = fragment(setup);
        let tickets = match setup.kind {
            HandshakeKind::Full => 0,
            HandshakeKind::SessionId | HandshakeKind::Ticket => TICKETS,
        };
        config.send_tls13_tickets = Tls13Tickets {
            default: tickets,
            max: tickets,
        };
        config.session_storage = match setup.kind {
            HandshakeKind::SessionId => ServerSessionMemoryCache::new(KEPT_SESSIONS),
            HandshakeKind::Full | HandshakeKind::Ticket => Arc::new(NoServerSessionStorage {}),
        };
        if setup.kind == HandshakeKind::Ticket {
            let ticketer = provider.ticketer_factory.ticketer();
            config.ticketer = Some(ticketer.map_err(refused("ticketer"))?);
        }
        let config = Arc::new(config);
        Ok(Box::new(move || {
            let connection = Connection::<ServerSide, _>::new(Arc::clone(&config));
            session(connection, Vec::new())
        }))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let webpki = WebPki::new(roots(TrustRoots::Pem(roots_pem))?, &[]);
        let webpki = webpki.map_err(refused("verifier"))?;
        chains_of_server(webpki, host)
    }

    fn configuration(&self, trust: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let config = ClientConfig::builder(Arc::new(DEFAULT_PROVIDER))
            .with_root_certificates(roots(trust)?)
            .with_no_client_auth()
            .map_err(refused("configuration"))?;
        Ok(Box::new(Arc::new(config)))
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Ok(Box::new(SigningPair::new(Signing::new(key, material)?)))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        crypto::exchange(group)
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        Ok(Box::new(InPlaceRecords::new(RecordKeys::new(aead)?)))
    }
}

/// Returns the library's own provider, restricted to one suite, and to the groups and the schemes of the
/// settings.
fn provider(settings: &SessionSettings) -> Result<Arc<CryptoProvider>, SetupError> {
    let suites = [settings.suite()];
    let mut provider = held_to(&[settings.version], &suites, &settings.groups())?;
    let signatures = settings.signatures();
    let signs = provider.tls12_cipher_suites.iter().all(|suite| {
        let mut schemes = suite.sign.iter();
        schemes.any(|scheme| signatures.iter().any(|it| it.0 == scheme.0))
    });
    if !signs {
        let (version, key) = (settings.version, settings.key);
        return Err(lacks(&format!("no TLS {version} with keys of {key}")));
    }
    // rustls requires a list with static lifetime. One is made for each configuration, not for each session.
    let mapping = mappings(signatures)?.leak();
    provider.signature_verification_algorithms =
        WebPkiSupportedAlgorithms::new(ALL_VERIFICATION_ALGS, mapping)
            .map_err(|e| SetupError::refused("signature schemes", format!("{e:?}")))?;
    Ok(Arc::new(provider))
}

/// Returns the fragment size, in which rustls counts a record's header and protection.
fn fragment(setup: &EndpointSetup<'_>) -> Option<usize> {
    const TAG: usize = 16;
    let settings = setup.settings;
    let protection = match (settings.version, settings.aead) {
        // The protection includes the content type (RFC 8446 section 5.2).
        (TlsVersion::Tls13, _) => 1 + TAG,
        // The nonce is not sent (RFC 7905 section 2).
        (_, Aead::ChaCha20Poly1305) => TAG,
        // A part of the nonce is sent (RFC 5288 section 3).
        (_, _) => 8 + TAG,
    };
    Some(setup.max_fragment_with_header()? + protection)
}

/// Makes a session whose first data to send are `unsent`.
fn session<S: SideData + 'static>(
    connection: Result<Connection<S, Tcp>, Error>,
    unsent: Vec<u8>,
) -> Result<Box<dyn Session>, SessionError>
where
    Connection<S, Tcp>: Send,
{
    Ok(Box::new(Buffered {
        connection: connection.map_err(failed(FailureWord::Session))?,
        received: VecInput::default(),
        unsent,
    }))
}

/// A session with the library's own buffer for received data, which it reads as from a socket: as in earlier
/// lines, and in `stream.rs`. Sent data go to the caller's buffer.
struct Buffered<S: SideData> {
    connection: Connection<S, Tcp>,
    received: VecInput,
    /// Data to be sent that were ready outside of the caller's calls: a ClientHello, answers to messages that
    /// were received with data.
    unsent: Vec<u8>,
}

impl<S: SideData> Buffered<S> {
    fn write_out(&mut self, output: &mut Vec<u8>) {
        if output.is_empty() {
            mem::swap(output, &mut self.unsent);
        } else {
            output.append(&mut self.unsent);
        }
    }

    /// Reads all of `input` and passes the plaintext in it to `take`.
    fn read_in(
        &mut self,
        input: &mut Vec<u8>,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), SessionError> {
        let mut rest = input.as_slice();
        while !rest.is_empty() {
            self.received
                .read(&mut rest)
                .map_err(failed(FailureWord::Read))?;
            let mut messages = self
                .connection
                .read_tls(&mut self.received, &mut self.unsent);
            while let Some(payload) = messages.next_payload() {
                take(payload.map_err(failed(FailureWord::Handshake))?.bytes());
            }
        }
        input.clear();
        Ok(())
    }
}

impl<S: SideData> Session for Buffered<S>
where
    Connection<S, Tcp>: Send,
{
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        self.read_in(input, |_| ())?;
        self.write_out(output);
        Ok(if self.connection.is_handshaking() {
            HandshakeState::Going
        } else {
            HandshakeState::Done
        })
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.write_out(output);
        self.connection
            .write(plaintext.into(), output)
            .map_err(failed(FailureWord::Send))
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        let mut received = 0;
        self.read_in(input, |payload| {
            for part in payload.chunks(plaintext.len().max(1)) {
                if let Some(room) = plaintext.get_mut(..part.len()) {
                    room.copy_from_slice(part);
                }
            }
            received += payload.len();
        })?;
        Ok(received)
    }

    fn negotiated(&self) -> Negotiated {
        names::negotiated(&self.connection)
    }

    fn resumed(&self) -> bool {
        names::resumed(&self.connection)
    }
}

#[cfg(test)]
mod tests {
    use netbench_worker::EndpointSide;
    use netbench_worker_test::plain::material_of;

    use super::*;

    #[test]
    fn records_are_as_long_as_they_are_to_be() {
        let cases = [
            (TlsVersion::Tls13, Aead::Aes128Gcm, 17),
            (TlsVersion::Tls13, Aead::ChaCha20Poly1305, 17),
            (TlsVersion::Tls12, Aead::Aes256Gcm, 24),
            (TlsVersion::Tls12, Aead::ChaCha20Poly1305, 16),
        ];
        for (version, aead, protection) in cases {
            let settings = SessionSettings::usual(version, KeyType::EcdsaP256, aead);
            let records = [512 + protection, 488 + protection];
            assert_eq!(sent(&settings, Some(512), 1000), records);
            // By default, this line counts a record's protection as part of the 16 KiB that its plaintext may
            // have.
            assert_eq!(sent(&settings, None, 16_384), [16_384, 2 * protection]);
        }
    }

    /// Returns the lengths of the records in which a server sends `bytes`.
    fn sent(settings: &SessionSettings, most: Option<u16>, bytes: usize) -> Vec<usize> {
        let material = material_of(settings);
        let mut setup = EndpointSetup {
            side: EndpointSide::Client,
            settings,
            kind: HandshakeKind::Full,
            max_fragment_bytes: most,
            material: &material,
        };
        let stack = NextLine::new();
        let mut client = stack.client(&setup).unwrap().session().unwrap();
        setup.side = EndpointSide::Server;
        let mut server = stack.server(&setup).unwrap().session().unwrap();
        let (mut up, mut down) = (Vec::new(), Vec::new());
        while client.handshake(&mut down, &mut up).unwrap() == HandshakeState::Going
            || !up.is_empty()
        {
            server.handshake(&mut up, &mut down).unwrap();
        }
        let mut output = Vec::new();
        server.send(&vec![1; bytes], &mut output).unwrap();
        let mut lengths = Vec::new();
        let mut rest = output.as_slice();
        while let [_, _, _, high, low, after @ ..] = rest {
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            lengths.push(length);
            rest = &after[length..];
        }
        lengths
    }
}
