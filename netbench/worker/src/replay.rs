//! The first flight of a connection, sent again on another one.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    time::{Duration, Instant},
};

use netbench_protocol::{Replay, ResponseBody};
use netbench_tls::{Failure, FailureClass, FailureWord};

use crate::run::wrong;

/// Sends `flight`, and waits for the server to close the connection.
pub(crate) fn replay(flight: Option<&[u8]>, request: &Replay) -> ResponseBody {
    let Some(flight) = flight.filter(|flight| !flight.is_empty()) else {
        return wrong("replay before a measured connection with early data");
    };
    match sent(flight, request) {
        Ok(bytes_in) => ResponseBody::Replayed { bytes_in },
        Err(error) => ResponseBody::Failed(Failure::new(
            FailureClass::Closed,
            FailureWord::Failed,
            error.to_string(),
        )),
    }
}

/// Returns the number of bytes that the server sent.
fn sent(flight: &[u8], request: &Replay) -> io::Result<u64> {
    let (begun, limit) = (Instant::now(), Duration::from_millis(request.timeout_ms));
    let mut stream = TcpStream::connect_timeout(&request.address, limit)?;
    stream.set_nodelay(true)?;
    stream.write_all(flight)?;
    stream.shutdown(Shutdown::Write)?;
    let (mut bytes_in, mut room) = (0, [0; 4096]);
    loop {
        let left = limit.saturating_sub(begun.elapsed());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut room) {
            Ok(0) => return Ok(bytes_in),
            Ok(count) => bytes_in += count as u64,
            // A server that has not read everything resets the connection.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(bytes_in),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
