//! The runner's mock transport for QUIC: records that carry their secret in the clear.
//!
//! A record is its type, encryption level, cipher suite, the length of the rest, the secret of its level, and
//! data (`ssl/test/runner/mock_quic_transport.go`). [`Stream`] has the role of a QUIC stack for a TLS
//! library: it keeps the levels (RFC 9001 section 4.1) and does not interpret the messages.

use std::io::{Read, Write};

use crate::{Failure, exchange::take, socket::Socket};

/// Encryption levels of RFC 9001 section 4, with the runner's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The level without a secret.
    Initial = 0,
    /// 0-RTT.
    EarlyData = 1,
    /// Handshake keys.
    Handshake = 2,
    /// 1-RTT.
    Application = 3,
}

/// The result of reading one record from the runner.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Handshake messages, or parts of them, at the expected level.
    Handshake(Vec<u8>),
    /// Application data, which [`Stream::take`] returns.
    Data,
    /// The stream ended.
    End,
}

/// The crypto stream and the data of one connection.
#[derive(Debug)]
pub struct Stream {
    socket: Socket,
    read_secrets: Secrets,
    write_secrets: Secrets,
    /// The levels at which handshake messages are read, and written.
    read_level: Level,
    write_level: Level,
    /// Data that were read and not yet taken.
    pending: Vec<u8>,
}

impl Stream {
    /// Makes a stream over this socket; only the first level can be used so far.
    pub fn new(socket: Socket) -> Self {
        // Records of the first level have no secret.
        let secrets: Secrets = [Some((0, Vec::new())), None, None, None];
        Self {
            socket,
            read_secrets: secrets.clone(),
            write_secrets: secrets,
            read_level: Level::Initial,
            write_level: Level::Initial,
            pending: Vec::new(),
        }
    }

    /// Sets the suite and secret that the peer's records of a level must carry.
    pub fn set_read_secret(&mut self, level: Level, suite: u16, secret: &[u8]) {
        self.read_secrets[level as usize] = Some((suite, secret.to_vec()));
    }

    /// Sets the suite and secret that written records of a level will carry. Handshake messages are written
    /// at this level from now on, but never at that of early data.
    pub fn set_write_secret(&mut self, level: Level, suite: u16, secret: &[u8]) {
        self.write_secrets[level as usize] = Some((suite, secret.to_vec()));
        if level != Level::EarlyData {
            self.write_level = level;
        }
    }

    /// Sets the level at which handshake messages are expected from now on; they never arrive in early data.
    pub fn expect_level(&mut self, level: Level) {
        if level != Level::EarlyData {
            self.read_level = level;
        }
    }

    /// Returns whether records of this level can be written.
    pub fn can_write(&self, level: Level) -> bool {
        self.write_secrets[level as usize].is_some()
    }

    /// Reads one record.
    ///
    /// # Errors
    /// Returns an error if the record is an alert, has another level than expected, or does not carry its
    /// secret.
    pub fn read(&mut self) -> Result<Step, Failure> {
        let Some((content, level, data)) = self.read_record()? else {
            return Ok(Step::End);
        };
        match content {
            Content::Alert => Err(Failure::failed("an alert over QUIC")),
            Content::Data => {
                self.pending.extend(data);
                Ok(Step::Data)
            }
            Content::Handshake if level != self.read_level => {
                Err(Failure::failed("WRONG_ENCRYPTION_LEVEL_RECEIVED"))
            }
            Content::Handshake => Ok(Step::Handshake(data)),
        }
    }

    /// Returns whether there are data that were read and not yet taken.
    pub fn has_data(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes data that were read.
    pub fn take(&mut self, buffer: &mut [u8]) -> usize {
        take(&mut self.pending, buffer)
    }

    /// Writes handshake messages, unless the transport fails.
    pub fn write_handshake(&mut self, messages: &[u8]) -> Result<(), Failure> {
        self.write(Content::Handshake, self.write_level, messages)
    }

    /// Writes a fatal alert as [`Self::write_handshake`] does, where QUIC would close the connection with its code (RFC 9001
    /// section 4.8).
    pub fn write_alert(&mut self, code: u8) -> Result<(), Failure> {
        self.write(Content::Alert, self.write_level, &[2, code])
    }

    /// Writes application data at a level, unless it has no keys yet or the transport fails.
    pub fn write_data(&mut self, level: Level, data: &[u8]) -> Result<(), Failure> {
        self.write(Content::Data, level, data)
    }

    /// Reads the next record, without its secret. Returns `None` where the stream ends.
    fn read_record(&mut self) -> Result<Option<(Content, Level, Vec<u8>)>, Failure> {
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
            let (wanted, secret) = match &self.read_secrets[level as usize] {
                Some(secret) => secret,
                // Early data that were not accepted have no secret, and are discarded.
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
            return Ok(Some((content, level, data)));
        }
    }

    fn write(&mut self, content: Content, level: Level, data: &[u8]) -> Result<(), Failure> {
        let Some((suite, secret)) = &self.write_secrets[level as usize] else {
            return Err(Failure::failed(format!("no keys to write at {level:?}")));
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

/// Content types of TLS records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Alert = 21,
    Handshake = 22,
    Data = 23,
}

/// The suite and secret of one direction at each level.
type Secrets = [Option<(u16, Vec<u8>)>; 4];

/// The maximum size of a record that is accepted from the runner.
const LONGEST: usize = 1 << 20;
