//! A session over OpenSSL's memory BIOs, through which openssl-bench and Python's `ssl.MemoryBIO` use the library.

use std::{ffi::c_int, marker::PhantomData, ptr};

use foreign_types_shared::ForeignType as _;
use netbench_tls::{FailureWord, Negotiated};
use netbench_worker::{HandshakeState, KeptRecords, Session, SessionError, failed};
use openssl::{
    error::ErrorStack,
    ssl::{ErrorCode, Ssl},
};
use openssl_sys as sys;

use crate::{Libssl, Side};

/// `BIO_CTRL_PENDING`, which the bindings lack.
const PENDING: c_int = 10;

/// A connection whose records pass through two memory BIOs, which it owns.
pub(crate) struct MemoryBios<L> {
    ssl: Ssl,
    side: Side,
    library: PhantomData<fn() -> L>,
}

/// Creates the session of a connection.
pub(crate) fn session<L: Libssl>(
    ssl: Result<Ssl, ErrorStack>,
    side: Side,
) -> Result<Box<dyn Session>, SessionError> {
    let ssl = ssl.and_then(with_memory_bios);
    Ok(Box::new(MemoryBios {
        ssl: ssl.map_err(failed(FailureWord::Session))?,
        side,
        library: PhantomData::<fn() -> L>,
    }))
}

fn with_memory_bios(ssl: Ssl) -> Result<Ssl, ErrorStack> {
    // SAFETY: the connection becomes the owner of both BIOs. Without them both are freed, and a null one is ignored.
    unsafe {
        let input = sys::BIO_new(sys::BIO_s_mem());
        let output = sys::BIO_new(sys::BIO_s_mem());
        if input.is_null() || output.is_null() {
            sys::BIO_free_all(input);
            sys::BIO_free_all(output);
            return Err(ErrorStack::get());
        }
        sys::SSL_set_bio(ssl.as_ptr(), input, output);
    }
    Ok(ssl)
}

impl<L> Drop for MemoryBios<L> {
    /// Marks the connection as shut down by both sides, as [`crate::piped`] does.
    fn drop(&mut self) {
        // SAFETY: the connection is valid.
        unsafe {
            sys::SSL_set_shutdown(
                self.ssl.as_ptr(),
                sys::SSL_SENT_SHUTDOWN | sys::SSL_RECEIVED_SHUTDOWN,
            );
        }
    }
}

impl<L> MemoryBios<L> {
    /// Copies `input` into the library.
    fn copy_in(&mut self, word: FailureWord, input: &mut Vec<u8>) -> Result<(), SessionError> {
        let length = input.len();
        // SAFETY: the BIO belongs to the connection, and copies the bytes.
        let written = unsafe {
            let bio = sys::SSL_get_rbio(self.ssl.as_ptr());
            sys::BIO_write(bio, input.as_ptr().cast(), int(length))
        };
        if length > 0 && usize::try_from(written) != Ok(length) {
            return Err(failed(word)(ErrorStack::get()));
        }
        input.clear();
        Ok(())
    }

    /// Copies the records to be sent out of the library.
    fn copy_out(&mut self, output: &mut Vec<u8>) {
        // SAFETY: the BIO belongs to the connection.
        let bio = unsafe { sys::SSL_get_wbio(self.ssl.as_ptr()) };
        let length = pending(bio);
        output.reserve(length);
        // SAFETY: the BIO writes at most `length` bytes, for which there is room, and returns their number.
        unsafe {
            let read = sys::BIO_read(
                bio,
                output.as_mut_ptr().add(output.len()).cast(),
                int(length),
            );
            output.set_len(output.len() + usize::try_from(read).unwrap_or(0));
        }
    }

    /// Returns whether the library has records that it has not read.
    fn has_input(&self) -> bool {
        // SAFETY: the BIO belongs to the connection.
        pending(unsafe { sys::SSL_get_rbio(self.ssl.as_ptr()) }) > 0
    }

    /// Returns the result of a function, or `None` if the function needs more input.
    fn ended(&self, word: FailureWord, result: c_int) -> Result<Option<usize>, SessionError> {
        if let Ok(count @ 1..) = usize::try_from(result) {
            return Ok(Some(count));
        }
        // SAFETY: the connection is valid.
        let code = unsafe { sys::SSL_get_error(self.ssl.as_ptr(), result) };
        if code == ErrorCode::WANT_READ.as_raw() {
            return Ok(None);
        }
        Err(failed(word)(ErrorStack::get()))
    }

