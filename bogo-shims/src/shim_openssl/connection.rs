//! A connection and its exchange.

use openssl::ssl::{ErrorCode, ShutdownResult, Ssl, SslStream};

use crate::{
    Failure, Options,
    exchange::{Endpoint, Material, take},
    expected::check_early_data,
    packeted::Event,
    socket::Socket,
};

use super::{
    clock, ech,
    errors::{library, words},
    expect::{Expect, secret},
    ffi::{self, control},
    quic_ffi, setup,
    state::{failure, nothing_wrong, state},
    wire::Wire,
};

/// The maximum number of repetitions of a call without any progress.
pub(crate) const PATIENCE: u32 = 1_000_000;

pub(crate) struct Connection<'a> {
    stream: SslStream<Wire>,
    expect: Expect<'a>,
    /// Whether early data may be sent by this client, or may arrive at this server.
    early: bool,
    /// The size of the early data that the session still permits to this client, in bytes.
    early_left: usize,
    /// Early data that this server has read and that have not been taken yet.
    pending: Vec<u8>,
    /// Whether the peer ended without close_notify.
    unclean: bool,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(mut ssl: Ssl, socket: Socket, expect: Expect<'a>) -> Result<Self, Failure> {
        let options = expect.options;
        if let Some(params) = options.bytes("-quic-transport-params") {
            quic_ffi::set_params(&mut ssl, params)?;
        }
        let wire = Wire::new(socket, options.on("-dtls"), options.on("-async"));
        let stream = SslStream::new(ssl, wire).map_err(library)?;
        Ok(Self {
            stream,
            expect,
            early: false,
            early_left: 0,
            pending: Vec::new(),
            unclean: false,
        })
    }

    /// Repeats a call of the library until it succeeds, and returns the failure of the test otherwise.
    fn complete<T>(
        &mut self,
        call: impl FnMut(&mut SslStream<Wire>) -> Result<T, openssl::ssl::Error>,
    ) -> Result<T, Failure> {
        self.drive(call).map_err(|error| self.failure(&error))
    }

    /// Repeats a call of the library until it succeeds or fails.
    fn drive<T>(
        &mut self,
        mut call: impl FnMut(&mut SslStream<Wire>) -> Result<T, openssl::ssl::Error>,
    ) -> Result<T, openssl::ssl::Error> {
        let wire = [ErrorCode::WANT_READ, ErrorCode::WANT_WRITE];
        let mut left = PATIENCE;
        loop {
            match call(&mut self.stream) {
                Err(error)
                    if left > 0
                        && (wire.contains(&error.code()) || callback_waits(error.code())) =>
                {
                    left -= 1;
                    if !self.obey() {
                        return Err(error);
                    }
                }
                result => return result,
            }
        }
    }

    /// Executes the runner's command between datagrams; returns false where that failed.
    fn obey(&mut self) -> bool {
        let Some(command) = self.stream.get_mut().command.take() else {
            return true;
        };
        match command {
            Event::Timeout(time) => {
                clock::pass(time);
                // libssl does not resume a retransmission that could not be written at once.
                self.stream.get_mut().hurry = true;
                let handled = ffi::control(self.stream.ssl(), control::DTLS_HANDLE_TIMEOUT, 0);
                self.stream.get_mut().hurry = false;
                handled >= 0
            }
            Event::Mtu(mtu) => ffi::control(self.stream.ssl(), control::SET_MTU, mtu.into()) > 0,
            Event::InitialTimeout(_) => {
                state().unsupported = Some("another timeout for a flight under way".to_owned());
                false
            }
            Event::ExpectTimeout(want) => {
                let got = ffi::timeout(self.stream.ssl());
                if got != want {
                    state().found_wrong(format!("timeout {got:?}, expected {want:?}"));
                }
                got == want
            }
            Event::Datagram(_) | Event::End => true,
        }
    }

    fn failure(&self, error: &openssl::ssl::Error) -> Failure {
        let left = openssl::error::ErrorStack::get();
        let said = match (error.ssl_error(), error.io_error()) {
            (Some(stack), _) if !stack.errors().is_empty() => words(stack),
            _ if !left.errors().is_empty() => words(&left),
            (_, Some(io)) => io.to_string(),
            _ => format!("the connection ended ({:?})", error.code()),
        };
        match ech::check_failed(self.stream.ssl(), self.expect.options, &said) {
            Ok(()) => failure(said),
            Err(failure) => failure,
        }
    }

    /// Completes the handshake.
    fn finish(&mut self) -> Result<(), Failure> {
        let server = self.expect.is_server();
        self.complete(|stream| {
            if server {
                stream.accept()
            } else {
                stream.connect()
            }
        })?;
        nothing_wrong()
    }

    fn may_offer_early_data(&self) -> bool {
        let options = self.expect.options;
        let ready =
            !self.expect.is_server() && self.expect.resume && options.on("-enable-early-data");
        let ssl = self.stream.ssl();
        ready
            && ssl
                .session()
                .is_some_and(|session| session.max_early_data() > 0)
    }

    /// Starts early data: as a client that may send them, or a server at which they have arrived. libssl has
    /// separate calls for early data, which begin the handshake where `-implicit-handshake` leaves that to
    /// the first of them.
    fn enter_early_data(&mut self) -> Result<(), Failure> {
        if self.early || self.stream.ssl().is_init_finished() {
            return Ok(());
        }
        if self.may_offer_early_data() {
            if self.expect.options.on("-expect-no-offer-early-data") {
                return Err(Failure::failed("early data was offered"));
            }
            // An empty write sends the ClientHello.
            self.complete(|stream| stream.write_early_data(&[]))?;
            let session = self.stream.ssl().session();
            let permitted = session.map_or(0, |session| session.max_early_data());
            self.early_left = usize::try_from(permitted).unwrap_or(usize::MAX);
            self.early = true;
        } else if self.expect.is_server() && self.expect.options.on("-enable-early-data") {
            self.pending = self.read_early()?;
            self.early = !self.pending.is_empty();
        }
        Ok(())
    }

    /// Completes the handshake as a client in early data, and finds out whether the data were accepted.
    fn leave_early_data(&mut self) -> Result<(), Failure> {
        self.early = false;
        self.finish()?;
        let accepted = ffi::early_data_accepted(self.stream.ssl());
        check_early_data(self.expect.options, accepted)?;
        self.expect.check(self.stream.ssl())
    }

    /// Reads early data as a server; empty where there are no more.
    fn read_early(&mut self) -> Result<Vec<u8>, Failure> {
        let mut buffer = vec![0; 16384];
        let n = self.complete(|stream| stream.read_early_data(&mut buffer))?;
        buffer.truncate(n);
        Ok(buffer)
    }
}

