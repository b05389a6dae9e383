//! Limits of a scan, for one site and for all.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use netbench_model::{StartTls, tls::named::labels};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::{session::ClientIdentity, x509::TrustAnchors};

/// A site to scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanTarget {
    /// The site's name in results.
    pub site: String,
    /// The host name of SNI, or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path that a whole handshake requests.
    pub path: String,
    /// The place of the site.
    pub place: Place,
    /// The protocol in which the server is asked for TLS; none where connections begin with TLS.
    pub start_tls: Option<StartTls>,
}

/// The place of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An address.
    At(SocketAddr),
    /// The addresses of a name, which is looked up when the site's turn comes.
    Named(String, u16),
    /// No place, for this reason.
    Nowhere(String),
}

labels!(
    /// Optional parts of a scan, in their order. Versions, suites and groups are always enumerated.
    ScanPart, {
        /// Whole handshakes: tickets, resumption, 0-RTT, renegotiation, the response's head.
        Sessions = "sessions",
        /// ALPN, fallback protection, ChaCha20 on request.
        Features = "features",
        /// Signature schemes, after the parts whose handshakes show some of them.
        Signatures = "signatures",
        /// Hellos that a server may fail to answer.
        Intolerance = "intolerance",
    }
);

/// The scanner as a client, apart from its hellos.
#[derive(Debug, Default)]
pub struct ScanClient {
    /// The trusted roots with which chains are compared.
    pub roots: TrustAnchors,
    /// The certificate for servers that require one.
    pub identity: Option<ClientIdentity>,
    /// The DNS server that is asked for the HTTPS records of sites.
    pub dns_server: Option<SocketAddr>,
}

impl From<TrustAnchors> for ScanClient {
    fn from(roots: TrustAnchors) -> Self {
        Self {
            roots,
            identity: None,
            dns_server: None,
        }
    }
}

/// Limits of a scan: number of connections, rate, and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Number of sites scanned at the same time.
    pub sites: usize,
    /// Number of simultaneous connections to one site.
    pub per_site: usize,
    /// Number of simultaneous connections to one address, for all sites together.
    pub per_address: usize,
    /// Number of connections begun per second, over all sites; `None` for no limit.
    pub rate: Option<f64>,
    /// The time limit for connecting, and for each response.
    pub timeout: Duration,
    /// The time limit for one site in total.
    pub site_timeout: Duration,
    /// The number of retries of a failed connection.
    pub retries: u32,
    /// The scanned parts in addition to versions, suites and groups.
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

/// The number of addresses that are kept before any is removed.
const FEW_ADDRESSES: usize = 1024;

/// The state that connections of all sites share.
pub(super) struct Gate {
    interval: Option<Duration>,
    next: Cell<Option<Instant>>,
    per_address: usize,
    addresses: RefCell<HashMap<IpAddr, Arc<Semaphore>>>,
    /// The number of addresses at which those that are finished are removed.
    sweep_at: Cell<usize>,
}

impl Gate {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            interval: limits
                .rate
                .filter(|rate| *rate > 0.0)
                .map(|rate| Duration::from_secs_f64(1.0 / rate)),
            next: Cell::new(None),
            per_address: limits.per_address.max(1),
            addresses: RefCell::default(),
            sweep_at: Cell::new(FEW_ADDRESSES),
        }
    }

    /// Waits until `count` connections to this address may begin at the same time.
    pub(super) async fn enter(&self, address: IpAddr, count: u32) -> Option<OwnedSemaphorePermit> {
        let semaphore = {
            let mut addresses = self.addresses.borrow_mut();
            // Removes semaphores without waiters or permits.
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
}

/// Returns a time between half and one and a half times `about`, to spread the retries of many sites.
pub(super) fn jittered(about: Duration) -> Duration {
    let mut random = [0; 4];
    // Without randomness the time is the shortest, which is harmless.
    let _ = aws_lc_rs::rand::fill(&mut random);
    let share = f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX);
    about / 2 + about.mul_f64(share)
}

/// Raises the limit of open files, for this process and its children, as far as the system allows and at most to
/// 65,536: each connection is one. If the system refuses, the limit stays, and connections fail with that error.
/// Returns the resulting limit, if there is one.
pub fn raise_descriptor_limit() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(65_536, |maximum| maximum.min(65_536));
    if limit.current.is_some_and(|current| current < most) {
        limit.current = Some(most);
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current
}
