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
    slow: Slow,
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

/// Whether every other call must be repeated, and a stream returns one byte at a time (`-async`).
struct Slow {
    on: bool,
    read_ready: bool,
    write_ready: bool,
}

impl Wire {
    pub(crate) fn new(socket: Socket, datagrams: bool, slow: bool) -> Self {
        let under = if datagrams {
            Under::Datagrams(Packeted::new(socket))
        } else {
            Under::Stream(socket)
        };
        let slow = Slow {
            on: slow,
            read_ready: false,
            write_ready: false,
        };
        Self {
            under,
            slow,
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
        if self.slow.on && !std::mem::replace(&mut self.slow.read_ready, false) {
            self.slow.read_ready = true;
            return Err(again());
        }
        match &mut self.under {
            Under::Stream(socket) => {
                let most = if self.slow.on {
                    buffer.len().min(1)
                } else {
                    buffer.len()
                };
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
        let slow = self.slow.on && !self.hurry;
        if slow && !std::mem::replace(&mut self.slow.write_ready, false) {
            self.slow.write_ready = true;
            return Err(again());
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