/// Returns whether a callback returned that it must be called again, for `-async`.
pub(crate) fn callback_waits(code: ErrorCode) -> bool {
    const WANT_CERTIFICATE: i32 = 4;
    const WANT_VERIFICATION: i32 = 12;
    code == ErrorCode::WANT_CLIENT_HELLO_CB
        || [WANT_CERTIFICATE, WANT_VERIFICATION].contains(&code.as_raw())
}

impl<'a> Endpoint<'a> for Connection<'a> {
    fn retry(&mut self, options: &'a Options) {
        self.expect.retry(options);
    }

    fn handshake(&mut self) -> Result<(), Failure> {
        self.enter_early_data()?;
        if self.early {
            return nothing_wrong();
        }
        self.finish()
    }

    fn check(&mut self) -> Result<(), Failure> {
        if self.early && !self.expect.is_server() {
            return Ok(());
        }
        self.expect.check(self.stream.ssl())
    }

    fn export(&mut self, wanted: &Material<'_>) -> Result<Vec<u8>, Failure> {
        setup::export(self.stream.ssl(), wanted)
    }

    fn secret(&self, label: &str) -> Option<Vec<u8>> {
        secret(label)
    }

    fn tls_unique(&mut self) -> Result<Vec<u8>, Failure> {
        let ssl = self.stream.ssl();
        // The value is the first Finished: the client's, unless the session was resumed (RFC 5929).
        let own = self.expect.is_server() == ssl.session_reused();
        let mut out = vec![0; 64];
        let n = if own {
            ssl.finished(&mut out)
        } else {
            ssl.peer_finished(&mut out)
        };
        out.truncate(n);
        Ok(out)
    }

    fn write(&mut self, mut data: &[u8]) -> Result<(), Failure> {
        if self.expect.options.on("-implicit-handshake") {
            self.enter_early_data()?;
        }
        if self.early && !self.expect.is_server() {
            // libssl requires its application to count the early data that the session permits; the rest
            // waits for the handshake.
            let (now, later) = data.split_at(data.len().min(self.early_left));
            self.early_left -= now.len();
            if !now.is_empty() {
                self.write_all(now)?;
            }
            if later.is_empty() {
                return Ok(());
            }
            data = later;
            self.leave_early_data()?;
        }
        self.write_all(data)
    }

    fn write_unfinished(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.stream.get_mut().allowed = Some(1);
        // A slow stream lets a byte through at the second call.
        for _ in 0..8 {
            let written = if self.early {
                self.stream.write_early_data(data)
            } else {
                self.stream.ssl_write(data)
            };
            match written {
                Err(error) if error.code() == ErrorCode::WANT_WRITE => {}
                Ok(_) => return Err(Failure::failed("the write was not left unfinished")),
                Err(error) => return Err(self.failure(&error)),
            }
        }
        Ok(())
    }

    fn finish_write(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.stream.get_mut().allowed = None;
        self.write(data)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        if self.expect.options.on("-implicit-handshake") {
            self.enter_early_data()?;
        }
        // libssl discards a flight that it retransmits during a read, where the flight cannot be written at
        // once.
        let datagrams = self.expect.options.on("-dtls");
        self.stream.get_mut().hurry = datagrams && self.stream.ssl().is_init_finished();
        let read = self.read_some(buffer);
        self.stream.get_mut().hurry = false;
        read
    }

    fn key_update(&mut self) -> Result<(), Failure> {
        ffi::key_update(self.stream.ssl())
    }

    fn shutdown(&mut self) -> Result<(), Failure> {
        self.expect.check_end(self.stream.ssl())?;
        let options = self.expect.options;
        if self.unclean {
            if options.on("-check-close-notify") {
                return Err(Failure::failed("Unexpected SSL_shutdown result: -1 != 1"));
            }
            return nothing_wrong();
        }
        let first = self.complete(SslStream::shutdown)?;
        let ended = if options.on("-shim-shuts-down") && options.on("-check-close-notify") {
            if first != ShutdownResult::Sent {
                return Err(Failure::failed("the peer had ended before"));
            }
            self.complete(SslStream::shutdown).map_err(|failure| {
                Failure::failed(format!(
                    "{failure}\nUnexpected SSL_shutdown result: -1 != 1"
                ))
            })?
        } else {
            first
        };
        if ended != ShutdownResult::Received {
            return Err(Failure::failed("Unexpected SSL_shutdown result: 0 != 1"));
        }
        nothing_wrong()
    }
}

