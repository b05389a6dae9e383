//! A connection over TCP.

use std::io::{Read, Write};

use netbench_bogo_shims::{
    exchange::{EarlyData, Endpoint, Retry},
    socket::Socket,
};
use rustls::{Connection, Error, ServerSide, Tcp, VecInput, client::EchStatus};

use crate::{Failure, Options};

use super::{
    config::{Made, tag},
    expect::{Expect, Properties},
    sided::{Exporter, Sided},
};

/// The types of two messages (RFC 8446 section 4).
const SERVER_HELLO: i64 = 2;
const ENCRYPTED_EXTENSIONS: i64 = 8;

pub(crate) struct Tls<'a> {
    connection: Sided<Tcp>,
    socket: Socket,
    expect: Expect<'a>,
    received: VecInput,
    /// Records that are yet to be sent.
    outgoing: Vec<u8>,
    /// Data that are yet to be read.
    plaintext: Vec<u8>,
    exporter: Exporter,
    /// Whether this client may send early data.
    early: bool,
    /// Whether the server, this one or the client's, accepted early data.
    early_accepted: bool,
    /// Whether a write was left unfinished on purpose.
    holding: bool,
    /// Whether the stream ended.
    ended: bool,
    /// Whether the peer sent close_notify.
    closed: bool,
    /// An error after data that are still to be read.
    failed: Option<Failure>,
}

impl<'a> Tls<'a> {
    pub(crate) fn new(made: Made, socket: Socket, expect: Expect<'a>) -> Result<Self, Failure> {
        let mut outgoing = Vec::new();
        let connection = match made {
            Made::Client(config, name) => {
                let client = config.connect(name).build(&mut outgoing).map_err(tag)?;
                Sided::Client(Box::new(client))
            }
            Made::Server(config) => Sided::Server(Box::new(
                Connection::<ServerSide, _>::new(config).map_err(tag)?,
            )),
        };
        Ok(Self {
            connection,
            socket,
            expect,
            received: VecInput::default(),
            outgoing,
            plaintext: Vec::new(),
            exporter: Exporter::default(),
            early: false,
            early_accepted: false,
            holding: false,
            ended: false,
            closed: false,
            failed: None,
        })
    }

    fn is_handshaking(&self) -> bool {
        self.connection.state().is_handshaking()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if !self.holding && !self.outgoing.is_empty() {
            let outgoing = std::mem::take(&mut self.outgoing);
            self.socket.write_all(&outgoing)?;
            self.socket.flush()?;
        }
        Ok(())
    }

    /// Makes rustls process the received data.
    fn process(&mut self) -> Result<(), Error> {
        match &mut self.connection {
            Sided::Client(client) => {
                let mut messages = client.read_tls(&mut self.received, &mut self.outgoing);
                while let Some(payload) = messages.next_payload() {
                    self.plaintext.extend_from_slice(payload?.bytes());
                }
                self.closed |= messages.state().peer_has_closed();
            }
            Sided::Server(server) => {
                let mut messages = server.read_tls(&mut self.received, &mut self.outgoing);
                while let Some(payload) = messages.next_early_data() {
                    self.plaintext.extend_from_slice(payload?.bytes());
                }
                while let Some(payload) = messages.next_payload() {
                    self.plaintext.extend_from_slice(payload?.bytes());
                }
                self.closed |= messages.state().peer_has_closed();
                // A server has this exporter once it has accepted early data.
                self.early_accepted |= server.early_exporter().is_ok();
            }
        }
        Ok(())
    }

