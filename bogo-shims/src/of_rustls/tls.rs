//! A connection over TCP.

use std::io::{self, Read, Write};

use super::{Connection, Line, MadeBy, expect::Expect};
use crate::{
    Failure, Options,
    exchange::{Endpoint, Material},
    expected::check_early_data,
    socket::Socket,
};

/// A connection of a line of rustls over TCP.
///
/// # Errors
/// The methods return the errors of rustls and of the transport.
pub trait OverTcp: Connection {
    /// Reads records once, and returns the number of bytes; 0 at the end of the stream.
    fn receive(&mut self, from: &mut dyn Read) -> io::Result<usize>;

    /// Makes rustls process the records that were received. Returns its error, or how that differs from the expected one.
    fn process(&mut self, options: &Options) -> Result<(), Failure>;

    /// Returns whether records are yet to be sent.
    fn has_outgoing(&self) -> bool;

    /// Writes records once.
    fn send(&mut self, to: &mut dyn Write) -> io::Result<()>;

    /// Returns whether this client can send early data.
    fn can_send_early_data(&mut self) -> bool;

    /// Returns whether this server has accepted early data.
    fn has_accepted_early_data(&mut self) -> bool;

    /// Encrypts early data as far as the session permits, and returns their length.
    fn write_early(&mut self, data: &[u8]) -> Result<usize, Failure>;

    /// Encrypts data as far as rustls buffers them, and returns their length.
    fn write(&mut self, data: &[u8]) -> Result<usize, Failure>;

    /// Reads decrypted data: 0 at their end, and `None` where more records are needed.
    fn read(&mut self, buffer: &mut [u8], options: &Options) -> Result<Option<usize>, Failure>;

    /// Changes the keys of this direction.
    fn refresh_traffic_keys(&mut self) -> Result<(), Failure>;

    /// Queues a close_notify.
    fn send_close_notify(&mut self) -> Result<(), Failure>;

    /// Returns whether the peer sent close_notify.
    fn is_closed_by_peer(&mut self) -> Result<bool, Failure>;
}

/// The types of two messages (RFC 8446 section 4).
const SERVER_HELLO: i64 = 2;
const ENCRYPTED_EXTENSIONS: i64 = 8;

pub(super) struct Tls<'a, L: Line> {
    connection: L::Tcp,
    socket: Socket,
    expect: Expect<'a>,
    /// Whether this client may send early data.
    early: bool,
    /// Whether the server, this one or the client's, accepted early data.
    early_accepted: bool,
    /// Whether a write was left unfinished on purpose.
    holding: bool,
    /// Whether the stream ended.
    ended: bool,
    /// An error after data that are still to be read.
    failed: Option<Failure>,
}

impl<'a, L: Line> Tls<'a, L> {
    pub(super) fn new(
        made: MadeBy<L>,
        socket: Socket,
        expect: Expect<'a>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            connection: L::over_tcp(made)?,
            socket,
            expect,
            early: false,
            early_accepted: false,
            holding: false,
            ended: false,
            failed: None,
        })
    }

    fn flush(&mut self) -> Result<(), Failure> {
        while !self.holding && self.connection.has_outgoing() {
            self.connection.send(&mut self.socket)?;
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
        let read = self
            .connection
            .receive(&mut (&mut self.socket).take(at_once))?;
        self.ended |= read == 0;
        if let Err(failure) = self.connection.process(self.expect.options) {
            // The flush sends the alert; the peer may have disconnected already.
            let _gone = self.flush();
            let failure = self.expect.check_failed().err().unwrap_or(failure);
            if self.connection.is_handshaking() {
                return Err(failure);
            }
            self.failed = Some(failure);
        }
        if self.ended && self.connection.is_handshaking() {
            return Err(Failure::failed("the stream ended in the handshake"));
        }
        Ok(())
    }

    /// Continues the handshake until it is done, or early data may be sent.
    fn advance(&mut self) -> Result<(), Failure> {
        while self.connection.is_handshaking() {
            if self.connection.has_accepted_early_data() {
                self.early_accepted = true;
                break;
            }
            self.step()?;
        }
        self.flush()
    }

    /// Starts early data as a client that has just begun, where the session permits them. rustls makes the
    /// handshake while it reads and writes, so `-implicit-handshake` makes no difference.
    fn enter_early_data(&mut self) -> Result<(), Failure> {
        if self.expect.is_server() {
            return Ok(());
        }
        let offered = self.connection.is_handshaking() && self.connection.can_send_early_data();
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
                self.connection.receive(&mut rest)?;
            }
            self.connection.process(self.expect.options)?;
            left -= usize::from(record[0] != CHANGE_CIPHER_SPEC);
        }
        Ok(())
    }

    /// Completes the handshake as a client in early data, and finds out whether the data were accepted.
    fn leave_early_data(&mut self) -> Result<(), Failure> {
        self.early = false;
        while self.connection.is_handshaking() {
            self.step()?;
        }
        // The messages of the handshake follow an unfinished write, and complete it.
        self.holding = false;
        self.flush()?;
        self.early_accepted = self.connection.is_early_data_accepted();
        check_early_data(self.expect.options, self.early_accepted)?;
        self.check()
    }
}

