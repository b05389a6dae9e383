//! Sessions over plain buffers.

use std::{
    any::Any,
    ffi::{c_int, c_void},
    io::{self, Read, Write},
    path::Path,
    task::{Poll, ready},
};

use errno::{Errno, set_errno};
use netbench_tls::{ClientAuth, HandshakeKind, Negotiated, TlsVersion};
use netbench_worker::{
    DrivenSession, Endpoint, EndpointSetup, InMemory, Lent, Pipe, Piped, Session, SessionError,
    SetupError, TICKETS, TrustRoots, Verifier, refused,
};
use s2n_tls::{
    callbacks::VerifyHostNameCallback,
    config::{Builder, Config},
    connection::{Builder as _, Connection},
    enums::{ClientAuthType, Mode},
    error::Error,
};

use crate::{
    client::{held_to, identify, trust, without_delays},
    ffi,
    negotiated::negotiated,
    policy::policy,
    stack::S2n,
    tickets::{Tickets, seal},
};

impl InMemory for S2n {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let material = setup.material;
        let mut config = both_sides(setup)?;
        trust(&mut config, &material.roots_pem)?;
        if setup.settings.client_auth == ClientAuth::On {
            let (chain, key) = (&material.client_chain_pem, &material.client_key_pem);
            identify(&mut config, chain, key)?;
        }
        let tickets = Tickets::default();
        if setup.kind == HandshakeKind::Ticket {
            config
                .set_session_ticket_callback(tickets.clone())
                .map_err(refused("tickets"))?;
        }
        let config = held_to(setup.settings.into(), config)?;
        let host = material.host.clone();
        Ok(Box::new(move || {
            let connection = connection(&config, &host, &tickets);
            session(connection, AfterHandshake::Nothing)
        }))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        let material = setup.material;
        let mut config = both_sides(setup)?;
        identify(&mut config, &material.chain_pem, &material.key_pem)?;
        if setup.settings.client_auth == ClientAuth::On {
            trust(&mut config, &material.roots_pem)?;
            config
                .set_verify_host_callback(AnyName)
                .and_then(Builder::set_certificate_authorities_from_trust_store)
                .map_err(refused("client authentication"))?;
        }
        let resumes = setup.kind == HandshakeKind::Ticket;
        if resumes {
            seal(&mut config)?;
        }
        let config = held_to(setup.settings.into(), config)?;
        let is_tls13 = setup.settings.version == TlsVersion::Tls13;
        let after = if resumes && is_tls13 {
            ffi::set_tickets(&config, u8::try_from(TICKETS).unwrap_or(u8::MAX))?;
            AfterHandshake::Tickets
        } else {
            AfterHandshake::Nothing
        };
        Ok(Box::new(move || {
            session(config.build_connection(Mode::Server), after)
        }))
    }

    fn verifier(&self, _: &str, _: &str) -> Result<Box<dyn Verifier>, SetupError> {
        unsupported("s2n-tls verifies chains in handshakes alone")
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let mut config = without_delays(Builder::new())?;
        match roots {
            TrustRoots::Pem(text) => trust(&mut config, text)?,
            TrustRoots::Der(_) => return unsupported("s2n-tls takes trust roots in PEM alone"),
            TrustRoots::File(path) => config
                .trust_location(Some(Path::new(path)), None)
                .map(drop)
                .map_err(refused("roots"))?,
        }
        Ok(Box::new(config.build().map_err(refused("configuration"))?))
    }
}

fn supported(setup: &EndpointSetup<'_>) -> Result<(), SetupError> {
    match (setup.kind, setup.settings.client_auth) {
        (HandshakeKind::SessionId, _) => {
            unsupported("the crate s2n-tls has no sessions that a server keeps, only tickets")
        }
        (HandshakeKind::Ticket, ClientAuth::On) => {
            unsupported("s2n-tls resumes no session with client authentication")
        }
        // Otherwise, a key that the library does not support would be refused as an invalid certificate.
        _ => policy(setup.settings.into()).map(drop),
    }
}

fn unsupported<T>(why: &str) -> Result<T, SetupError> {
    Err(SetupError::unsupported(why))
}

/// Makes the common part of both sides' configuration.
fn both_sides(setup: &EndpointSetup<'_>) -> Result<Builder, SetupError> {
    supported(setup)?;
    let mut config = without_delays(Builder::new())?;
    // Otherwise, the library's default applies. A client that excludes authentication computes fewer digests of a TLS
    // 1.2 handshake than usual clients, which may receive a request for a certificate.
    if setup.settings.client_auth == ClientAuth::On {
        config
            .set_client_auth_type(ClientAuthType::Required)
            .map_err(refused("client authentication"))?;
    }
    match setup.max_fragment_bytes {
        None => {}
        #[cfg(not(feature = "before-0-3-47"))]
        Some(bytes) => {
            let limited = config.set_max_fragment_length(bytes);
            limited.map_err(refused("maximum fragment"))?;
        }
        #[cfg(feature = "before-0-3-47")]
        Some(_) => {
            return unsupported("this version of s2n-tls cannot be told how long records may be");
        }
    }
    Ok(config)
}

/// A callback that accepts every name: as in other servers, the names in clients' certificates are not
/// checked.
struct AnyName;

