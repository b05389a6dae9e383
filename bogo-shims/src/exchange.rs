//! The course of every connection: handshake, checks, writes, echo, shutdown.

use crate::{Failure, OptionSets, Options};

/// One side of one connection, on some TLS library, which holds the options of the connection.
///
/// # Errors
/// The methods return an error if the library or the transport reports one, and [`Failure::Unsupported`] where the library
/// has no call. QUIC has neither unfinished writes, which are its stack's, nor key updates of TLS (RFC 9001 section 6).
pub trait Endpoint<'a> {
    /// Continues with other options, after rejected early data.
    fn retry(&mut self, options: &'a Options);

    /// Makes the handshake, or the part of it that precedes application data.
    fn handshake(&mut self) -> Result<(), Failure>;

    /// Compares the negotiated parameters with the test's expectations, and returns the first property that differs.
    fn check(&mut self) -> Result<(), Failure>;

    /// Returns exported keying material (RFC 5705, RFC 8446 section 7.5).
    fn export(&mut self, wanted: &Material<'_>) -> Result<Vec<u8>, Failure>;

    /// Returns a secret by its label (NSS key log format), or `None` if the library has not reported it.
    fn secret(&self, label: &str) -> Option<Vec<u8>>;

    /// Returns the channel binding of RFC 5929, to send before data.
    fn tls_unique(&mut self) -> Result<Vec<u8>, Failure> {
        Err(Failure::unsupported("tls-unique"))
    }

    /// Writes all of `data` as application data.
    fn write(&mut self, data: &[u8]) -> Result<(), Failure>;

    /// Passes `data` to the library, and lets only the first byte of its output through.
    fn write_unfinished(&mut self, _data: &[u8]) -> Result<(), Failure> {
        Err(Failure::unsupported("unfinished writes"))
    }

    /// Finishes the write that [`Self::write_unfinished`] began.
    fn finish_write(&mut self, _data: &[u8]) -> Result<(), Failure> {
        Err(Failure::unsupported("unfinished writes"))
    }

    /// Reads application data. Returns 0 at their end, clean or not.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure>;

    /// Changes the keys of this direction (RFC 8446 section 4.6.3).
    fn key_update(&mut self) -> Result<(), Failure> {
        Err(Failure::unsupported("key updates"))
    }

    /// Ends the connection as the test requires, and checks the properties that are known only then.
    fn shutdown(&mut self) -> Result<(), Failure>;
}

/// Moves the first data that were read to a buffer, and returns their length.
pub fn take(pending: &mut Vec<u8>, buffer: &mut [u8]) -> usize {
    let n = buffer.len().min(pending.len());
    buffer[..n].copy_from_slice(&pending[..n]);
    pending.drain(..n);
    n
}

/// The keying material that a test exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Material<'a> {
    /// The length in bytes.
    pub length: usize,
    /// The label of the application.
    pub label: &'a [u8],
    /// The context, which may be empty.
    pub context: Option<&'a [u8]>,
}

/// Data that the shim sends first; `-shim-initial-write` changes them.
const INITIAL_WRITE: &[u8] = b"hello";

/// Takes `endpoint` through a connection with these options, and with those of a retry when early data was
/// rejected.
///
/// # Errors
/// Returns the first failure.
pub fn connection<'a>(
    mut endpoint: impl Endpoint<'a>,
    options: &'a Options,
    sets: &'a OptionSets,
) -> Result<(), Failure> {
    match exchange(&mut endpoint, options) {
        Err(Failure::EarlyDataRejected) => {
            endpoint.retry(&sets.retry);
            exchange(&mut endpoint, &sets.retry)
        }
        other => other,
    }
}

fn exchange<'a>(endpoint: &mut impl Endpoint<'a>, options: &Options) -> Result<(), Failure> {
    if !options.on("-implicit-handshake") {
        endpoint.handshake()?;
        endpoint.check()?;
    }
    export(endpoint, options)?;
    if options.on("-export-traffic-secrets") {
        let secrets = traffic_secrets(endpoint, options)?;
        endpoint.write(&secrets)?;
    }
    if options.on("-tls-unique") {
        let binding = endpoint.tls_unique()?;
        endpoint.write(&binding)?;
    }
    if options.on("-write-different-record-sizes") {
        write_sizes(endpoint)?;
    } else {
        write_and_echo(endpoint, options)?;
    }
    if options.on("-implicit-handshake") {
        endpoint.check()?;
    }
    endpoint.shutdown()
}

fn export<'a>(endpoint: &mut impl Endpoint<'a>, options: &Options) -> Result<(), Failure> {
    let length = options.number("-export-keying-material").unwrap_or(0);
    let Some(length) = usize::try_from(length).ok().filter(|length| *length > 0) else {
        return Ok(());
    };
    let label = options.bytes("-export-label").unwrap_or_default();
    let context = options.bytes("-export-context").unwrap_or_default();
    let context = options.on("-use-export-context").then_some(context);
    let material = endpoint.export(&Material {
        length,
        label,
        context,
    })?;
    endpoint.write(&material)
}

/// Returns the bytes of `-export-traffic-secrets`: the length, the read secret, and the write secret.
fn traffic_secrets<'a>(
    endpoint: &impl Endpoint<'a>,
    options: &Options,
) -> Result<Vec<u8>, Failure> {
    let labels = ["CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"];
    let [Some(client), Some(server)] = labels.map(|label| endpoint.secret(label)) else {
        return Err(Failure::failed("no traffic secrets"));
    };
    let (read, write) = if options.on("-server") {
        (client, server)
    } else {
        (server, client)
    };
    let length = u16::try_from(read.len()).map_err(|_| Failure::failed("secret too long"))?;
    Ok([length.to_le_bytes().to_vec(), read, write].concat())
}

/// Writes data of the sizes around those at which libraries split records.
fn write_sizes<'a>(endpoint: &mut impl Endpoint<'a>) -> Result<(), Failure> {
    let data = vec![0x42; 32769];
    for size in [
        0, 1, 255, 256, 257, 16383, 16384, 16385, 32767, 32768, 32769,
    ] {
        endpoint.write(&data[..size])?;
    }
    Ok(())
}

fn write_and_echo<'a>(endpoint: &mut impl Endpoint<'a>, options: &Options) -> Result<(), Failure> {
    let initial = options
        .bytes("-shim-initial-write")
        .unwrap_or(INITIAL_WRITE);
    let writes_first = options.on("-shim-writes-first");
    let mut unfinished = options.on("-read-with-unfinished-write");
    if unfinished {
        endpoint.write_unfinished(initial)?;
    } else if writes_first {
        for _ in 0..options.number("-repeat-shim-initial-write").unwrap_or(1) {
            endpoint.write(initial)?;
        }
    }
    if options.on("-shim-shuts-down") {
        return Ok(());
    }
    // A small buffer makes several reads of a record necessary. A datagram must fit into the buffer.
    let usual = if options.on("-dtls") { 16384 } else { 512 };
    let size = options
        .number("-read-size")
        .and_then(|size| usize::try_from(size).ok());
    let mut buffer = vec![0; size.filter(|size| *size > 0).unwrap_or(usual)];
    loop {
        if options.on("-key-update-before-read") {
            endpoint.key_update()?;
        }
        let n = endpoint.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        if std::mem::take(&mut unfinished) {
            endpoint.finish_write(initial)?;
        }
        if options.on("-key-update") {
            endpoint.key_update()?;
        }
        for byte in &mut buffer[..n] {
            *byte ^= 0xff;
        }
        endpoint.write(&buffer[..n])?;
    }
}