impl Connection<'_> {
    fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        if self.early && !self.expect.is_server() {
            self.leave_early_data()?;
        }
        if self.early {
            if self.pending.is_empty() {
                self.pending = self.read_early()?;
            }
            let n = take(&mut self.pending, buffer);
            if n > 0 {
                return Ok(n);
            }
            self.early = false;
            self.finish()?;
        }
        if self.expect.options.on("-peek-then-read") {
            let mut peeked = vec![0; buffer.len()];
            let n = match self.drive(|stream| stream.ssl_peek(&mut peeked)) {
                Ok(n) => n,
                Err(error) => return self.end_of_data(&error),
            };
            let read = self.complete(|stream| stream.ssl_read(buffer))?;
            if read != n || buffer[..n] != peeked[..n] {
                return Err(Failure::failed("peek and read differ"));
            }
            return Ok(n);
        }
        match self.drive(|stream| stream.ssl_read(buffer)) {
            Ok(n) => nothing_wrong().map(|()| n),
            Err(error) => self.end_of_data(&error),
        }
    }

    fn write_all(&mut self, mut data: &[u8]) -> Result<(), Failure> {
        let early = self.early;
        loop {
            let n = self.complete(|stream| {
                if early {
                    stream.write_early_data(data)
                } else {
                    stream.ssl_write(data)
                }
            })?;
            data = &data[n..];
            if data.is_empty() {
                return Ok(());
            }
        }
    }

    /// Treats the end of a stream as success, clean or not.
    fn end_of_data(&mut self, error: &openssl::ssl::Error) -> Result<usize, Failure> {
        const UNEXPECTED_EOF: i32 = 294;
        if error.code() == ErrorCode::ZERO_RETURN {
            return nothing_wrong().map(|()| 0);
        }
        let stack = error
            .ssl_error()
            .map(|stack| stack.errors())
            .unwrap_or_default();
        let eof = stack
            .iter()
            .any(|error| error.reason_code() == UNEXPECTED_EOF);
        let silent = stack.is_empty() && error.io_error().is_none();
        if self.stream.get_ref().ended && self.stream.ssl().is_init_finished() && (eof || silent) {
            self.unclean = true;
            return nothing_wrong().map(|()| 0);
        }
        Err(self.failure(error))
    }
}
