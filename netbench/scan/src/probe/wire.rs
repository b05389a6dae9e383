//! A TCP connection, with its limits and counts.

use std::{cell::RefCell, io, net::SocketAddr, time::Duration};

use rustix::io::Errno;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use netbench_model::StartTls;

use crate::codec::{
    Flight, FlightReader, NotTls, ReadError, Record, Records, StartTlsDialogue, StartTlsStep, Step,
};

/// Number of bytes read at a time: the first flights of most servers.
const READ: usize = 8 * 1024;

/// The maximum number of bytes read from one connection; a long chain and a response's head are far below.
const MOST_READ: usize = 512 * 1024;

/// The maximum number of bytes of a record that is waited for.
const MOST_WAITING: usize = 64 * 1024;

/// The maximum number of bytes of an incomplete answer that are kept to describe it.
const KEPT: usize = 64;

/// The maximum number of bytes of an incomplete answer that are shown.
const SHOWN: usize = 8;

/// Counts of all connections to a site.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) connect_us: Vec<u64>,
    /// The first answer that was not complete.
    pub(super) incomplete: Option<String>,
}

/// An error of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConnectionError {
    /// The connection was not established.
    Connect(String),
    /// This machine could not open the connection: no descriptors, no ports.
    Local(String),
    /// There was no response within the limit.
    Silent,
    /// The server closed the connection.
    Closed,
    /// The server reset the connection.
    Reset,
    /// The server uses another protocol.
    NotTls(NotTls),
    /// The server's bytes break the protocol.
    Malformed(String),
    /// The server was asked for TLS and does not begin it.
    StartTls(String),
}

/// A server's reply to a hello.
pub(super) enum Reply {
    /// A ServerHello; the connection continues.
    Flight(Box<Flight>, Wire),
    /// An alert.
    Alert(u8),
    /// Neither of the two.
    Failed(ConnectionError),
}

pub(super) struct Wire {
    stream: TcpStream,
    until: Instant,
    taken: usize,
    /// What has arrived after the flight.
    records: Records,
    /// The error in the flight after its ServerHello, if there was one.
    pub(super) fault: Option<String>,
}