impl<'a, L: Line> Endpoint<'a> for Tls<'a, L> {
    fn retry(&mut self, options: &'a Options) {
        self.expect.options = options;
        self.holding = false;
    }

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

    fn write(&mut self, mut data: &[u8]) -> Result<(), Failure> {
        self.enter_early_data()?;
        if self.early {
            // rustls accepts as much as the session permits; the rest waits for the handshake.
            let taken = self.connection.write_early(data)?;
            data = &data[taken..];
            self.flush()?;
            if data.is_empty() {
                return Ok(());
            }
            self.leave_early_data()?;
        }
        while !data.is_empty() {
            let written = self.connection.write(data)?;
            data = &data[written..];
            self.flush()?;
        }
        Ok(())
    }

    fn write_unfinished(&mut self, data: &[u8]) -> Result<(), Failure> {
        if self.early {
            if self.connection.write_early(data)? < data.len() {
                return Err(Failure::failed(
                    "early data beyond what the session permits",
                ));
            }
        } else if self.connection.write(data)? < data.len() {
            return Err(Failure::failed("a write beyond the buffer of rustls"));
        }
        self.holding = true;
        if self.connection.has_outgoing() {
            let mut byte = [0];
            self.connection.send(&mut &mut byte[..])?;
            self.socket.write_all(&byte)?;
        }
        Ok(())
    }

    fn finish_write(&mut self, _: &[u8]) -> Result<(), Failure> {
        self.holding = false;
        self.flush()
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        if self.early {
            self.leave_early_data()?;
        }
        loop {
            self.early_accepted |= self.connection.has_accepted_early_data();
            match self.connection.read(buffer, self.expect.options)? {
                Some(read) => return Ok(read),
                None if self.ended => return Ok(0),
                None => self.step()?,
            }
        }
    }

    fn key_update(&mut self) -> Result<(), Failure> {
        self.connection.refresh_traffic_keys()
    }

    fn shutdown(&mut self) -> Result<(), Failure> {
        let options = self.expect.options;
        self.expect
            .check_end(self.connection.properties().agreed.version)?;
        if options.on("-handshake-never-done") && !self.connection.is_handshaking() {
            return Err(Failure::failed("the handshake was done"));
        }
        if !options.on("-check-close-notify") {
            return Ok(());
        }
        self.connection.send_close_notify()?;
        self.flush()?;
        let mut rest = [0; 512];
        if options.on("-shim-shuts-down") && Endpoint::read(self, &mut rest)? > 0 {
            return Err(Failure::failed("data after close_notify"));
        }
        if self.ended && !self.connection.is_closed_by_peer()? {
            return Err(Failure::failed("Unexpected SSL_shutdown result: -1 != 1"));
        }
        Ok(())
    }
}
