//! A session over plain buffers. The worker of boringssl compiles this file too, with its library under the
//! name `openssl`.

use std::{
    io::{self, Read, Write},
    mem,
};

use netbench_tls::{FailureWord, Negotiated};
use netbench_worker::{HandshakeState, Session, SessionError};
use openssl::{
    error::ErrorStack,
    ssl::{ErrorCode, ShutdownState, Ssl, SslStream},
};

use crate::{names::Side, negotiated::negotiated};

/// A connection whose transport is two buffers.
pub(crate) struct Piped {
    stream: SslStream<Pipe>,
    side: Side,
}

impl Drop for Piped {
    /// Marks the connection as shut down by both sides: OpenSSL forgets the session of a connection that is
    /// freed otherwise (RFC 2246 section 7.2.1 required that), including the newest ticket of TLS 1.3.
    fn drop(&mut self) {
        self.stream
            .set_shutdown(ShutdownState::SENT | ShutdownState::RECEIVED);
    }
}

#[derive(Default)]
pub(crate) struct Pipe {
    input: Vec<u8>,
    read: usize,
    output: Vec<u8>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.input[self.read..];
        if rest.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = rest.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&rest[..taken]);
        self.read += taken;
        Ok(taken)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Piped {
    pub(crate) fn new(ssl: Ssl, side: Side) -> Result<Self, ErrorStack> {
        Ok(Self {
            stream: SslStream::new(ssl, Pipe::default())?,
            side,
        })
    }

    /// Runs an operation with `input` and `output` as the transport's buffers.
    pub(crate) fn with_buffers<T>(
        &mut self,
        what: FailureWord,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
        work: impl FnOnce(&mut SslStream<Pipe>) -> Result<T, openssl::ssl::Error>,
    ) -> Result<T, SessionError> {
        let pipe = self.stream.get_mut();
        mem::swap(&mut pipe.input, input);
        mem::swap(&mut pipe.output, output);
        pipe.read = 0;
        let result = work(&mut self.stream);
        let pipe = self.stream.get_mut();
        mem::swap(&mut pipe.input, input);
        mem::swap(&mut pipe.output, output);
        let left = input.len() - pipe.read;
        input.clear();
        match result {
            Ok(_) if left > 0 => Err(SessionError::new(what, format!("{left} bytes not read"))),
            Ok(value) => Ok(value),
            Err(error) => Err(SessionError::new(what, error)),
        }
    }
}

impl Session for Piped {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        self.with_buffers(FailureWord::Handshake, input, output, |stream| match stream
            .do_handshake()
        {
            Ok(()) => Ok(HandshakeState::Done),
            Err(error) if error.code() == ErrorCode::WANT_READ => Ok(HandshakeState::Going),
            Err(error) => Err(error),
        })
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.with_buffers(FailureWord::Send, &mut Vec::new(), output, |stream| {
            let mut rest = plaintext;
            while !rest.is_empty() {
                let taken = stream.ssl_write(rest)?;
                rest = &rest[taken..];
            }
            Ok(())
        })
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        self.with_buffers(FailureWord::Receive, input, &mut Vec::new(), |stream| {
            let mut received = 0;
            while stream.get_ref().read < stream.get_ref().input.len() || stream.ssl().pending() > 0
            {
                match stream.ssl_read(plaintext) {
                    Ok(read) => received += read,
                    Err(error) if error.code() == ErrorCode::WANT_READ => break,
                    Err(error) => return Err(error),
                }
            }
            Ok(received)
        })
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(self.stream.ssl(), self.side)
    }

    fn resumed(&self) -> bool {
        self.stream.ssl().session_reused()
    }
}