impl Wire {
    pub(super) async fn open(
        address: SocketAddr,
        limit: Duration,
        counts: &RefCell<Counts>,
    ) -> Result<Self, ConnectionError> {
        let begun = Instant::now();
        let stream = match timeout(limit, TcpStream::connect(address)).await {
            Err(_) => {
                return Err(ConnectionError::Connect(
                    "no answer to the connection".to_owned(),
                ));
            }
            Ok(Err(error)) => return Err(no_connection(&error)),
            Ok(Ok(stream)) => stream,
        };
        let took = begun.elapsed();
        let mut counts = counts.borrow_mut();
        counts
            .connect_us
            .push(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        // A hello in two writes must travel in two segments.
        let _ = stream.set_nodelay(true);
        Ok(Self {
            stream,
            until: Instant::now() + limit,
            taken: 0,
            records: Records::default(),
            fault: None,
        })
    }

    /// Asks the server for TLS, in plain text.
    pub(super) async fn start_tls(
        &mut self,
        protocol: StartTls,
        host: &str,
        counts: &RefCell<Counts>,
    ) -> Result<(), ConnectionError> {
        let (mut dialogue, first) = StartTlsDialogue::new(protocol, host);
        if let Some(first) = first {
            self.write(&first, counts).await?;
        }
        loop {
            match self.read(counts, |arrived| dialogue.push(arrived)).await? {
                StartTlsStep::Wait => {}
                StartTlsStep::Send(bytes) => self.write(&bytes, counts).await?,
                StartTlsStep::Handshake => return Ok(()),
                StartTlsStep::Leave(why) => return Err(ConnectionError::StartTls(why)),
            }
        }
    }

    /// Restarts the time limit, for what comes after an answer.
    pub(super) fn extend(&mut self, limit: Duration) {
        self.until = Instant::now() + limit;
    }

    pub(super) async fn write(
        &mut self,
        bytes: &[u8],
        counts: &RefCell<Counts>,
    ) -> Result<(), ConnectionError> {
        let written = timeout_at(self.until, self.stream.write_all(bytes)).await;
        counts.borrow_mut().bytes_out += bytes.len() as u64;
        match written {
            Err(_) => Err(ConnectionError::Silent),
            Ok(Err(error)) => Err(connection_error(&error)),
            Ok(Ok(())) => Ok(()),
        }
    }

    /// Waits until bytes have arrived, and passes them to `take`. No buffer is held during the wait, because
    /// hundreds of connections wait.
    pub(super) async fn read<T>(
        &mut self,
        counts: &RefCell<Counts>,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, ConnectionError> {
        loop {
            match timeout_at(self.until, self.stream.readable()).await {
                Err(_) => return Err(ConnectionError::Silent),
                Ok(Err(error)) => return Err(connection_error(&error)),
                Ok(Ok(())) => {}
            }
            let mut room = [0; READ];
            let count = match self.stream.try_read(&mut room) {
                Ok(0) => return Err(ConnectionError::Closed),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(connection_error(&error)),
            };
            counts.borrow_mut().bytes_in += count as u64;
            self.taken += count;
            if self.taken > MOST_READ {
                return Err(ConnectionError::Malformed(format!(
                    "more than {} KiB without an end",
                    MOST_READ / 1024
                )));
            }
            return Ok(take(&room[..count]));
        }
    }

    /// Reads the next record after the flight. Returns `None` if none comes.
    pub(super) async fn record(&mut self, counts: &RefCell<Counts>) -> Option<Record> {
        loop {
            if let Some(record) = self.records.next_record().ok()? {
                return Some(record);
            }
            if self.records.waiting() > MOST_WAITING {
                return None;
            }
            let mut records = std::mem::take(&mut self.records);
            self.read(counts, |arrived| records.push(arrived))
                .await
                .ok()?;
            self.records = records;
        }
    }

    /// Reads the flight that answers a second hello on the connection.
    pub(super) fn flight_after_retry(
        mut self,
        counts: &RefCell<Counts>,
    ) -> impl Future<Output = Reply> {
        let records = std::mem::take(&mut self.records);
        self.flight_into(FlightReader::after_retry(records), counts)
    }

    /// Reads a server's first flight. A flight that breaks off after the ServerHello is still a response.
    pub(super) fn flight(self, counts: &RefCell<Counts>) -> impl Future<Output = Reply> {
        self.flight_into(FlightReader::default(), counts)
    }

    /// Reads a server's flight into a reader that may hold records already.
    async fn flight_into(mut self, mut reader: FlightReader, counts: &RefCell<Counts>) -> Reply {
        let (before, mut first) = (self.taken, Vec::new());
        loop {
            let read = self.read(counts, |arrived| {
                let room = KEPT.saturating_sub(first.len());
                first.extend(arrived.iter().take(room));
                reader.push(arrived)
            });
            let step = match read.await {
                Ok(step) => step,
                Err(broken) => {
                    if !first.is_empty() && reader.flight().is_none() {
                        let words = in_words(&first, self.taken - before);
                        counts.borrow_mut().incomplete.get_or_insert(words);
                    }
                    if let ConnectionError::Malformed(what) = &broken {
                        self.fault = Some(what.clone());
                    }
                    return self.ended(reader, Reply::Failed(broken));
                }
            };
            match step {
                Ok(Step::More) => {}
                Ok(Step::Done) => {
                    let nothing = ConnectionError::Malformed("nothing".to_owned());
                    return self.ended(reader, Reply::Failed(nothing));
                }
                Ok(Step::Alert(alert)) => {
                    return self.ended(reader, Reply::Alert(alert.description));
                }
                Err(ReadError::NotTls(other)) => {
                    return Reply::Failed(ConnectionError::NotTls(other));
                }
                Err(error) => {
                    let what = error.to_string();
                    self.fault = Some(what.clone());
                    return self.ended(reader, Reply::Failed(ConnectionError::Malformed(what)));
                }
            }
        }
    }

    fn ended(mut self, reader: FlightReader, reply: Reply) -> Reply {
        let flight;
        (flight, self.records) = reader.into_parts();
        match flight {
            Some(flight) => Reply::Flight(Box::new(flight), self),
            None => reply,
        }
    }
}

/// Describes an answer that is not complete: its length, and its contents as far as they are known.
fn in_words(first: &[u8], bytes: usize) -> String {
    const ALERT: &[u8] = &[21, 3];
    const ALERT_BYTES: usize = 7;
    let length = if bytes == 1 {
        "1 byte".to_owned()
    } else {
        format!("{bytes} bytes")
    };
    if first.starts_with(ALERT) {
        let mut records = first.chunks(ALERT_BYTES);
        let are_warnings = records.all(|record| matches!(record, [21, 3, _, 0, 2, 1, _]));
        return if are_warnings && first.len() == bytes {
            format!("{length} of alerts that are warnings")
        } else {
            format!("{length} that begin with an alert")
        };
    }
    let shown = &first[..first.len().min(SHOWN)];
    if shown.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return format!("{length}, \"{}\"", String::from_utf8_lossy(shown));
    }
    length
}

fn no_connection(error: &io::Error) -> ConnectionError {
    // The limit of open files of this process or of the system is reached, or no port is left.
    let local = [Errno::MFILE, Errno::NFILE, Errno::ADDRNOTAVAIL];
    if Errno::from_io_error(error).is_some_and(|errno| local.contains(&errno)) {
        ConnectionError::Local(error.to_string())
    } else if error.kind() == io::ErrorKind::ConnectionReset {
        // The connection was established, and reset before connect returned.
        ConnectionError::Reset
    } else {
        ConnectionError::Connect(match error.kind() {
            io::ErrorKind::ConnectionRefused => "refused".to_owned(),
            _ => error.to_string(),
        })
    }
}

fn connection_error(error: &io::Error) -> ConnectionError {
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => ConnectionError::Reset,
        io::ErrorKind::ConnectionAborted | io::ErrorKind::UnexpectedEof => ConnectionError::Closed,
        _ => ConnectionError::Local(error.to_string()),
    }
}
