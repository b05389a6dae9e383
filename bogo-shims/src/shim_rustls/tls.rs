//! A connection over TCP.

use std::io::{self, BufRead, Read, Write};

use crate::{
    Failure, Options,
    exchange::{EarlyData, Endpoint, Retry},
    socket::Socket,
};
use rustls::{
    ClientConnection, Connection, Error, PeerIncompatible, ServerConnection, client::EchStatus,
};

use super::{
    config::{Made, tag},
    expect::{Expect, Properties},
};

/// The types of two messages (RFC 8446 section 4).
const SERVER_HELLO: i64 = 2;
const ENCRYPTED_EXTENSIONS: i64 = 8;

pub(crate) struct Tls<'a> {
    connection: Connection,
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

impl<'a> Tls<'a> {
    pub(crate) fn new(made: Made, socket: Socket, expect: Expect<'a>) -> Result<Self, Failure> {
        let connection = match made {
            Made::Client(config, name) => ClientConnection::new(config, name).map_err(tag)?.into(),
            Made::Server(config) => ServerConnection::new(config).map_err(tag)?.into(),
        };
        Ok(Self {
            connection,
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
        while !self.holding && self.connection.wants_write() {
            self.connection.write_tls(&mut self.socket)?;
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
            .read_tls(&mut (&mut self.socket).take(at_once));
        match read {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        if let Err(error) = self.connection.process_new_packets() {
            // The flush sends the alert; the peer may have disconnected already.
            let _gone = self.flush();
            let failure = self.explain(error);
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

    fn explain(&self, error: Error) -> Failure {
        if let Err(failure) = self.expect.check_failed() {
            return failure;
        }
        if let Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(
            ref retry,
        )) = error
        {
            let retry = retry
                .as_ref()
                .map(|_| retry_configs(&error))
                .unwrap_or_default();
            let options = self.expect.options;
            let want = options.bytes("-expect-ech-retry-configs");
            if want.is_some_and(|want| want != retry)
                || options.on("-expect-no-ech-retry-configs") && !retry.is_empty()
            {
                return Failure::failed("other ECH retry configurations than expected");
            }
        }
        tag(error)
    }

    /// Continues the handshake until it is done, or early data may be sent.
    fn advance(&mut self) -> Result<(), Failure> {
        while self.connection.is_handshaking() {
            if let Connection::Server(server) = &mut self.connection
                && server.early_data().is_some()
            {
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
        let Connection::Client(client) = &mut self.connection else {
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
                self.connection.read_tls(&mut rest)?;
            }
            self.connection.process_new_packets().map_err(tag)?;
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
        let Connection::Client(client) = &self.connection else {
            return Ok(());
        };
        self.early_accepted = client.is_early_data_accepted();
        EarlyData::from(self.early_accepted).check(self.expect.options)?;
        self.check()
    }
}

/// Returns the configurations as on the wire; rustls shows them only within an error.
fn retry_configs(error: &Error) -> Vec<u8> {
    use rustls::internal::msgs::codec::Codec;
    let Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(Some(
        configs,
    ))) = error
    else {
        return Vec::new();
    };
    configs.get_encoding()
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
        let connection = &self.connection;
        let (server_name, ech) = match connection {
            Connection::Client(client) => (None, Some(client.ech_status())),
            Connection::Server(server) => (server.server_name(), None),
        };
        self.expect.check(&Properties {
            early: self.early,
            server_name,
            early_data_accepted: self.early_accepted,
            ech: ech.filter(|status| *status != EchStatus::NotOffered),
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

    fn write(&mut self, mut data: &[u8]) -> Result<(), Failure> {
        self.enter_early_data()?;
        if self.early
            && let Connection::Client(client) = &mut self.connection
        {
            let mut early = client
                .early_data()
                .ok_or_else(|| Failure::failed("no early data"))?;
            // rustls accepts as much as the session permits; the rest waits for the handshake.
            let taken = early.write(data)?;
            data = &data[taken..];
            self.flush()?;
            if data.is_empty() {
                return Ok(());
            }
            self.leave_early_data()?;
        }
        while !data.is_empty() {
            let n = self.connection.writer().write(data)?;
            data = &data[n..];
            self.flush()?;
        }
        Ok(())
    }

    fn write_unfinished(&mut self, data: &[u8]) -> Result<(), Failure> {
        match &mut self.connection {
            Connection::Client(client) if self.early => {
                let mut early = client
                    .early_data()
                    .ok_or_else(|| Failure::failed("no early data"))?;
                early.write_all(data)?;
            }
            connection => connection.writer().write_all(data)?,
        }
        self.holding = true;
        let mut out = OneByte {
            socket: &mut self.socket,
            written: false,
        };
        self.connection.write_tls(&mut out)?;
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
            if let Connection::Server(server) = &mut self.connection
                && let Some(mut early) = server.early_data()
            {
                self.early_accepted = true;
                let n = early.read(buffer)?;
                if n > 0 {
                    return Ok(n);
                }
            }
            if self.expect.options.on("-peek-then-read") {
                let mut reader = self.connection.reader();
                let peeked = reader.fill_buf().map(<[u8]>::to_vec);
                if let Ok(peeked) = peeked
                    && !peeked.is_empty()
                {
                    let n = reader.read(buffer)?;
                    if !peeked.starts_with(&buffer[..n]) {
                        return Err(Failure::failed("peek and read differ"));
                    }
                    return Ok(n);
                }
            }
            match self.connection.reader().read(buffer) {
                Ok(n) => return Ok(n),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.ended = true;
                    return Ok(0);
                }
                Err(error) => return Err(error.into()),
            }
            self.step()?;
        }
    }

    fn key_update(&mut self) -> Result<(), Failure> {
        self.connection.refresh_traffic_keys().map_err(tag)?;
        Ok(())
    }

    fn shutdown(&mut self) -> Result<(), Failure> {
        let options = self.expect.options;
        self.expect.check_end(self.connection.protocol_version())?;
        if options.on("-handshake-never-done") && !self.connection.is_handshaking() {
            return Err(Failure::failed("the handshake was done"));
        }
        if !options.on("-check-close-notify") {
            return Ok(());
        }
        self.connection.send_close_notify();
        self.flush()?;
        let mut rest = [0; 512];
        if options.on("-shim-shuts-down") && Endpoint::read(self, &mut rest)? > 0 {
            return Err(Failure::failed("data after close_notify"));
        }
        if self.ended && !self.peer_closed()? {
            return Err(Failure::failed("Unexpected SSL_shutdown result: -1 != 1"));
        }
        Ok(())
    }
}

impl Tls<'_> {
    fn peer_closed(&mut self) -> Result<bool, Failure> {
        let state = self.connection.process_new_packets().map_err(tag)?;
        Ok(state.peer_has_closed())
    }
}

/// A writer that lets only one byte through.
struct OneByte<'a> {
    socket: &'a mut Socket,
    written: bool,
}

impl Write for OneByte<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.written, true) {
            return Ok(0);
        }
        self.socket.write(&data[..data.len().min(1)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
