use std::{
    io,
    net::SocketAddr,
    os::fd::RawFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::hello_retry;
use netbench_protocol::Resolve;
use netbench_tls::{
    Alert, CertificateFault, Negotiated, Phase, SignatureScheme, TcpInfo, Transfer,
};

/// The recorder of a connection's times and counts. The resolver, the TCP connector, the wire, the verifier and the
/// client share one probe; clones are handles on the same figures.
#[derive(Debug, Clone, Default)]
pub struct Probe(Arc<Mutex<Marks>>);

/// The figures of one connection; every instant is `None` until it was reached.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The target of the next connection.
    pub(crate) target: Option<(SocketAddr, Resolve)>,
    pub(crate) dns: Option<Duration>,
    pub(crate) resolved: Option<Instant>,
    pub(crate) connected: Option<Instant>,
    pub(crate) client_hello: Option<Instant>,
    pub(crate) handshake: Option<Instant>,
    /// Whether the request is sent before the end of the handshake, which the stream then marks.
    pub(crate) requests_early: bool,
    pub(crate) head: Option<Instant>,
    pub(crate) verify: Option<Duration>,
    /// The start of a verification that has not ended, and the number of bytes read by then.
    pub(crate) verifying: Option<(Instant, u64)>,
    /// The fault that the verifier found in the certificate and the library's message, for stacks whose error does not
    /// include them.
    pub(crate) certificate_fault: Option<(CertificateFault, String)>,
    /// The alert that was received, for stacks whose error does not include it.
    pub(crate) alert: Option<Alert>,
    /// The rejection of Encrypted ClientHello, for stacks whose error does not include it.
    pub(crate) ech_rejection: Option<EchRejection>,
    pub(crate) signature: Option<SignatureScheme>,
    pub(crate) negotiated: Option<Negotiated>,
    pub(crate) transfer: Transfer,
    pub(crate) last: Direction,
    /// The bytes before those of the server, if they are kept.
    pub(crate) first_flight: Option<Vec<u8>>,
    /// The first bytes that the server sent.
    pub(crate) beginning: Vec<u8>,
    pub(crate) socket: Option<RawFd>,
}

impl Marks {
    fn wrote(&mut self, bytes: usize) {
        self.transfer.bytes_out += bytes as u64;
        self.last = Direction::Out;
    }

    fn read(&mut self, bytes: usize) {
        self.transfer.bytes_in += bytes as u64;
        if self.last == Direction::Out {
            self.transfer.round_trips += 1;
        }
        self.last = Direction::In;
    }
}

/// A rejection of Encrypted ClientHello by a server that proved the public name.
#[derive(Debug)]
pub(crate) struct EchRejection {
    pub(crate) retry_configs: Option<Vec<u8>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    #[default]
    None,
    Out,
    In,
}

impl Probe {
    /// Creates a probe without marks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a chain verification and adds its time to `verify`.
    pub fn verify<T>(&self, verification: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = verification();
        self.verified(start.elapsed());
        result
    }

    /// Marks that a chain verification may begin, for libraries that only call back during it. Of several marks, the
    /// first one after the last read counts.
    pub fn verification_begins(&self) {
        let now = Instant::now();
        let mut marks = self.marks();
        let read = marks.transfer.bytes_in;
        if marks.verifying.is_none_or(|(_, then)| then != read) {
            marks.verifying = Some((now, read));
        }
    }

    /// Marks the end of the verification, and adds its time to `verify`.
    pub fn verification_ends(&self) {
        let now = Instant::now();
        let begun = self.marks().verifying.take();
        if let Some((begun, _)) = begun {
            self.verified(now - begun);
        }
    }

    fn verified(&self, took: Duration) {
        let mut marks = self.marks();
        marks.verify = Some(marks.verify.unwrap_or_default() + took);
    }

    /// Records the fault that the verifier found in the certificate, and the library's message.
    pub fn certificate_fault(&self, fault: CertificateFault, words: &str) {
        self.marks().certificate_fault = Some((fault, words.to_owned()));
    }

    /// Records the alert that the server sent.
    pub fn alert(&self, alert: Alert) {
        self.marks().alert = Some(alert);
    }

    /// Records that the server rejected Encrypted ClientHello and proved the public name, with the list of configurations that
    /// the library hands out.
    pub fn ech_rejected(&self, retry_configs: Option<Vec<u8>>) {
        self.marks().ech_rejection = Some(EchRejection { retry_configs });
    }

    /// Records the scheme of the server's handshake signature.
    pub fn signature(&self, scheme: SignatureScheme) {
        self.marks().signature = Some(scheme);
    }

    /// Returns the target address of the connection.
    pub fn target(&self) -> Option<SocketAddr> {
        self.marks().target.map(|(address, _)| address)
    }

    /// Returns the address of `name` in this connection, after a query to the system if the request requires it, and
    /// marks the end of `dns`.
    ///
    /// # Errors
    /// An error of the system's resolver.
    pub async fn resolve(&self, name: &str) -> io::Result<SocketAddr> {
        let start = Instant::now();
        let target = self.marks().target;
        let (address, resolve) = target.ok_or_else(|| io::Error::other("no address was given"))?;
        if resolve == Resolve::System {
            drop(tokio::net::lookup_host((name, address.port())).await?);
        }
        self.resolved(start.elapsed());
        Ok(address)
    }

    /// Marks the end of `dns` for a host that is an address, unless it is marked.
    pub fn needs_no_resolving(&self) {
        if self.marks().resolved.is_none() {
            self.resolved(Duration::ZERO);
        }
    }

