//! Records on a socket, with a time limit for the whole connection.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use netbench_scan::codec::{ReadError, Record, Records, put_vec16};
use rustix::net::sockopt::set_socket_linger;

use crate::certificates::KeyError;

/// Content types (RFC 8446 section 5.1).
pub(super) use netbench_scan::codec::content;

/// The pause between the writes of a server that sends in pieces.
const PAUSE: Duration = Duration::from_micros(200);

/// The time limit of a client for closing a finished connection.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);

/// The reason why a connection is no longer served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// The client closed it, in any way, or the time is over.
    Closed,
    /// The client sent this alert.
    Alert(u8),
    /// The server refuses with this alert, which is still to be sent.
    Refused(u8),
    /// The server has sent everything.
    Done,
    /// The client sent invalid data.
    Unreadable,
    /// The client requests a feature that this server does not support.
    Cannot(String),
}

impl From<std::io::Error> for Broken {
    fn from(_: std::io::Error) -> Self {
        Self::Closed
    }
}

impl From<KeyError> for Broken {
    fn from(error: KeyError) -> Self {
        Self::Cannot(error.to_string())
    }
}

impl From<ReadError> for Broken {
    fn from(_: ReadError) -> Self {
        Self::Unreadable
    }
}

/// A connection's socket.
pub(super) struct Wire {
    stream: TcpStream,
    read: Records,
    deadline: Instant,
    write_bytes: Option<usize>,
}

impl Wire {
    pub(super) fn new(
        stream: TcpStream,
        limit: Duration,
        write_bytes: Option<usize>,
    ) -> Result<Self, Broken> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(limit))?;
        Ok(Self {
            stream,
            read: Records::default(),
            deadline: Instant::now() + limit,
            write_bytes,
        })
    }

    /// Reads the next record. Returns its content type and its payload.
    pub(super) fn record(&mut self) -> Result<(u8, Vec<u8>), Broken> {
        loop {
            match self.read.next_record()? {
                Some(Record {
                    content, payload, ..
                }) => return Ok((content, payload)),
                None => self.more()?,
            }
        }
    }

    fn more(&mut self) -> Result<(), Broken> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Broken::Closed);
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut room = [0; 4096];
        loop {
            match self.stream.read(&mut room) {
                Ok(0) => return Err(Broken::Closed),
                Ok(count) => {
                    self.read.push(&room[..count]);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Broken::Closed),
            }
        }
    }

    /// Sends these bytes, in one piece or in many.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let Some(size) = self.write_bytes else {
            return Ok(self.stream.write_all(bytes)?);
        };
        for piece in bytes.chunks(size.max(1)) {
            self.stream.write_all(piece)?;
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Sends a record without protection.
    pub(super) fn send_plain(&mut self, content: u8, payload: &[u8]) -> Result<(), Broken> {
        let mut record = vec![content, 3, 3];
        put_vec16(&mut record, payload);
        self.send(&record)
    }

    /// Sends the alert of a server that refuses, and waits until the client has read it.
    pub(super) fn refuse(&mut self, broken: Broken) -> Broken {
        let Broken::Refused(description) = broken else {
            return broken;
        };
        let _ = self.send_plain(content::ALERT, &[2, description]);
        self.end();
        self.drain();
        Broken::Done
    }

    /// Reads further data for a moment: a socket that is closed with unread data is reset, and the client loses
    /// data that it has not read yet.
    pub(super) fn drain(&mut self) {
        self.deadline = self.deadline.min(Instant::now() + DRAIN_LIMIT);
        self.stall();
    }

    /// Waits until the client goes, or until the time is over.
    pub(super) fn stall(&mut self) {
        while self.more().is_ok() {
            self.read = Records::default();
        }
    }

    /// Ends the connection by a TCP reset.
    pub(super) fn reset(&mut self) {
        // A socket with a linger time of zero is reset when it is closed.
        let _ = set_socket_linger(&self.stream, Some(Duration::ZERO));
    }

    /// Closes the sending side.
    pub(super) fn end(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }
}
