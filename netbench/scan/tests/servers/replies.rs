//! A server of a few lines, whose bytes are made here: it can be wrong in any way.

use std::{
    io::Read,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use netbench_scan::codec::ClientHello;

/// A server in a thread, with a thread for each connection; it ends when this value is dropped.
pub(crate) struct Hostile {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl Hostile {
    /// Starts the server. `answer` receives the connection's number and the connection.
    pub(crate) fn new(answer: impl Fn(u32, TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let answer = Arc::new(answer);
        let accepts = thread::spawn(move || {
            for (number, stream) in (0..).zip(listener.incoming()) {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let limit = Some(Duration::from_secs(20));
                stream.set_read_timeout(limit).unwrap();
                stream.set_write_timeout(limit).unwrap();
                stream.set_nodelay(true).unwrap();
                let answer = Arc::clone(&answer);
                thread::spawn(move || answer(number, stream));
            }
        });
        Self {
            address,
            stop,
            accepts: Some(accepts),
        }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The connection makes the thread check the flag.
        let _ = TcpStream::connect(self.address);
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}

/// Returns the client's hello; `None` if the client is gone.
pub(crate) fn read_hello(stream: &mut TcpStream) -> Option<ClientHello> {
    read_hello_and_bytes(stream).map(|(hello, _)| hello)
}

/// Returns the client's hello with all bytes that were read; `None` if the client is gone.
pub(crate) fn read_hello_and_bytes(stream: &mut TcpStream) -> Option<(ClientHello, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    loop {
        match stream.read(&mut room) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&room[..count]),
        }
        if let Some(hello) = ClientHello::of_records(&bytes).expect("a hello") {
            return Some((hello, bytes));
        }
    }
}

/// Ends the connection by a reset.
pub(crate) fn reset(stream: TcpStream) {
    let socket = socket2::SockRef::from(&stream);
    socket.set_linger(Some(Duration::ZERO)).unwrap();
}

/// The suites of the server of a few lines: only for TLS 1.2, in its own order.
pub(crate) const SUITES: [u16; 3] = [0xc02f, 0x0035, 0x002f];

/// Its only group.
const X25519: u16 = 0x1d;

/// Returns the messages of its response, each with its header, or the alert.
pub(crate) fn answer(hello: &ClientHello, chain: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, u8> {
    const PROTOCOL_VERSION: u8 = 70;
    const HANDSHAKE_FAILURE: u8 = 40;
    if !hello.versions().contains(&0x0303) && hello.legacy_version != 0x0399 {
        return Err(PROTOCOL_VERSION);
    }
    let curve = hello.groups().contains(&X25519);
    let suite = SUITES
        .iter()
        .find(|code| hello.suites.contains(code) && (curve || **code != 0xc02f))
        .ok_or(HANDSHAKE_FAILURE)?;
    let mut messages = vec![server_hello(0x0303, *suite, &[]), certificate(chain)];
    if *suite == 0xc02f {
        messages.push(key_exchange(0x0804));
    }
    messages.push(message(14, &[]));
    Ok(messages)
}

/// Returns a ServerHello with these extensions.
pub(crate) fn server_hello(version: u16, suite: u16, extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    body.extend([7; 32]);
    body.push(0);
    body.extend(suite.to_be_bytes());
    body.push(0);
    let mut all = Vec::new();
    for (code, bytes) in extensions {
        all.extend(code.to_be_bytes());
        all.extend(u16::try_from(bytes.len()).unwrap().to_be_bytes());
        all.extend(bytes);
    }
    body.extend(u16::try_from(all.len()).unwrap().to_be_bytes());
    body.extend(all);
    message(2, &body)
}

/// Returns a HelloRetryRequest of TLS 1.3 that requests a share of this group.
pub(crate) fn retry_request(suite: u16, group: u16) -> Vec<u8> {
    const RANDOM: [u8; 32] = [
        0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8,
        0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8,
        0x33, 0x9c,
    ];
    let share = group.to_be_bytes().to_vec();
    let mut hello = server_hello(0x0303, suite, &[(43, vec![3, 4]), (51, share)]);
    hello[6..38].copy_from_slice(&RANDOM);
    hello
}

/// Returns a Certificate message of TLS 1.2.
pub(crate) fn certificate(chain: &[Vec<u8>]) -> Vec<u8> {
    let mut list = Vec::new();
    for der in chain {
        list.extend(length24(der.len()));
        list.extend(der);
    }
    let mut body = length24(list.len()).to_vec();
    body.extend(list);
    message(11, &body)
}

/// Returns a ServerKeyExchange on x25519, with this scheme and an invalid signature.
pub(crate) fn key_exchange(scheme: u16) -> Vec<u8> {
    let mut body = vec![3, 0, 0x1d, 32];
    body.extend([9; 32]);
    body.extend(scheme.to_be_bytes());
    body.extend([0, 4, 1, 2, 3, 4]);
    message(12, &body)
}

/// Returns a handshake message.
pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(length24(body.len()));
    bytes.extend(body);
    bytes
}

/// Returns bytes in a record of this content type.
pub(crate) fn record(content: u8, bytes: &[u8]) -> Vec<u8> {
    let mut record = vec![content, 3, 3];
    record.extend(u16::try_from(bytes.len()).unwrap().to_be_bytes());
    record.extend(bytes);
    record
}

/// Returns a fatal alert.
pub(crate) fn alert(description: u8) -> Vec<u8> {
    record(21, &[2, description])
}

pub(crate) fn length24(length: usize) -> [u8; 3] {
    let bytes = u32::try_from(length).unwrap().to_be_bytes();
    [bytes[1], bytes[2], bytes[3]]
}
