//! Limits of a scan, for one site and for all.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use netbench_model::StartTls;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::{session::ClientIdentity, x509::TrustAnchors};

/// A site to scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanTarget {
    /// What the site is called in results.
    pub site: String,
    /// The host name of SNI, or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path that a whole handshake asks for.
    pub path: String,
    /// Where to connect.
    pub place: Place,
    /// The protocol in which the server is asked for TLS; none where connections begin with TLS.
    pub start_tls: Option<StartTls>,
}

/// Where a site is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At an address.
    At(SocketAddr),
    /// At the addresses of a name, which is looked up when the site's turn comes.
    Named(String, u16),
    /// Nowhere, for this reason.
    Nowhere(String),
}

/// Optional parts of a scan. Versions, suites and groups are always enumerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScanPart {
    /// Signature schemes.
    Signatures,
    /// Whole handshakes: tickets, resumption, 0-RTT, renegotiation, the response's head.
    Sessions,
    /// ALPN, fallback protection, ChaCha20 on request.
    Features,
    /// Hellos that a server may fail to answer.
    Intolerance,
}

impl ScanPart {
    /// Every part. Signatures come after those whose handshakes show some of them.
    pub const ALL: [Self; 4] = [
        Self::Sessions,
        Self::Features,
        Self::Signatures,
        Self::Intolerance,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signatures => "signatures",
            Self::Sessions => "sessions",
            Self::Features => "features",
            Self::Intolerance => "intolerance",
        }
    }
}

/// What the scanner is as a client, beside its hellos.
#[derive(Debug, Default)]
pub struct ScanClient {
    /// What chains are held against.
    pub roots: TrustAnchors,
    /// What it shows to servers that require a certificate.
    pub identity: Option<ClientIdentity>,
}

impl From<TrustAnchors> for ScanClient {
    fn from(roots: TrustAnchors) -> Self {
        Self {
            roots,
            identity: None,
        }
    }
}

/// Limits of a scan: how many connections, how fast, how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Sites scanned at one time.
    pub sites: usize,
    /// Connections at one time to one site.
    pub per_site: usize,
    /// Connections at one time to one address, whatever the sites.
    pub per_address: usize,
    /// Connections begun in a second, over all sites; none for no limit.
    pub rate: Option<f64>,
    /// How long connecting may take, and each answer.
    pub timeout: Duration,
    /// How long one site may take in all.
    pub site_timeout: Duration,
    /// How often a connection that failed is tried again.
    pub retries: u32,
    /// What is scanned besides versions, suites and groups.
    pub parts: Vec<ScanPart>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sites: 500,
            per_site: 2,
            per_address: 4,
            rate: None,
            timeout: Duration::from_secs(5),
            site_timeout: Duration::from_secs(120),
            retries: 1,
            parts: ScanPart::ALL.to_vec(),
        }
    }
}

/// So many addresses are kept before any goes.
const FEW_ADDRESSES: usize = 1024;

/// What connections of all sites share.
pub(super) struct Gate {
    interval: Option<Duration>,
    next: Cell<Option<Instant>>,
    per_address: usize,
    addresses: RefCell<HashMap<IpAddr, Arc<Semaphore>>>,
    /// How many addresses there are when those that are done with go.
    sweep_at: Cell<usize>,
    jitter: Cell<u64>,
}

impl Gate {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut seed = [0; 8];
        // Without randomness the jitter is the same every time, which does no harm.
        let _ = aws_lc_rs::rand::fill(&mut seed);
        Self {
            interval: limits
                .rate
                .filter(|rate| *rate > 0.0)
                .map(|rate| Duration::from_secs_f64(1.0 / rate)),
            next: Cell::new(None),
            per_address: limits.per_address.max(1),
            addresses: RefCell::default(),
            sweep_at: Cell::new(FEW_ADDRESSES),
            jitter: Cell::new(u64::from_le_bytes(seed) | 1),
        }
    }

    /// Waits until so many connections to this address may begin at one time.
    pub(super) async fn enter(&self, address: IpAddr, count: u32) -> Option<OwnedSemaphorePermit> {
        let semaphore = {
            let mut addresses = self.addresses.borrow_mut();
            // Those that nobody waits for or has a permit of.
            if addresses.len() >= self.sweep_at.get() {
                addresses.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
                self.sweep_at.set(FEW_ADDRESSES.max(2 * addresses.len()));
            }
            let semaphore = addresses
                .entry(address)
                .or_insert_with(|| Arc::new(Semaphore::new(self.per_address)));
            Arc::clone(semaphore)
        };
        let permit = semaphore.acquire_many_owned(count).await.ok();
        if let Some(interval) = self.interval {
            let now = Instant::now();
            let next = self.next.get().map_or(now, |next| next.max(now));
            let at = next + interval * (count - 1);
            self.next.set(Some(at + interval));
            tokio::time::sleep_until(at).await;
        }
        permit
    }

    /// Between half and one and a half times `about`, to spread the retries of many sites.
    pub(super) fn jittered(&self, about: Duration) -> Duration {
        // xorshift64, Marsaglia 2003.
        let mut x = self.jitter.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.jitter.set(x);
        about / 2 + about.mul_f64((x >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// Raises the limit of open files, for this process and those that it starts, as far as the system
/// allows and at most to 65,536: each connection is one. Where the system refuses, the limit stays, and
/// connections fail with that error. Gives the limit as it is then, if there is one.
pub fn raise_descriptor_limit() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(65_536, |maximum| maximum.min(65_536));
    if limit.current.is_some_and(|current| current < most) {
        limit.current = Some(most);
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current
}
