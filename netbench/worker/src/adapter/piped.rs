use std::{
    fmt::Display,
    io::{self, IoSlice, Read, Write},
    mem,
    task::Poll,
};

use netbench_tls::{FailureWord, Negotiated};

use super::DrivenSession;
use crate::{HandshakeState, Session, SessionError, failed};

/// A transport that consists of two buffers.
#[derive(Debug, Default)]
pub struct Pipe {
    input: Vec<u8>,
    read: usize,
    output: Vec<u8>,
}

impl Pipe {
    fn has_input(&self) -> bool {
        self.read < self.input.len()
    }

    fn swap(&mut self, input: &mut Vec<u8>, output: &mut Vec<u8>) {
        mem::swap(&mut self.input, input);
        mem::swap(&mut self.output, output);
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.input[self.read..];
        if rest.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let before = self.output.len();
        for slice in slices {
            self.output.extend_from_slice(slice);
        }
        Ok(self.output.len() - before)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A session of the suite, whose transport is a [`Pipe`].
#[derive(Debug)]
pub struct Piped<S>(S);

impl<S: DrivenSession<Transport = Pipe> + Send + 'static> Piped<S> {
    /// Makes a session of the suite from a library's.
    ///
    /// # Errors
    /// The library has made none.
    pub fn session(made: Result<S, impl Display>) -> Result<Box<dyn Session>, SessionError> {
        let session = made.map_err(failed(FailureWord::Session))?;
        Ok(Box::new(Self(session)))
    }
}

impl<S: DrivenSession<Transport = Pipe>> Piped<S> {
    /// Runs an operation with `input` and `output` as the transport's buffers.
    fn with_buffers<T>(
        &mut self,
        word: FailureWord,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
        work: impl FnOnce(&mut S) -> io::Result<T>,
    ) -> Result<T, SessionError> {
        let pipe = self.0.transport_mut();
        pipe.swap(input, output);
        pipe.read = 0;
        let result = work(&mut self.0);
        let pipe = self.0.transport_mut();
        pipe.swap(input, output);
        let left = input.len() - pipe.read;
        input.clear();
        match result {
            Ok(_) if left > 0 => Err(SessionError::new(word, format!("{left} bytes not read"))),
            result => result.map_err(|e| SessionError::new(word, e)),
        }
    }
}

impl<S: DrivenSession<Transport = Pipe> + Send> Session for Piped<S> {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        self.with_buffers(FailureWord::Handshake, input, output, |session| {
            match session.handshake() {
                Poll::Pending => Ok(HandshakeState::Going),
                Poll::Ready(done) => {
                    done?;
                    // Tickets may have arrived with the end of the handshake.
                    if session.transport_mut().has_input() {
                        receive(session, &mut [0; 64])?;
                    }
                    Ok(HandshakeState::Done)
                }
            }
        })
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.with_buffers(FailureWord::Send, &mut Vec::new(), output, |session| {
            let mut rest = plaintext;
            while !rest.is_empty() {
                match session.write(rest)? {
                    Poll::Ready(sent) => rest = &rest[sent..],
                    Poll::Pending => return Err(io::ErrorKind::WouldBlock.into()),
                }
            }
            Ok(())
        })
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        self.with_buffers(FailureWord::Receive, input, &mut Vec::new(), |session| {
            receive(session, plaintext)
        })
    }

    fn release_buffers(&mut self) -> Result<Option<&'static str>, SessionError> {
        let released = self.0.release_buffers();
        released.map_err(|e| SessionError::new(FailureWord::Memory, e))
    }

    fn negotiated(&self) -> Negotiated {
        self.0.negotiated()
    }

    fn resumed(&self) -> bool {
        self.0.resumed()
    }
}

/// Reads all available data, and returns their length.
fn receive<S: DrivenSession<Transport = Pipe>>(
    session: &mut S,
    plaintext: &mut [u8],
) -> io::Result<usize> {
    let mut received = 0;
    while session.transport_mut().has_input() || session.has_plaintext() {
        match session.read(plaintext)? {
            Poll::Ready(0) | Poll::Pending => break,
            Poll::Ready(count) => received += count,
        }
    }
    Ok(received)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library whose records are their plaintext, which reads at most `most` bytes in total.
    struct Plain {
        pipe: Pipe,
        most: usize,
    }

    impl DrivenSession for Plain {
        type Transport = Pipe;

        fn transport_mut(&mut self) -> &mut Pipe {
            &mut self.pipe
        }

        fn handshake(&mut self) -> Poll<io::Result<()>> {
            let mut message = [0; 1];
            match self.pipe.read(&mut message) {
                Ok(_) => self.pipe.write_all(&message).into(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            }
        }

        fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>> {
            let room = plaintext.len().min(self.most);
            let count = self.pipe.read(&mut plaintext[..room])?;
            self.most -= count;
            Poll::Ready(Ok(count))
        }

        fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(self.pipe.write(&plaintext[..plaintext.len().min(2)]))
        }

        fn has_plaintext(&self) -> bool {
            false
        }

        fn negotiated(&self) -> Negotiated {
            Negotiated::default()
        }

        fn resumed(&self) -> bool {
            false
        }
    }

    fn piped(most: usize) -> Piped<Plain> {
        Piped(Plain {
            pipe: Pipe::default(),
            most,
        })
    }

    #[test]
    fn the_callers_buffers_are_the_transport() {
        let mut session = piped(100);
        let (mut input, mut output) = (Vec::new(), b"kept".to_vec());
        let state = session.handshake(&mut input, &mut output);
        assert_eq!(state, Ok(HandshakeState::Going));
        input.extend(b"a and what follows it");
        let state = session.handshake(&mut input, &mut output);
        assert_eq!(state, Ok(HandshakeState::Done));
        session.send(b"data", &mut output).unwrap();
        assert_eq!(
            (input.as_slice(), output.as_slice()),
            (&b""[..], &b"keptadata"[..])
        );
        input.extend(b"12345");
        assert_eq!(session.receive(&mut input, &mut [0; 2]), Ok(5));
        assert_eq!(input, b"");
    }

    #[test]
    fn input_that_is_not_read_is_an_error() {
        let mut session = piped(3);
        let error = session.receive(&mut b"12345".to_vec(), &mut [0; 8]);
        let due = SessionError::new(FailureWord::Receive, "2 bytes not read");
        assert_eq!(error, Err(due));
    }
}
