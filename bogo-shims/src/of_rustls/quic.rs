//! A connection over the runner's mock transport for QUIC, with rustls' interface for QUIC.

use super::{Connection, Line, MadeBy, expect::Expect};
use crate::{
    Failure, Options,
    exchange::{Endpoint, Material},
    expected::check_early_data,
    quic::{Level, Step, Stream},
    socket::Socket,
};

/// A connection of a line of rustls over QUIC.
pub trait OverQuic: Connection {
    /// Returns rustls' next handshake data and keys, in order, or an error for an event that this program does not know.
    fn events(&mut self) -> Result<Vec<QuicEvent>, Failure>;

    /// Makes rustls process messages of the peer. Returns its error with its alert.
    fn receive(&mut self, messages: &[u8]) -> Result<(), Refused>;

    /// Returns whether there are keys for early data.
    fn has_early_keys(&self) -> bool;

    /// Returns the peer's transport parameters.
    fn transport_parameters(&self) -> Option<&[u8]>;
}

/// An event of the handshake over QUIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuicEvent {
    /// Handshake data to send.
    Message(Vec<u8>),
    /// The keys of the handshake.
    HandshakeKeys,
    /// The keys of 1-RTT.
    OneRttKeys,
}

/// The refusal of messages of the peer.
#[derive(Debug)]
pub struct Refused {
    /// The alert for the peer.
    pub alert: Option<u8>,
    /// The error.
    pub failure: Failure,
}

pub(super) struct Quic<'a, L: Line> {
    connection: L::Quic,
    stream: Stream,
    expect: Expect<'a>,
    early: bool,
    early_accepted: bool,
}

impl<'a, L: Line> Quic<'a, L> {
    pub(super) fn new(
        made: MadeBy<L>,
        socket: Socket,
        expect: Expect<'a>,
    ) -> Result<Self, Failure> {
        let options = expect.options;
        if options.on("-expect-ech-accept") {
            return Err(Failure::unsupported("the state of ECH over QUIC"));
        }
        let params = options.bytes("-quic-transport-params").unwrap_or_default();
        Ok(Self {
            connection: L::over_quic(made, options, params.to_vec())?,
            stream: Stream::new(socket),
            expect,
            early: false,
            early_accepted: false,
        })
    }

    fn suite(&self) -> Result<u16, Failure> {
        let suite = self.connection.properties().agreed.suite;
        suite.ok_or_else(|| Failure::failed("keys without a suite"))
    }

    fn secret(&self, label: &str) -> Result<Vec<u8>, Failure> {
        let secret = self.expect.secret(label);
        secret.ok_or_else(|| Failure::failed(format!("no {label}")))
    }

    /// Writes rustls' handshake data, and installs new keys.
    fn flush(&mut self) -> Result<(), Failure> {
        for event in self.connection.events()? {
            match event {
                QuicEvent::Message(data) => self.stream.write_handshake(&data)?,
                QuicEvent::HandshakeKeys => {
                    self.change_keys(Level::Handshake, "HANDSHAKE_TRAFFIC_SECRET")?;
                    self.stream.expect_level(Level::Handshake);
                }
                QuicEvent::OneRttKeys => {
                    self.change_keys(Level::Application, "TRAFFIC_SECRET_0")?;
                }
            }
        }
        Ok(())
    }

    fn change_keys(&mut self, level: Level, label: &str) -> Result<(), Failure> {
        let suite = self.suite()?;
        let client = self.secret(&format!("CLIENT_{label}"))?;
        let server = self.secret(&format!("SERVER_{label}"))?;
        let (read, write) = if self.expect.is_server() {
            (client, server)
        } else {
            (server, client)
        };
        self.stream.set_read_secret(level, suite, &read);
        self.stream.set_write_secret(level, suite, &write);
        Ok(())
    }