    /// Reads all available data, and returns their length. Each part of the data is read to the position in `plaintext`
    /// that `place` returns for the length of the previous ones.
    fn read(
        &mut self,
        plaintext: &mut [u8],
        place: impl Fn(usize) -> usize,
    ) -> Result<usize, SessionError> {
        let mut received = 0;
        while self.has_input() || self.ssl.pending() > 0 {
            let room = &mut plaintext[place(received)..];
            // SAFETY: the library writes at most the length of `room`.
            let result = unsafe {
                sys::SSL_read(self.ssl.as_ptr(), room.as_mut_ptr().cast(), int(room.len()))
            };
            match self.ended(FailureWord::Receive, result)? {
                Some(count) => received += count,
                None => break,
            }
        }
        Ok(received)
    }

    /// Reads the data of `input`, which are complete records, as [`Self::read`] does.
    fn read_records(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
        place: impl Fn(usize) -> usize,
    ) -> Result<usize, SessionError> {
        self.copy_in(FailureWord::Receive, input)?;
        let received = self.read(plaintext, place)?;
        if self.has_input() {
            return Err(failed(FailureWord::Receive)("records were not read"));
        }
        Ok(received)
    }
}

impl<L: Libssl> Session for MemoryBios<L> {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        let word = FailureWord::Handshake;
        self.copy_in(word, input)?;
        // SAFETY: the connection is valid.
        let result = unsafe { sys::SSL_do_handshake(self.ssl.as_ptr()) };
        let ended = self.ended(word, result)?;
        if ended.is_some() {
            if self.side == Side::Server {
                L::send_tickets(&self.ssl).map_err(failed(word))?;
            }
            // Tickets may have arrived with the end of the handshake.
            self.read(&mut [0; 64], at_start)?;
        }
        self.copy_out(output);
        Ok(ended.map_or(HandshakeState::Going, |_| HandshakeState::Done))
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.encrypt(plaintext)?;
        self.take(output)
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        self.read_records(input, plaintext, at_start)
    }

    fn kept_records(&mut self) -> Option<&mut dyn KeptRecords> {
        Some(self)
    }

    fn release_buffers(&mut self) -> Result<Option<&'static str>, SessionError> {
        L::release_buffers(&self.ssl).map_err(failed(FailureWord::Memory))
    }

    fn negotiated(&self) -> Negotiated {
        L::negotiated(&self.ssl, self.side)
    }

    fn resumed(&self) -> bool {
        self.ssl.session_reused()
    }
}

impl<L: Libssl> KeptRecords for MemoryBios<L> {
    fn encrypt(&mut self, plaintext: &[u8]) -> Result<(), SessionError> {
        let mut rest = plaintext;
        while !rest.is_empty() {
            // SAFETY: the library reads at most the length of `rest`.
            let result =
                unsafe { sys::SSL_write(self.ssl.as_ptr(), rest.as_ptr().cast(), int(rest.len())) };
            let sent = self.ended(FailureWord::Send, result)?;
            let sent = sent.ok_or_else(|| failed(FailureWord::Send)("it waits for records"))?;
            rest = &rest[sent..];
        }
        Ok(())
    }

    fn take(&mut self, output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.copy_out(output);
        Ok(())
    }

    fn put(&mut self, input: &mut Vec<u8>) -> Result<(), SessionError> {
        self.copy_in(FailureWord::Receive, input)
    }

    fn receive_in_place(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        let length = plaintext.len().max(1);
        self.read_records(input, plaintext, |received| received % length)
    }
}

/// Reads each part of the data to the start of the buffer.
fn at_start(_: usize) -> usize {
    0
}

/// Returns the number of bytes in a memory BIO.
fn pending(bio: *mut sys::BIO) -> usize {
    // SAFETY: the BIO is valid, and this control has no pointer.
    let pending = unsafe { sys::BIO_ctrl(bio, PENDING, 0, ptr::null_mut()) };
    usize::try_from(pending).unwrap_or(0)
}

/// Returns a length as the library takes it.
fn int(length: usize) -> c_int {
    c_int::try_from(length).unwrap_or(c_int::MAX)
}
