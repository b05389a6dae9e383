//! A connection to the driver of a browser, over which both send messages.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use crate::{Limit, error::Unanswered};

/// The interval at which a wait checks whether it was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// A connection with the bytes that have arrived.
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Result<Self, Unanswered> {
        stream
            .set_read_timeout(Some(LOOK))
            .and_then(|()| stream.set_write_timeout(Some(LOOK)))
            .and_then(|()| stream.set_nodelay(true))
            .map_err(|_| Unanswered::Ended)?;
        Ok(Self {
            stream,
            received: Vec::new(),
        })
    }

    /// Sends a request of a few hundred bytes, which the socket accepts at once.
    pub(crate) fn send(&mut self, request: &str) -> Result<(), Unanswered> {
        let sent = self.stream.write_all(request.as_bytes());
        sent.map_err(|_| Unanswered::Ended)
    }

    /// Returns the first message, which `take` removes from the received bytes once it is complete.
    pub(crate) fn receive<T>(
        &mut self,
        limit: Limit<'_>,
        take: impl Fn(&mut Vec<u8>) -> Result<Option<T>, Unanswered>,
    ) -> Result<T, Unanswered> {
        loop {
            if let Some(message) = take(&mut self.received)? {
                return Ok(message);
            }
            limit.check()?;
            let mut buffer = [0; 16 << 10];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Unanswered::Ended),
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(Unanswered::Ended),
                },
            }
        }
    }
}
