use std::{
    fmt::Display,
    io::{self, Read, Write},
};

use netbench_tls::{FailureWord, Negotiated};

use crate::{HandshakeState, KeptRecords, Session, SessionError, failed};

/// A session of a library that buffers received plaintext and records to be sent, such as rustls' `Connection`.
///
/// # Errors
/// Its functions return errors of the library.
pub trait BufferedSession: Send {
    /// The library's error.
    type Error: Display;

    /// Reads records from `input`.
    fn read_records(&mut self, input: &mut &[u8]) -> io::Result<usize>;

    /// Processes the records that were read, and returns the length of the received plaintext.
    fn process(&mut self) -> Result<usize, Self::Error>;

    /// Returns whether there are records to be sent.
    fn wants_write(&self) -> bool;

    /// Appends records to `output`.
    fn write_records(&mut self, output: &mut Vec<u8>) -> io::Result<usize>;

    /// Returns whether the handshake is in progress.
    fn is_handshaking(&self) -> bool;

    /// Returns the received plaintext.
    fn reader(&mut self) -> impl Read;

    /// Returns the writer of plaintext to be sent.
    fn writer(&mut self) -> impl Write;

    /// Removes the limit of records that wait to be written, and returns whether the library permits it.
    fn keep_all_records(&mut self) -> bool {
        false
    }

    /// Consumes received plaintext and returns its length. Copies it to `plaintext` unless the library permits reading in
    /// place.
    fn consume(&mut self, plaintext: &mut [u8]) -> io::Result<usize> {
        self.reader().read(plaintext)
    }

    /// Observes records of the handshake before they are read.
    fn observe_received(&mut self, _records: &[u8]) {}

    /// Observes records of the handshake that are to be sent.
    fn observe_sent(&mut self, _records: &[u8]) {}

    /// Returns the negotiated parameters.
    fn negotiated(&self) -> Negotiated;

    /// Returns whether an earlier session was resumed.
    fn resumed(&self) -> bool;
}

/// A session of the suite over the buffers of a library.
#[derive(Debug)]
pub struct Buffered<S>(S);

impl<S: BufferedSession + 'static> Buffered<S> {
    /// Makes a session of the suite from a library's.
    ///
    /// # Errors
    /// The library has made none.
    pub fn session(made: Result<S, impl Display>) -> Result<Box<dyn Session>, SessionError> {
        let session = made.map_err(failed(FailureWord::Session))?;
        Ok(Box::new(Self(session)))
    }
}

impl<S: BufferedSession> Buffered<S> {
    fn write_out(&mut self, output: &mut Vec<u8>) -> Result<(), SessionError> {
        while self.0.wants_write() {
            let written = self.0.write_records(output);
            written.map_err(failed(FailureWord::Write))?;
        }
        Ok(())
    }

    /// Reads all of `input` and calls `take` with the length of the plaintext of each part of it.
    fn read_in(
        &mut self,
        input: &mut Vec<u8>,
        mut take: impl FnMut(&mut S, usize) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let mut rest = input.as_slice();
        while !rest.is_empty() {
            let read = self.0.read_records(&mut rest);
            read.map_err(failed(FailureWord::Read))?;
            let ready = self.0.process().map_err(failed(FailureWord::Handshake))?;
            take(&mut self.0, ready)?;
        }
        input.clear();
        Ok(())
    }

    /// Reads all of `input`, takes its plaintext by `take`, and returns the length of the plaintext.
    fn receive_by(
        &mut self,
        input: &mut Vec<u8>,
        mut take: impl FnMut(&mut S) -> io::Result<usize>,
    ) -> Result<usize, SessionError> {
        let mut received = 0;
        self.read_in(input, |session, mut ready| {
            while ready > 0 {
                let read = take(session).map_err(failed(FailureWord::Receive))?;
                received += read;
                ready = ready.saturating_sub(read.max(1));
            }
            Ok(())
        })?;
        Ok(received)
    }
}

impl<S: BufferedSession> Session for Buffered<S> {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        self.0.observe_received(input);
        let before = output.len();
        self.read_in(input, |_, _| Ok(()))?;
        self.write_out(output)?;
        self.0.observe_sent(&output[before..]);
        Ok(if self.0.is_handshaking() {
            HandshakeState::Going
        } else {
            HandshakeState::Done
        })
    }

    fn send(&mut self, mut plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        while !plaintext.is_empty() {
            let taken = self.0.writer().write(plaintext);
            plaintext = &plaintext[taken.map_err(failed(FailureWord::Send))?..];
            self.write_out(output)?;
        }
        Ok(())
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        self.receive_by(input, |session| session.reader().read(plaintext))
    }

    fn kept_records(&mut self) -> Option<&mut dyn KeptRecords> {
        if self.0.keep_all_records() {
            Some(self)
        } else {
            None
        }
    }

    fn negotiated(&self) -> Negotiated {
        self.0.negotiated()
    }

    fn resumed(&self) -> bool {
        self.0.resumed()
    }
}

impl<S: BufferedSession> KeptRecords for Buffered<S> {
    fn encrypt(&mut self, plaintext: &[u8]) -> Result<(), SessionError> {
        let written = self.0.writer().write_all(plaintext);
        written.map_err(failed(FailureWord::Send))
    }

    fn take(&mut self, output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.write_out(output)
    }

    fn receive_in_place(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        self.receive_by(input, |session| session.consume(plaintext))
    }
}
