//! The runner's stand-in for QUIC: records that carry their secret in the clear.
//!
//! A record is its type, encryption level, cipher suite, the length of the rest, the secret of its
//! level, and data (`ssl/test/runner/mock_quic_transport.go`).

use std::io::{Read, Write};

use crate::{Failure, socket::Socket};

/// Encryption levels of RFC 9001 section 4, with the runner's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// No secret.
    Initial = 0,
    /// 0-RTT.
    EarlyData = 1,
    /// The handshake's.
    Handshake = 2,
    /// 1-RTT.
    Application = 3,
}

/// Content types of TLS records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// An alert.
    Alert = 21,
    /// Handshake messages.
    Handshake = 22,
    /// Application data.
    Data = 23,
}

/// A record that was read.
#[derive(Debug)]
pub struct Record {
    /// What it carries.
    pub content: Content,
    /// The level it was sent at.
    pub level: Level,
    /// What it carries, without the secret.
    pub data: Vec<u8>,
}

/// The secrets of one direction at each level, and the suite they belong to.
#[derive(Debug, Default)]
struct Secrets {
    levels: [Option<(u16, Vec<u8>)>; 4],
}

/// Records over a socket.
#[derive(Debug)]
pub struct Transport {
    socket: Socket,
    read: Secrets,
    write: Secrets,
}

/// Longest record that is believed.
const LONGEST: usize = 1 << 20;

impl Transport {
    /// Records over this socket; no level but the first has a secret yet.
    pub fn new(socket: Socket) -> Self {
        Self {
            socket,
            read: Secrets::default(),
            write: Secrets::default(),
        }
    }

    /// Sets what the peer's records of a level must carry.
    pub fn set_read_secret(&mut self, level: Level, suite: u16, secret: &[u8]) {
        self.read.levels[level as usize] = Some((suite, secret.to_vec()));
    }

    /// Sets what records of a level will carry.
    pub fn set_write_secret(&mut self, level: Level, suite: u16, secret: &[u8]) {
        self.write.levels[level as usize] = Some((suite, secret.to_vec()));
    }

    /// Whether records of this level can be written.
    pub fn can_write(&self, level: Level) -> bool {
        level == Level::Initial || self.write.levels[level as usize].is_some()
    }

    /// The next record; `None` where the stream ends.
    ///
    /// # Errors
    /// When it does not carry the secret that it must.
    pub fn read(&mut self) -> Result<Option<Record>, Failure> {
        loop {
            let mut header = [0; 8];
            if self.socket.read_exact(&mut header).is_err() {
                return Ok(None);
            }
            let content = match header[0] {
                21 => Content::Alert,
                22 => Content::Handshake,
                23 => Content::Data,
                other => return Err(Failure::failed(format!("record of type {other}"))),
            };
            let level = match header[1] {
                0 => Level::Initial,
                1 => Level::EarlyData,
                2 => Level::Handshake,
                3 => Level::Application,
                other => return Err(Failure::failed(format!("record of level {other}"))),
            };
            let suite = u16::from_be_bytes([header[2], header[3]]);
            let length = u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize;
            if length > LONGEST {
                return Err(Failure::failed("record too long"));
            }
            let mut data = vec![0; length];
            self.socket.read_exact(&mut data)?;
            let none = (0, Vec::new());
            let (wanted, secret) = match &self.read.levels[level as usize] {
                Some(secret) => secret,
                None if level == Level::Initial => &none,
                // Early data that was not accepted has no secret, and is to be dropped.
                None if level == Level::EarlyData => continue,
                None => {
                    return Err(Failure::failed(format!(
                        "record at {level:?}, which has no keys"
                    )));
                }
            };
            if suite != *wanted {
                return Err(Failure::failed(format!(
                    "cipher suite {suite:#06x} at {level:?}"
                )));
            }
            if !data.starts_with(secret) {
                return Err(Failure::failed(format!(
                    "secret at {level:?} did not match"
                )));
            }
            data.drain(..secret.len());
            return Ok(Some(Record {
                content,
                level,
                data,
            }));
        }
    }

    /// Writes a record.
    ///
    /// # Errors
    /// When the level has no secret yet, or the transport breaks.
    pub fn write(&mut self, content: Content, level: Level, data: &[u8]) -> Result<(), Failure> {
        let none = (0, Vec::new());
        let (suite, secret) = match &self.write.levels[level as usize] {
            Some(secret) => secret,
            None if level == Level::Initial => &none,
            None => return Err(Failure::failed(format!("no keys to write at {level:?}"))),
        };
        let length = u32::try_from(secret.len() + data.len())
            .map_err(|_| Failure::failed("record too long"))?;
        let mut record = vec![content as u8, level as u8];
        record.extend(suite.to_be_bytes());
        record.extend(length.to_be_bytes());
        record.extend(secret);
        record.extend(data);
        Ok(self.socket.write_all(&record)?)
    }
}
