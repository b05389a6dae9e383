//! The connection to the runner.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use crate::{Failure, Options};

/// The time for which a shim waits for the runner; the runner itself gives up earlier.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to the runner, which is half-closed and drained at its end, so that no data of the
/// shim is lost.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
}

impl Socket {
    /// Connects, and sends the test's number to the runner.
    ///
    /// # Errors
    /// Returns an error without `-port`, or if the connection fails.
    pub fn connect(options: &Options) -> Result<Self, Failure> {
        let port = options
            .number("-port")
            .and_then(|port| u16::try_from(port).ok());
        let port = port.ok_or_else(|| Failure::failed("no -port"))?;
        let address: IpAddr = if options.on("-ipv6") {
            Ipv6Addr::LOCALHOST.into()
        } else {
            Ipv4Addr::LOCALHOST.into()
        };
        let mut stream = TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let id = options.number("-shim-id").unwrap_or(0);
        stream.write_all(&id.to_le_bytes())?;
        Ok(Self { stream })
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.stream.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.stream.shutdown(Shutdown::Write).is_ok() {
            let mut rest = [0; 1024];
            while matches!(self.stream.read(&mut rest), Ok(n) if n > 0) {}
        }
    }
}
