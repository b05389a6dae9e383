//! Sessions through rustls' unbuffered interface: records are read and written in the buffers in which they
//! arrive and from which they are sent, as rustls' own benchmark does with the corresponding option.

use std::ptr;

use netbench_tls::{FailureWord, Negotiated};
use netbench_worker::{HandshakeState, Session, SessionError, failed};
use rustls::{
    CommonState, Error, HandshakeKind as Kind,
    client::{ClientConnectionData, UnbufferedClientConnection},
    server::{ServerConnectionData, UnbufferedServerConnection},
    unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus},
};

use crate::names;

/// The common interface of clients and servers.
pub(crate) trait Records: Send {
    /// The library's type for the side.
    type Side;

    /// Returns the next state, which refers to the data in `input`.
    fn process<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Side>;

    /// Returns the session's state.
    fn state(&self) -> &CommonState;
}

impl Records for UnbufferedClientConnection {
    type Side = ClientConnectionData;

    fn process<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Side> {
        self.process_tls_records(input)
    }

    fn state(&self) -> &CommonState {
        self
    }
}

impl Records for UnbufferedServerConnection {
    type Side = ServerConnectionData;

    fn process<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Side> {
        self.process_tls_records(input)
    }

    fn state(&self) -> &CommonState {
        self
    }
}

/// A session of either side.
pub(crate) struct Unbuffered<C> {
    connection: C,
    room: Room,
}

impl<C: Records + 'static> Unbuffered<C> {
    /// Makes a session of the suite from a library's.
    pub(crate) fn session(made: Result<C, Error>) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(Self {
            connection: made.map_err(failed(FailureWord::Session))?,
            room: Room::default(),
        }))
    }
}

impl<C: Records> Session for Unbuffered<C> {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        let mut read = 0;
        loop {
            let UnbufferedStatus { discard, state } = self.connection.process(&mut input[read..]);
            match state.map_err(failed(FailureWord::Handshake))? {
                ConnectionState::EncodeTlsData(mut data) => {
                    let bytes = match data.encode(&mut []) {
                        Err(EncodeError::InsufficientSize(error)) => error.required_size,
                        Err(error) => return Err(SessionError::new(FailureWord::Handshake, error)),
                        Ok(_) => 0,
                    };
                    let written = output.len();
                    output.resize(written + bytes, 0);
                    if bytes > 0 {
                        data.encode(&mut output[written..])
                            .map_err(failed(FailureWord::Handshake))?;
                    }
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_) => {
                    read += discard;
                    break;
                }
                other => {
                    return Err(SessionError::new(
                        FailureWord::Handshake,
                        format!("{other:?}"),
                    ));
                }
            }
            read += discard;
        }
        all_read(FailureWord::Handshake, input, read)?;
        Ok(if self.connection.state().is_handshaking() {
            HandshakeState::Going
        } else {
            HandshakeState::Done
        })
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        let mut traffic = match self.connection.process(&mut []).state {
            Ok(ConnectionState::WriteTraffic(traffic)) => traffic,
            Ok(other) => return Err(SessionError::new(FailureWord::Send, format!("{other:?}"))),
            Err(error) => return Err(SessionError::new(FailureWord::Send, error)),
        };
        let mut written = traffic.encrypt(plaintext, self.room.of(output));
        if let Err(EncryptError::InsufficientSize(error)) = written {
            self.room.grow(output, error.required_size);
            written = traffic.encrypt(plaintext, self.room.of(output));
        }
        let written = written.map_err(failed(FailureWord::Send))?;
        self.room.filled(output, written);
        Ok(())
    }

    /// Receives data. The plaintext stays in the library's buffer, which is the purpose of this interface: no
    /// data are copied to `plaintext`.
    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        _plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        let (mut read, mut received) = (0, 0);
        loop {
            let UnbufferedStatus { discard, state } = self.connection.process(&mut input[read..]);
            read += discard;
            match state.map_err(failed(FailureWord::Receive))? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(failed(FailureWord::Receive))?;
                        received += record.payload.len();
                        read += record.discard;
                    }
                }
                ConnectionState::WriteTraffic(_) => break,
                other => {
                    return Err(SessionError::new(
                        FailureWord::Receive,
                        format!("{other:?}"),
                    ));
                }
            }
        }
        all_read(FailureWord::Receive, input, read)?;
        Ok(received)
    }

    fn negotiated(&self) -> Negotiated {
        names::negotiated(self.connection.state())
    }

    fn resumed(&self) -> bool {
        self.connection.state().handshake_kind() == Some(Kind::Resumed)
    }
}

fn all_read(what: FailureWord, input: &mut Vec<u8>, read: usize) -> Result<(), SessionError> {
    let left = input.len() - read;
    input.clear();
    if left == 0 {
        Ok(())
    } else {
        Err(SessionError::new(what, format!("{left} bytes not read")))
    }
}

/// The allocation to which a session writes its records. Users of the interface keep it, and know that it is
/// initialised; this type remembers that, so that the harness does not time the clearing of a megabyte before
/// each write.
#[derive(Default)]
struct Room {
    address: usize,
    capacity: usize,
}

impl Room {
    /// Returns the free part of `output`, if this value made its allocation.
    fn of<'a>(&self, output: &'a mut Vec<u8>) -> &'a mut [u8] {
        if (output.as_ptr().addr(), output.capacity()) != (self.address, self.capacity) {
            return &mut [];
        }
        let spare = output.spare_capacity_mut();
        // SAFETY: it is the allocation to whose end `grow` has written, and initialised bytes are always
        // valid.
        unsafe { &mut *(ptr::from_mut(spare) as *mut [u8]) }
    }

    /// Makes room for `bytes` more bytes, and initialises all of it.
    fn grow(&mut self, output: &mut Vec<u8>, bytes: usize) {
        let used = output.len();
        output.reserve(bytes);
        output.resize(output.capacity(), 0);
        output.truncate(used);
        (self.address, self.capacity) = (output.as_ptr().addr(), output.capacity());
    }

    /// Extends `output` by the data that were written to [`Room::of`].
    fn filled(&self, output: &mut Vec<u8>, bytes: usize) {
        let length = output.len() + bytes.min(self.of(output).len());
        // SAFETY: the allocation has that length, and `grow` has initialised it.
        unsafe { output.set_len(length) }
    }
}
