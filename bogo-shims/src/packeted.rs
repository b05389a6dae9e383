//! The runner's stand-in for UDP: datagrams and commands on a stream
//! (`ssl/test/runner/packet_adapter.go`).

use std::{
    io::{self, Read, Write},
    time::Duration,
};

use crate::socket::Socket;

/// An event from the runner.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A datagram.
    Datagram(Vec<u8>),
    /// An amount of time passes; the shim has acknowledged the command.
    Timeout(Duration),
    /// The new maximum size of datagrams, in bytes.
    Mtu(u32),
    /// The library's next timeout must be this far away; `None`: there must be no timeout.
    ExpectTimeout(Option<Duration>),
    /// The new first timeout of a flight.
    InitialTimeout(Duration),
    /// The stream ended.
    End,
}

/// The maximum size of a datagram that is accepted from the runner.
const LONGEST: usize = 1 << 20;

/// Datagrams over a socket.
#[derive(Debug)]
pub struct Packeted {
    socket: Socket,
}

impl Packeted {
    /// Makes a transport for datagrams over this socket.
    pub fn new(socket: Socket) -> Self {
        Self { socket }
    }

    /// Writes a datagram.
    ///
    /// # Errors
    /// Returns an error if the transport fails.
    pub fn write(&mut self, datagram: &[u8]) -> io::Result<()> {
        let length = u32::try_from(datagram.len()).map_err(io::Error::other)?;
        let mut packet = vec![b'P'];
        packet.extend(length.to_be_bytes());
        packet.extend(datagram);
        self.socket.write_all(&packet)
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// Returns an error if the transport fails, or the runner sends an unknown opcode.
    pub fn wait(&mut self) -> io::Result<Event> {
        let mut opcode = [0];
        if self.socket.read(&mut opcode)? == 0 {
            return Ok(Event::End);
        }
        Ok(match opcode[0] {
            b'P' => {
                let length = self.number()? as usize;
                if length > LONGEST {
                    return Err(io::Error::other("datagram too long"));
                }
                let mut datagram = vec![0; length];
                self.socket.read_exact(&mut datagram)?;
                Event::Datagram(datagram)
            }
            b'T' => {
                let time = Duration::from_nanos(self.long_number()?);
                self.socket.write_all(b"t")?;
                Event::Timeout(time)
            }
            b'M' => Event::Mtu(self.number()?),
            b'E' => match self.long_number()? {
                u64::MAX => Event::ExpectTimeout(None),
                nanos => Event::ExpectTimeout(Some(Duration::from_nanos(nanos))),
            },
            b'U' => Event::InitialTimeout(Duration::from_millis(self.number()?.into())),
            other => return Err(io::Error::other(format!("unknown opcode {other}"))),
        })
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.socket.read_exact(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn long_number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.socket.read_exact(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }
}