    fn resolved(&self, took: Duration) {
        let mut marks = self.marks();
        marks.dns = Some(took);
        marks.resolved = Some(Instant::now());
    }

    /// Marks the end of `tcp`. [`Self::closes`] must follow before `socket` is closed.
    pub fn connected(&self, socket: RawFd) {
        let mut marks = self.marks();
        marks.connected = Some(Instant::now());
        marks.socket = Some(socket);
    }

    /// Marks that bytes are about to be written. The first bytes are the ClientHello.
    pub fn writes(&self) {
        let mut marks = self.marks();
        if marks.client_hello.is_none() {
            marks.client_hello = Some(Instant::now());
        }
    }

    /// Keeps what the next connection sends until the server's first bytes.
    pub(crate) fn keeps_first_flight(&self) {
        self.marks().first_flight = Some(Vec::new());
    }

    /// Counts the first `count` of these bytes, which the socket accepted.
    pub(crate) fn sent(&self, slices: &[io::IoSlice<'_>], count: usize) {
        let mut marks = self.marks();
        marks.wrote(count);
        if marks.transfer.bytes_in == 0
            && let Some(flight) = &mut marks.first_flight
        {
            let bytes = slices.iter().flat_map(|slice| slice.iter());
            flight.extend(bytes.take(count));
        }
    }

    /// Counts bytes that the socket accepted.
    pub fn wrote(&self, bytes: usize) {
        self.marks().wrote(bytes);
    }

    /// Counts bytes that came from the socket.
    pub fn read(&self, bytes: usize) {
        self.marks().read(bytes);
    }

    /// Counts these bytes, which came from the socket, and looks for a HelloRetryRequest in the first ones.
    pub fn received(&self, bytes: &[u8]) {
        let mut marks = self.marks();
        marks.read(bytes.len());
        let room = hello_retry::HEAD_BYTES.saturating_sub(marks.beginning.len());
        let head = &bytes[..bytes.len().min(room)];
        marks.beginning.extend_from_slice(head);
    }

    /// Returns whether the server answered the first ClientHello with a HelloRetryRequest, if the bytes were given to
    /// [`Self::received`].
    pub fn was_retried(&self) -> bool {
        hello_retry::begins(&self.marks().beginning)
    }

    /// Marks that the socket is about to be closed.
    pub fn closes(&self) {
        self.keep_tcp_info();
        self.marks().socket = None;
    }

    /// Marks that the request is sent before the end of the handshake. The stream must call [`Self::agreed`] at that end.
    pub fn requests_early(&self) {
        self.marks().requests_early = true;
    }

    /// Marks the end of `tls`, and then inspects the negotiated parameters.
    pub fn agreed(&self, inspect: impl FnOnce() -> Negotiated) {
        let done = Instant::now();
        let mut negotiated = inspect();
        let mut marks = self.marks();
        marks.handshake = Some(done);
        marks.transfer.handshake_bytes_in = marks.transfer.bytes_in;
        marks.transfer.handshake_bytes_out = marks.transfer.bytes_out;
        if negotiated.signature.is_none() {
            negotiated.signature = marks.signature;
        }
        marks.negotiated = Some(negotiated);
    }

    /// Marks that the head of the response was received.
    pub fn has_response(&self) {
        self.marks().head = Some(Instant::now());
    }

    /// Resets the probe and sets the address of the next connection.
    pub(crate) fn aim(&self, address: SocketAddr, resolve: Resolve) {
        *self.marks() = Marks {
            target: Some((address, resolve)),
            ..Marks::default()
        };
    }

    pub(crate) fn marks(&self) -> MutexGuard<'_, Marks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records `TCP_INFO` while the socket is still open.
    pub(crate) fn keep_tcp_info(&self) {
        let mut marks = self.marks();
        if let Some(info) = marks.socket.and_then(tcp_info) {
            marks.transfer.tcp = Some(info);
        }
    }

    /// Returns the phase of the connection.
    pub(crate) fn phase(&self) -> Phase {
        let marks = self.marks();
        if marks.resolved.is_none() {
            Phase::Dns
        } else if marks.connected.is_none() {
            Phase::Tcp
        } else if marks.handshake.is_none() {
            Phase::Tls
        } else if marks.head.is_none() {
            Phase::FirstByte
        } else {
            Phase::Total
        }
    }
}

/// The beginning of the kernel's `tcp_info` (linux/tcp.h): the C library's structure lacks `min_rtt`, which is there from
/// kernel 4.6.
#[derive(Default)]
#[repr(C)]
struct KernelTcpInfo {
    _before_rtt: [u32; 17],
    rtt_us: u32,
    _before_retransmits: [u32; 7],
    retransmits: u32,
    _before_min_rtt: [u32; 11],
    min_rtt_us: u32,
}

const _: () = assert!(std::mem::offset_of!(KernelTcpInfo, min_rtt_us) == 148);

fn tcp_info(socket: RawFd) -> Option<TcpInfo> {
    let mut info = KernelTcpInfo::default();
    let mut length = libc::socklen_t::try_from(size_of::<KernelTcpInfo>()).ok()?;
    // SAFETY: `info` has `length` bytes, and the socket is open: the wire that owns it removes it from the marks, under
    // their lock, before it closes.
    let result = unsafe {
        libc::getsockopt(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    let minimum = (length as usize == size_of::<KernelTcpInfo>()).then_some(info.min_rtt_us);
    (result == 0).then_some(TcpInfo {
        rtt_us: info.rtt_us,
        min_rtt_us: minimum.unwrap_or(info.rtt_us),
        retransmits: info.retransmits,
    })
}
