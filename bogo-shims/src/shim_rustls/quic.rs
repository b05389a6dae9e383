//! A connection over the runner's mock transport for QUIC, with rustls' interface for QUIC.

use crate::{
    Failure, Options,
    exchange::{EarlyData, Endpoint, Retry},
    quic::{Level, Step, Stream},
    socket::Socket,
};
use rustls::{
    CipherSuite, Error,
    quic::{ClientConnection, Connection, KeyChange, ServerConnection, Version},
};

use super::{
    config::{Made, tag},
    expect::{Expect, Properties},
};

pub(crate) struct Quic<'a> {
    connection: Connection,
    stream: Stream,
    expect: Expect<'a>,
    early: bool,
    early_accepted: bool,
}

impl<'a> Quic<'a> {
    pub(crate) fn new(made: Made, socket: Socket, expect: Expect<'a>) -> Result<Self, Failure> {
        let options = expect.options;
        if options.on("-expect-ech-accept") {
            return Err(Failure::unsupported("the state of ECH over QUIC"));
        }
        let version = match options.number("-quic-use-legacy-codepoint") {
            Some(1) => Version::V1Draft,
            _ => Version::V1,
        };
        let params = options
            .bytes("-quic-transport-params")
            .unwrap_or_default()
            .to_vec();
        let connection = match made {
            Made::Client(config, name) => Connection::Client(
                ClientConnection::new(config, version, name, params).map_err(tag)?,
            ),
            Made::Server(config) => {
                Connection::Server(ServerConnection::new(config, version, params).map_err(tag)?)
            }
        };
        Ok(Self {
            connection,
            stream: Stream::new(socket),
            expect,
            early: false,
            early_accepted: false,
        })
    }

    fn is_server(&self) -> bool {
        matches!(self.connection, Connection::Server(_))
    }

    fn suite(&self) -> Option<CipherSuite> {
        self.connection
            .negotiated_cipher_suite()
            .map(|suite| suite.suite())
    }

    fn secret(&self, label: &str) -> Result<Vec<u8>, Failure> {
        let secret = self.expect.observed.get().secrets.get(label).cloned();
        secret.ok_or_else(|| Failure::failed(format!("no {label}")))
    }

    /// Writes rustls' handshake data, and installs new keys.
    fn flush(&mut self) -> Result<(), Failure> {
        loop {
            let mut data = Vec::new();
            let change = self.connection.write_hs(&mut data);
            if !data.is_empty() {
                self.stream.write_handshake(&data)?;
            }
            match change {
                Some(KeyChange::Handshake { .. }) => {
                    self.change_keys(Level::Handshake, "HANDSHAKE_TRAFFIC_SECRET")?;
                    self.stream.expect_level(Level::Handshake);
                }
                Some(KeyChange::OneRtt { .. }) => {
                    self.change_keys(Level::Application, "TRAFFIC_SECRET_0")?;
                }
                None if data.is_empty() => return Ok(()),
                None => {}
            }
        }
    }

    fn change_keys(&mut self, level: Level, label: &str) -> Result<(), Failure> {
        let suite = self
            .suite()
            .ok_or_else(|| Failure::failed("keys without a suite"))?;
        let client = self.secret(&format!("CLIENT_{label}"))?;
        let server = self.secret(&format!("SERVER_{label}"))?;
        let (read, write) = if self.is_server() {
            (client, server)
        } else {
            (server, client)
        };
        self.stream.set_read_secret(level, suite.into(), &read);
        self.stream.set_write_secret(level, suite.into(), &write);
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
        if let Err(error) = self.connection.read_hs(&messages) {
            return Err(self.fail(error));
        }
        self.take_early_keys()?;
        self.flush()?;
        Ok(true)
    }

    fn fail(&mut self, error: Error) -> Failure {
        if let Some(alert) = self.connection.alert() {
            // The peer may have disconnected already.
            let _gone = self.stream.write_alert(alert.into());
        }
        tag(error)
    }

    fn take_early_keys(&mut self) -> Result<(), Failure> {
        if self.is_server() && self.connection.zero_rtt_keys().is_some() && !self.early_accepted {
            let secret = self.secret("CLIENT_EARLY_TRAFFIC_SECRET")?;
            let suite = self
                .suite()
                .ok_or_else(|| Failure::failed("keys without a suite"))?;
            self.stream
                .set_read_secret(Level::EarlyData, suite.into(), &secret);
            self.early_accepted = true;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        while self.connection.is_handshaking() {
            if self.is_server() && self.early_accepted && self.stream.can_write(Level::Application)
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
        let Connection::Client(client) = &self.connection else {
            return Ok(());
        };
        self.early_accepted = client.is_early_data_accepted();
        EarlyData::from(self.early_accepted).check(self.expect.options)?;
        self.check()
    }
}

impl<'a> Retry<'a> for Quic<'a> {
    fn retry(&mut self, options: &'a Options) {
        self.expect.options = options;
    }
}

impl Endpoint for Quic<'_> {
    fn handshake(&mut self) -> Result<(), Failure> {
        let first = self.connection.is_handshaking() && !self.is_server();
        if first && self.connection.zero_rtt_keys().is_some() {
            if self.expect.options.on("-expect-no-offer-early-data") {
                return Err(Failure::failed("early data was offered"));
            }
            self.flush()?;
            let secret = self.secret("CLIENT_EARLY_TRAFFIC_SECRET")?;
            let suite = self.expect.observed.get().offered_suite;
            let suite = suite.ok_or_else(|| Failure::failed("early data without a session"))?;
            self.stream
                .set_write_secret(Level::EarlyData, suite.into(), &secret);
            self.early = true;
            return Ok(());
        }
        self.finish()
    }

    fn check(&mut self) -> Result<(), Failure> {
        let options = self.expect.options;
        let connection = &self.connection;
        if let Some(want) = options.bytes("-expect-quic-transport-params")
            && !self.early
        {
            let got = connection.quic_transport_parameters().unwrap_or_default();
            if got != want {
                return Err(Failure::failed("QUIC transport params mismatch"));
            }
        }
        let server_name = match connection {
            Connection::Client(_) => None,
            Connection::Server(server) => server.server_name(),
        };
        self.expect.check(&Properties {
            early: self.early,
            server_name,
            early_data_accepted: self.early_accepted,
            ..Properties::of(connection)
        })
    }

    fn export(
        &mut self,
        length: usize,
        label: &[u8],
        context: Option<&[u8]>,
    ) -> Result<Vec<u8>, Failure> {
        self.connection
            .export_keying_material(vec![0; length], label, context)
            .map_err(tag)
    }

    fn traffic_secrets(&mut self) -> Result<Vec<u8>, Failure> {
        self.expect.traffic_secrets()
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
        self.expect.check_end(self.connection.protocol_version())
    }
}