impl VerifyHostNameCallback for AnyName {
    fn verify_host_name(&self, _: &str) -> bool {
        true
    }
}

/// Makes a client's connection, which resumes the newest session if there is one.
fn connection(config: &Config, host: &str, tickets: &Tickets) -> Result<Connection, Error> {
    let mut connection = config.build_connection(Mode::Client)?;
    connection.set_server_name(host)?;
    tickets.resume(&mut connection)?;
    Ok(connection)
}

fn session(
    made: Result<Connection, Error>,
    after: AfterHandshake,
) -> Result<Box<dyn Session>, SessionError> {
    Piped::session(made.and_then(|connection| PipedConnection::new(connection, after)))
}

/// The messages that a side sends after its handshake: by default, the library delays tickets until there are
/// data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterHandshake {
    Nothing,
    Tickets,
}

/// A connection whose transport is a pipe.
struct PipedConnection {
    connection: Connection,
    /// The context of the connection's callbacks, which is dropped after the connection.
    pipe: Lent<Pipe>,
    after: AfterHandshake,
}

/// Passes the available data to the library; without any, the library waits.
unsafe extern "C" fn receive(pipe: *mut c_void, buffer: *mut u8, bytes: u32) -> c_int {
    // SAFETY: the context is the connection's pipe, and the library's buffer has `bytes` bytes.
    match unsafe { Lent::read_into(pipe, buffer.cast(), bytes as usize, Pipe::read) } {
        Ok(count) => c_int::try_from(count).unwrap_or(c_int::MAX),
        Err(_) => {
            set_errno(Errno(libc::EWOULDBLOCK));
            -1
        }
    }
}

unsafe extern "C" fn send(pipe: *mut c_void, data: *const u8, bytes: u32) -> c_int {
    // SAFETY: as above.
    let sent = unsafe { Lent::write_from(pipe, data, bytes as usize, Pipe::write) };
    c_int::try_from(sent.unwrap_or(0)).unwrap_or(c_int::MAX)
}

impl PipedConnection {
    fn new(mut connection: Connection, after: AfterHandshake) -> Result<Self, Error> {
        let pipe = Lent::new(Pipe::default());
        connection
            .set_receive_callback(Some(receive))?
            .set_send_callback(Some(send))?;
        // SAFETY: the pipe lives longer than the connection, and no other code uses it during calls.
        unsafe {
            connection
                .set_receive_context(pipe.pointer())?
                .set_send_context(pipe.pointer())?;
        }
        Ok(Self {
            connection,
            pipe,
            after,
        })
    }
}

impl DrivenSession for PipedConnection {
    type Transport = Pipe;

    fn transport_mut(&mut self) -> &mut Pipe {
        &mut self.pipe
    }

    fn handshake(&mut self) -> Poll<io::Result<()>> {
        ready!(self.connection.poll_negotiate()).map_err(io::Error::other)?;
        if self.after == AfterHandshake::Tickets {
            ffi::send_tickets(&mut self.connection).map_err(io::Error::other)?;
        }
        Poll::Ready(Ok(()))
    }

    fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = self.connection.poll_recv(plaintext);
        read.map_err(io::Error::other)
    }

    fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>> {
        let sent = self.connection.poll_send(plaintext);
        sent.map_err(io::Error::other)
    }

    fn has_plaintext(&self) -> bool {
        self.connection.peek_len() > 0
    }

    fn release_buffers(&mut self) -> io::Result<Option<&'static str>> {
        let released = self.connection.release_buffers();
        released.map_err(io::Error::other)?;
        Ok(Some("s2n_connection_release_buffers"))
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(&self.connection)
    }

    fn resumed(&self) -> bool {
        self.connection.resumed()
    }
}

#[cfg(test)]
mod tests {
    use netbench_tls::{Aead, KeyType, SessionSettings};
    use netbench_worker::{EndpointSide, HandshakeState};
    use netbench_worker_test::plain::material;

    use super::*;
    use crate::libcrypto::Libcrypto;

    fn session(side: EndpointSide, client_auth: ClientAuth) -> Box<dyn Session> {
        let usual = SessionSettings::usual(TlsVersion::Tls12, KeyType::Rsa2048, Aead::Aes256Gcm);
        let setup = EndpointSetup {
            side,
            settings: &SessionSettings {
                client_auth,
                ..usual
            },
            kind: HandshakeKind::Full,
            max_fragment_bytes: None,
            material: &material(),
        };
        let stack = S2n::new("a test", Libcrypto::AwsLc);
        stack.endpoint(&setup).unwrap().session().unwrap()
    }

    /// The suite's client keeps the digests that a signature with its own certificate would need, as usual clients do.
    #[test]
    fn a_client_without_a_certificate_answers_a_request_for_one() {
        let mut client = session(EndpointSide::Client, ClientAuth::Off);
        let mut server = session(EndpointSide::Server, ClientAuth::On);
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        client.handshake(&mut to_client, &mut to_server).unwrap();
        server.handshake(&mut to_server, &mut to_client).unwrap();
        let state = client.handshake(&mut to_client, &mut to_server).unwrap();
        assert_eq!(state, HandshakeState::Going);
        assert!(!to_server.is_empty());
        // The server requires a certificate.
        server
            .handshake(&mut to_server, &mut to_client)
            .unwrap_err();
    }
}