    /// Reads one record; returns whether there was one.
    fn step(&mut self) -> Result<bool, Failure> {
        self.flush()?;
        if !self.connection.is_handshaking() {
            self.stream.expect_level(Level::Application);
        }
        let messages = match self.stream.read()? {
            Step::End => return Ok(false),
            Step::Data => return Ok(true),
            Step::Handshake(messages) => messages,
        };
        if let Err(Refused { alert, failure }) = self.connection.receive(&messages) {
            if let Some(alert) = alert {
                // The peer may have disconnected already.
                let _gone = self.stream.write_alert(alert);
            }
            return Err(failure);
        }
        self.take_early_keys()?;
        self.flush()?;
        Ok(true)
    }

    fn take_early_keys(&mut self) -> Result<(), Failure> {
        if self.expect.is_server() && self.connection.has_early_keys() && !self.early_accepted {
            let secret = self.secret("CLIENT_EARLY_TRAFFIC_SECRET")?;
            let suite = self.suite()?;
            self.stream
                .set_read_secret(Level::EarlyData, suite, &secret);
            self.early_accepted = true;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        while self.connection.is_handshaking() {
            if self.expect.is_server()
                && self.early_accepted
                && self.stream.can_write(Level::Application)
            {
                break;
            }
            if !self.step()? {
                return Err(Failure::failed("the stream ended in the handshake"));
            }
        }
        self.flush()
    }

    fn leave_early_data(&mut self) -> Result<(), Failure> {
        self.early = false;
        self.finish()?;
        if self.expect.is_server() {
            return Ok(());
        }
        self.early_accepted = self.connection.is_early_data_accepted();
        check_early_data(self.expect.options, self.early_accepted)?;
        self.check()
    }
}

impl<'a, L: Line> Endpoint<'a> for Quic<'a, L> {
    fn retry(&mut self, options: &'a Options) {
        self.expect.options = options;
    }

    fn handshake(&mut self) -> Result<(), Failure> {
        let first = self.connection.is_handshaking() && !self.expect.is_server();
        if first && self.connection.has_early_keys() {
            if self.expect.options.on("-expect-no-offer-early-data") {
                return Err(Failure::failed("early data was offered"));
            }
            self.flush()?;
            let secret = self.secret("CLIENT_EARLY_TRAFFIC_SECRET")?;
            let suite = self.expect.observed.get().offered_suite;
            let suite = suite.ok_or_else(|| Failure::failed("early data without a session"))?;
            self.stream
                .set_write_secret(Level::EarlyData, suite, &secret);
            self.early = true;
            return Ok(());
        }
        self.finish()
    }

    fn check(&mut self) -> Result<(), Failure> {
        if let Some(want) = self.expect.options.bytes("-expect-quic-transport-params")
            && !self.early
            && self.connection.transport_parameters().unwrap_or_default() != want
        {
            return Err(Failure::failed("QUIC transport params mismatch"));
        }
        if self.early {
            return self.expect.check_offered();
        }
        let is = self.connection.properties();
        self.expect.check::<L>(&is, self.early_accepted)
    }

    fn export(&mut self, wanted: &Material<'_>) -> Result<Vec<u8>, Failure> {
        self.connection.export(wanted)
    }

    fn secret(&self, label: &str) -> Option<Vec<u8>> {
        self.expect.secret(label)
    }

    fn write(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.flush()?;
        let level = if self.early {
            Level::EarlyData
        } else {
            Level::Application
        };
        self.stream.write_data(level, data)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        if self.early {
            self.leave_early_data()?;
        }
        while !self.stream.has_data() {
            if !self.step()? {
                if self.connection.is_handshaking() {
                    return Err(Failure::failed("the stream ended in the handshake"));
                }
                return Ok(0);
            }
        }
        Ok(self.stream.take(buffer))
    }

    fn shutdown(&mut self) -> Result<(), Failure> {
        self.expect
            .check_end(self.connection.properties().agreed.version)
    }
}
