//! The transport that libssl reads from and writes to: a stream, or datagrams with the runner's commands
//! between them.

use std::io::{self, Read, Write};

use crate::{
    packeted::{Event, Packeted},
    socket::Socket,
};

/// The connection to the runner, as blocking as the test requires.
pub(crate) struct Wire {
    under: Under,
    /// Whether every other call must be repeated, and a stream returns one byte at a time (`-async`).
    slow: bool,
    read_ready: bool,
    write_ready: bool,
    /// A command from the runner, to be executed outside of libssl.
    pub(crate) command: Option<Event>,
    /// Whether the stream has ended.
    pub(crate) ended: bool,
    /// Whether writes succeed at once, however slow the test requires them to be.
    pub(crate) hurry: bool,
    /// Number of bytes that may still be written, or `None` for no limit.
    pub(crate) allowed: Option<usize>,
}

enum Under {
    Stream(Socket),
    Datagrams(Packeted),
}

impl Wire {
    pub(crate) fn new(socket: Socket, datagrams: bool, slow: bool) -> Self {
        let under = if datagrams {
            Under::Datagrams(Packeted::new(socket))
        } else {
            Under::Stream(socket)
        };
        Self {
            under,
            slow,
            read_ready: false,
            write_ready: false,
            command: None,
            ended: false,
            hurry: false,
            allowed: None,
        }
    }
}

fn again() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.command.is_some() {
            return Err(again());
        }
        if self.slow {
            self.read_ready = !self.read_ready;
            if self.read_ready {
                return Err(again());
            }
        }
        match &mut self.under {
            Under::Stream(socket) => {
                let most = if self.slow { 1 } else { usize::MAX };
                let most = buffer.len().min(most);
                let n = socket.read(&mut buffer[..most])?;
                self.ended |= n == 0;
                Ok(n)
            }
            Under::Datagrams(packeted) => match packeted.wait()? {
                Event::Datagram(datagram) => {
                    let n = datagram.len().min(buffer.len());
                    buffer[..n].copy_from_slice(&datagram[..n]);
                    Ok(n)
                }
                Event::End => {
                    self.ended = true;
                    Ok(0)
                }
                command => {
                    self.command = Some(command);
                    Err(again())
                }
            },
        }
    }
}

impl Write for Wire {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let slow = self.slow && !self.hurry;
        if slow {
            self.write_ready = !self.write_ready;
            if self.write_ready {
                return Err(again());
            }
        }
        match &mut self.under {
            Under::Stream(socket) => {
                let mut most = if slow { data.len().min(1) } else { data.len() };
                if let Some(allowed) = &mut self.allowed {
                    most = most.min(*allowed);
                    if most == 0 {
                        return Err(again());
                    }
                    *allowed -= most;
                }
                socket.write(&data[..most])
            }
            Under::Datagrams(packeted) => {
                packeted.write(data)?;
                Ok(data.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
