//! A connection over the runner's mock transport for QUIC, with rustls' interface for QUIC.

use netbench_bogo_shims::{
    exchange::{EarlyData, Endpoint, Retry},
    quic::{Level, Step, Stream},
    socket::Socket,
};
use rustls::{
    Connection, Error, ServerSide, VecInput,
    crypto::CipherSuite,
    error::AlertDescription,
    quic::{KeyChange, Quic as Transport, QuicEvent, Version},
};

use crate::{Failure, Options};

use super::{
    config::{Made, tag},
    expect::{Expect, Properties},
    sided::{Exporter, Sided},
};

pub(crate) struct Quic<'a> {
    connection: Sided<Transport>,
    stream: Stream,
    received: VecInput,
    exporter: Exporter,
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
        if options.number("-quic-use-legacy-codepoint") == Some(1) {
            return Err(Failure::unsupported("drafts of QUIC"));
        }
        let version = Version::V1;
        let params = options
            .bytes("-quic-transport-params")
            .unwrap_or_default()
            .to_vec();
        let connection = match made {
            Made::Client(config, name) => {
                let client = config.connect(name).build_quic(version, params);
                Sided::Client(Box::new(client.map_err(tag)?))
            }
            Made::Server(config) => {
                let server = Connection::<ServerSide, _>::new_quic(config, version, params);
                Sided::Server(Box::new(server.map_err(tag)?))
            }
        };
        Ok(Self {
            connection,
            stream: Stream::new(socket),
            received: VecInput::default(),
            exporter: Exporter::default(),
            expect,
            early: false,
            early_accepted: false,
        })
    }

    fn is_server(&self) -> bool {
        matches!(self.connection, Sided::Server(_))
    }

    fn suite(&self) -> Option<CipherSuite> {
        let suite = self.connection.state().negotiated_cipher_suite();
        suite.map(|suite| suite.suite())
    }

    fn secret(&self, label: &str) -> Result<Vec<u8>, Failure> {
        let secret = self.expect.observed.get().secrets.get(label).cloned();
        secret.ok_or_else(|| Failure::failed(format!("no {label}")))
    }

    /// Writes rustls' handshake data, and installs new keys.
    fn flush(&mut self) -> Result<(), Failure> {
        let events: Vec<_> = match &mut self.connection {
            Sided::Client(client) => client.events().collect(),
            Sided::Server(server) => server.events().collect(),
        };
        for event in events {
            match event {
                QuicEvent::Message(data) => self.stream.write_handshake(&data)?,
                QuicEvent::KeyChange(KeyChange::Handshake { .. }) => {
                    self.change_keys(Level::Handshake, "HANDSHAKE_TRAFFIC_SECRET")?;
                    self.stream.expect_level(Level::Handshake);
                }
                QuicEvent::KeyChange(KeyChange::OneRtt { .. }) => {
                    self.change_keys(Level::Application, "TRAFFIC_SECRET_0")?;
                }
                _ => return Err(Failure::failed("an unknown event")),
            }
        }
        Ok(())
    }

    fn is_handshaking(&self) -> bool {
        self.connection.state().is_handshaking()
    }

    /// Returns whether there are keys for early data.
    fn has_early_keys(&self) -> bool {
        match &self.connection {
            Sided::Client(client) => client.zero_rtt_keys().is_some(),
            Sided::Server(server) => server.zero_rtt_keys().is_some(),
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
        if !self.is_handshaking() {
            self.stream.expect_level(Level::Application);
        }
        let messages = match self.stream.read()? {
            Step::End => return Ok(false),
            Step::Data => return Ok(true),
            Step::Handshake(messages) => messages,
        };
        // The buffer takes a part of a long message at a time.
        let mut rest = messages.as_slice();
        while !rest.is_empty() {
            self.received.read(&mut rest)?;
            let read = match &mut self.connection {
                Sided::Client(client) => client.read_hs(&mut self.received),
                Sided::Server(server) => server.read_hs(&mut self.received),
            };
            if let Err(error) = read {
                return Err(self.fail(error));
            }
        }
        self.take_early_keys()?;
        self.flush()?;
        Ok(true)
    }

    fn fail(&mut self, error: Error) -> Failure {
        if let Ok(alert) = AlertDescription::try_from(&error) {
            // The peer may have disconnected already.
            let _gone = self.stream.write_alert(alert.into());
        }
        tag(error)
    }

    fn take_early_keys(&mut self) -> Result<(), Failure> {
        if self.is_server() && self.has_early_keys() && !self.early_accepted {
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
        while self.is_handshaking() {
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
        let Sided::Client(client) = &self.connection else {
            return Ok(());
        };
        self.early_accepted = client.side().is_early_data_accepted();
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
        let first = self.is_handshaking() && !self.is_server();
        if first && self.has_early_keys() {
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
        if let Some(want) = options.bytes("-expect-quic-transport-params")
            && !self.early
        {
            let got = match &self.connection {
                Sided::Client(client) => client.quic_transport_parameters(),
                Sided::Server(server) => server.quic_transport_parameters(),
            };
            let got = got.unwrap_or_default();
            if got != want {
                return Err(Failure::failed("QUIC transport params mismatch"));
            }
        }
        self.expect.check(&Properties {
            early: self.early,
            server_name: self.connection.server_name(),
            early_data_accepted: self.early_accepted,
            ..Properties::of(self.connection.state())
        })
    }

    fn export(
        &mut self,
        length: usize,
        label: &[u8],
        context: Option<&[u8]>,
    ) -> Result<Vec<u8>, Failure> {
        self.exporter
            .derive(&mut self.connection, length, label, context)
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
                if self.is_handshaking() {
                    return Err(Failure::failed("the stream ended in the handshake"));
                }
                return Ok(0);
            }
        }
        Ok(self.stream.take(buffer))
    }

    fn shutdown(&mut self) -> Result<(), Failure> {
        self.expect
            .check_end(self.connection.state().protocol_version())
    }
}