    /// Reads from the runner once, and makes rustls process the data.
    fn step(&mut self) -> Result<(), Failure> {
        self.flush()?;
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        // rustls has no asynchronous calls to wait for; `-async` only means a slow network.
        let at_once = if self.expect.options.on("-async") {
            1
        } else {
            1 << 16
        };
        let read = self.received.read(&mut (&mut self.socket).take(at_once))?;
        self.ended |= read == 0;
        if let Err(error) = self.process() {
            // The flush sends the alert; the peer may have disconnected already.
            let _gone = self.flush();
            let failure = self.explain(error);
            if self.is_handshaking() {
                return Err(failure);
            }
            self.failed = Some(failure);
        }
        if self.ended && self.is_handshaking() {
            return Err(Failure::failed("the stream ended in the handshake"));
        }
        Ok(())
    }

    fn explain(&self, error: Error) -> Failure {
        match self.expect.check_failed() {
            Err(failure) => failure,
            Ok(()) => tag(error),
        }
    }

    /// Continues the handshake until it is done, or early data may be sent.
    fn advance(&mut self) -> Result<(), Failure> {
        while self.is_handshaking() {
            if matches!(self.connection, Sided::Server(_)) && self.early_accepted {
                break;
            }
            self.step()?;
        }
        self.flush()
    }

    /// Starts early data as a client that has just begun, where the session permits them. rustls makes the
    /// handshake while it reads and writes, so `-implicit-handshake` makes no difference.
    fn enter_early_data(&mut self) -> Result<(), Failure> {
        let Sided::Client(client) = &mut self.connection else {
            return Ok(());
        };
        let offered = client.is_handshaking() && client.early_data().is_some();
        let unwanted = self.expect.resume && self.expect.options.on("-expect-no-offer-early-data");
        if offered && unwanted {
            return Err(Failure::failed("early data was offered"));
        }
        self.early |= offered;
        Ok(())
    }

    /// Makes rustls process `left` handshake records, which hold a message each: rustls does not report
    /// messages.
    fn read_records(&mut self, mut left: usize) -> Result<(), Failure> {
        const CHANGE_CIPHER_SPEC: u8 = 20;
        while left > 0 {
            let mut record = vec![0; 5];
            self.socket.read_exact(&mut record)?;
            let length = usize::from(u16::from_be_bytes([record[3], record[4]]));
            record.resize(5 + length, 0);
            self.socket.read_exact(&mut record[5..])?;
            let mut rest = record.as_slice();
            while !rest.is_empty() {
                self.received.read(&mut rest)?;
            }
            self.process().map_err(tag)?;
            left -= usize::from(record[0] != CHANGE_CIPHER_SPEC);
        }
        Ok(())
    }

    /// Completes the handshake as a client in early data, and finds out whether the data were accepted.
    fn leave_early_data(&mut self) -> Result<(), Failure> {
        self.early = false;
        while self.is_handshaking() {
            self.step()?;
        }
        // The messages of the handshake follow an unfinished write, and complete it.
        self.holding = false;
        self.flush()?;
        let Sided::Client(client) = &self.connection else {
            return Ok(());
        };
        self.early_accepted = client.side().is_early_data_accepted();
        EarlyData::from(self.early_accepted).check(self.expect.options)?;
        self.check()
    }

    /// Encrypts early data as far as the session permits, and returns their length.
    fn write_early(&mut self, data: &[u8]) -> Result<usize, Failure> {
        let Sided::Client(client) = &mut self.connection else {
            return Ok(0);
        };
        let mut early = client
            .early_data()
            .ok_or_else(|| Failure::failed("no early data"))?;
        early.write(data.into(), &mut self.outgoing).map_err(tag)
    }

    fn write_late(&mut self, data: &[u8]) -> Result<(), Failure> {
        let written = match &mut self.connection {
            Sided::Client(client) => client.write(data.into(), &mut self.outgoing),
            Sided::Server(server) => server.write(data.into(), &mut self.outgoing),
        };
        written.map_err(tag)
    }
}

impl<'a> Retry<'a> for Tls<'a> {
    fn retry(&mut self, options: &'a Options) {
        self.expect.options = options;
        self.holding = false;
    }
}

