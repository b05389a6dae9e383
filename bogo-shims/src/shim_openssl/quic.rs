//! A connection over the runner's mock transport for QUIC, with libssl's interface for a QUIC
//! stack.
//!
//! libssl does the handshake; checking the level of received messages is the QUIC stack's duty (RFC
//! 9001 section 4.1.3), which [`crate::quic::Stream`] performs.

use openssl::{
    error::ErrorStack,
    ssl::{ErrorCode, Ssl},
};

use crate::{
    Failure, Options,
    exchange::{Endpoint, Material},
    expected::check_early_data,
    quic::{Level, Step, Stream},
    socket::Socket,
};

use super::{
    connection::{PATIENCE, callback_waits},
    ech,
    errors::words,
    expect::{Expect, secret},
    ffi,
    quic_ffi::{self, Shared},
    setup,
    state::{failure, nothing_wrong},
};

pub(crate) struct Quic<'a> {
    // Fields are dropped in order: the connection before the state that its callbacks use.
    ssl: Ssl,
    shared: Shared,
    expect: Expect<'a>,
    /// Whether this client may send early data now.
    early: bool,
    early_offered: bool,
}

impl<'a> Quic<'a> {
    pub(crate) fn new(mut ssl: Ssl, socket: Socket, expect: Expect<'a>) -> Result<Self, Failure> {
        let options = expect.options;
        let params = options.bytes("-quic-transport-params");
        let shared = Shared::attach(&mut ssl, Stream::new(socket), params)?;
        // The call fails for a client without a session for early data.
        let early = options.on("-enable-early-data") && quic_ffi::enable_early_data(&mut ssl);
        Ok(Self {
            ssl,
            shared,
            early: false,
            early_offered: early && !expect.is_server(),
            expect,
        })
    }

    /// Makes libssl process the received messages as far as possible.
    fn advance(&mut self) -> Result<(), Failure> {
        for _ in 0..PATIENCE {
            match quic_ffi::advance(&mut self.ssl) {
                Err(code) if callback_waits(code) => {}
                Ok(()) | Err(ErrorCode::WANT_READ) => return Ok(()),
                Err(code) => {
                    let left = ErrorStack::get();
                    let said = if left.errors().is_empty() {
                        format!("the handshake ended ({code:?})")
                    } else {
                        words(&left)
                    };
                    ech::check_failed(&self.ssl, self.expect.options, &said)?;
                    return Err(failure(said));
                }
            }
        }
        Err(Failure::failed("a callback waits for ever"))
    }

    /// Reads one record, and passes it to libssl; returns whether there was one.
    fn step(&mut self) -> Result<bool, Failure> {
        let step = self.shared.borrow().stream.read()?;
        match step {
            Step::End => return Ok(false),
            Step::Data => {}
            Step::Handshake(messages) => {
                self.shared.borrow().incoming = Some(messages);
                self.advance()?;
            }
        }
        Ok(true)
    }

    /// Returns whether data may be sent before the handshake's end: as a server that has accepted
    /// early data.
    fn may_write_early(&self) -> bool {
        let between = self.shared.borrow();
        self.expect.is_server()
            && between.early_readable
            && between.stream.can_write(Level::Application)
    }

    /// Completes the handshake.
    fn finish(&mut self) -> Result<(), Failure> {
        while !self.ssl.is_init_finished() && !self.may_write_early() {
            if !self.step()? {
                return Err(failure("the stream ended in the handshake".to_owned()));
            }
        }
        nothing_wrong()
    }
}

impl<'a> Endpoint<'a> for Quic<'a> {
    fn retry(&mut self, options: &'a Options) {
        self.expect.retry(options);
    }

    fn handshake(&mut self) -> Result<(), Failure> {
        self.advance()?;
        let can_write = self.shared.borrow().stream.can_write(Level::EarlyData);
        if std::mem::take(&mut self.early_offered) && can_write {
            if self.expect.options.on("-expect-no-offer-early-data") {
                return Err(Failure::failed("early data was offered"));
            }
            self.early = true;
            return Ok(());
        }
        self.finish()
    }

    fn check(&mut self) -> Result<(), Failure> {
        if self.early {
            return Ok(());
        }
        if let Some(want) = self.expect.options.bytes("-expect-quic-transport-params")
            && self.shared.borrow().peer_params.as_deref() != Some(want)
        {
            return Err(Failure::failed("QUIC transport params mismatch"));
        }
        self.expect.check(&self.ssl)
    }

    fn export(&mut self, wanted: &Material<'_>) -> Result<Vec<u8>, Failure> {
        setup::export(&self.ssl, wanted)
    }

    fn secret(&self, label: &str) -> Option<Vec<u8>> {
        secret(label)
    }

    fn write(&mut self, data: &[u8]) -> Result<(), Failure> {
        let level = if self.early {
            Level::EarlyData
        } else {
            Level::Application
        };
        self.shared.borrow().stream.write_data(level, data)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        if std::mem::take(&mut self.early) {
            self.finish()?;
            check_early_data(self.expect.options, ffi::early_data_accepted(&self.ssl))?;
            self.check()?;
        }
        while !self.shared.borrow().stream.has_data() {
            if !self.step()? {
                if !self.ssl.is_init_finished() {
                    return Err(failure("the stream ended in the handshake".to_owned()));
                }
                return Ok(0);
            }
            nothing_wrong()?;
        }
        Ok(self.shared.borrow().stream.take(buffer))
    }

    fn shutdown(&mut self) -> Result<(), Failure> {
        self.expect.check_end(&self.ssl)?;
        quic_ffi::end(&mut self.ssl);
        nothing_wrong()
    }
}