impl Endpoint for Tls<'_> {
    fn handshake(&mut self) -> Result<(), Failure> {
        self.enter_early_data()?;
        if !self.early {
            return self.advance();
        }
        self.flush()?;
        match self.expect.options.number("-early-write-after-message") {
            None => Ok(()),
            Some(SERVER_HELLO) => self.read_records(1),
            Some(ENCRYPTED_EXTENSIONS) => self.read_records(2),
            Some(other) => Err(Failure::unsupported(format!(
                "a write after message {other}"
            ))),
        }
    }

    fn check(&mut self) -> Result<(), Failure> {
        let ech = match &self.connection {
            Sided::Client(client) => Some(client.side().ech_status()),
            Sided::Server(_) => None,
        };
        self.expect.check(&Properties {
            early: self.early,
            server_name: self.connection.server_name(),
            early_data_accepted: self.early_accepted,
            ech: ech.filter(|status| *status != EchStatus::NotOffered),
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

    fn write(&mut self, mut data: &[u8]) -> Result<(), Failure> {
        self.enter_early_data()?;
        if self.early {
            // rustls accepts as much as the session permits; the rest waits for the handshake.
            let taken = self.write_early(data)?;
            data = &data[taken..];
            self.flush()?;
            if data.is_empty() {
                return Ok(());
            }
            self.leave_early_data()?;
        }
        self.write_late(data)?;
        self.flush()
    }

    fn write_unfinished(&mut self, data: &[u8]) -> Result<(), Failure> {
        if self.early {
            if self.write_early(data)? < data.len() {
                return Err(Failure::failed(
                    "early data beyond what the session permits",
                ));
            }
        } else {
            self.write_late(data)?;
        }
        self.holding = true;
        if !self.outgoing.is_empty() {
            let rest = self.outgoing.split_off(1);
            let first = std::mem::replace(&mut self.outgoing, rest);
            self.socket.write_all(&first)?;
            self.socket.flush()?;
        }
        Ok(())
    }

    fn finish_write(&mut self, _: &[u8]) -> Result<(), Failure> {
        self.holding = false;
        self.flush()
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        if self.expect.options.on("-peek-then-read") {
            return Err(Failure::unsupported("a look at data before they are read"));
        }
        if self.early {
            self.leave_early_data()?;
        }
        loop {
            if !self.plaintext.is_empty() {
                let length = self.plaintext.len().min(buffer.len());
                let read: Vec<u8> = self.plaintext.drain(..length).collect();
                buffer[..length].copy_from_slice(&read);
                return Ok(length);
            }
            if self.closed || self.ended {
                return Ok(0);
            }
            self.step()?;
        }
    }

    fn key_update(&mut self) -> Result<(), Failure> {
        let updated = match &mut self.connection {
            Sided::Client(client) => client.refresh_traffic_keys(&mut self.outgoing),
            Sided::Server(server) => server.refresh_traffic_keys(&mut self.outgoing),
        };
        updated.map_err(tag)
    }

    fn shutdown(&mut self) -> Result<(), Failure> {
        let options = self.expect.options;
        self.expect
            .check_end(self.connection.state().protocol_version())?;
        if options.on("-handshake-never-done") && !self.is_handshaking() {
            return Err(Failure::failed("the handshake was done"));
        }
        if !options.on("-check-close-notify") {
            return Ok(());
        }
        let closing = match &mut self.connection {
            Sided::Client(client) => client.send_close_notify(&mut self.outgoing),
            Sided::Server(server) => server.send_close_notify(&mut self.outgoing),
        };
        closing.map_err(tag)?;
        self.flush()?;
        let mut rest = [0; 512];
        if options.on("-shim-shuts-down") && Endpoint::read(self, &mut rest)? > 0 {
            return Err(Failure::failed("data after close_notify"));
        }
        if self.ended && !self.closed {
            return Err(Failure::failed("Unexpected SSL_shutdown result: -1 != 1"));
        }
        Ok(())
    }
}
