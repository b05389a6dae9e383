//! Sends hellos to one site, with retries and counts.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    net::SocketAddr,
    pin::Pin,
    time::Duration,
};

use netbench_model::{
    scan::Observed,
    tls::{SignatureScheme, TlsVersion},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{
    findings::Findings,
    limits::{Gate, Limits, ScanClient, ScanTarget},
    pace::Pace,
    steadiness::{Answer, Known},
    wire::{ConnectionError, Counts, Reply, Wire},
};
use crate::{
    codec::{Flight, HelloSpec, Records},
    enumeration::{
        Choice, Dress, Limit, ProbeAnswer, ProbeHello, Refusal, Responder, Schemes, Shares, Stop,
    },
    session::{ClientIdentity, Method, PrivateShares, Session13, computable},
};

/// Groups whose key shares are short: secp256r1 and x25519.
const SMALL_SHARES: [u16; 2] = [0x17, 0x1d];

/// After so many hellos without any answer a site is called silent.
const MOST_SILENCES: u32 = 3;

/// One site that is being scanned.
pub(super) struct Prober<'a> {
    pub(super) target: &'a ScanTarget,
    pub(super) address: SocketAddr,
    pub(super) limits: &'a Limits,
    client: &'a ScanClient,
    /// Whether the client's certificate is shown to a server that asks for one.
    shows: Cell<bool>,
    pub(super) gate: &'a Gate,
    pub(super) slots: Semaphore,
    pub(super) counts: RefCell<Counts>,
    pub(super) findings: RefCell<Findings>,
    pub(super) by_part: RefCell<BTreeMap<&'static str, u32>>,
    pub(super) part: Cell<&'static str>,
    pub(super) retries: Cell<u32>,
    pub(super) answered: Cell<bool>,
    begun: Instant,
    /// How long connections waited for a slot, which does not count as the site's time.
    waited: Cell<Duration>,
    /// The first way in which the site failed.
    pub(super) broken: RefCell<Option<ConnectionError>>,
    pub(super) alert: Cell<Option<u8>>,
    /// What hellos have beside what they offer.
    dress: RefCell<Dress>,
    /// What a hello may not have, and how the site refuses it.
    pub(super) limits_found: RefCell<Vec<(Limit, Refusal)>>,
    /// Set when the site answers ALPN with a refusal.
    without_alpn: Cell<bool>,
    /// How the head of a response was last asked for.
    pub(super) method: Cell<Option<Method>>,
    pub(super) pace: Pace,
    /// The first hello that the site has answered, and the answer.
    pub(super) known: RefCell<Option<Known>>,
    /// Whether every refusal is proven by the known hello beside it: the site was seen to refuse that one too, or another server
    /// answered it.
    pub(super) careful: Cell<bool>,
    /// The longest that an answer has taken.
    pub(super) slowest: Cell<Duration>,
    /// Hellos without an answer before the first that was answered.
    silences: Cell<u32>,
    /// Whether the site was ever silent after it had answered.
    pub(super) was_silent: Cell<bool>,
    /// Why the scan was ended, where the site took no more connections.
    pub(super) ended: RefCell<Option<String>>,
}

impl<'a> Prober<'a> {
    pub(super) fn new(
        target: &'a ScanTarget,
        address: SocketAddr,
        limits: &'a Limits,
        client: &'a ScanClient,
        gate: &'a Gate,
    ) -> Self {
        Self {
            target,
            address,
            limits,
            client,
            shows: Cell::new(false),
            gate,
            slots: Semaphore::new(limits.per_site.max(1)),
            counts: RefCell::default(),
            findings: RefCell::default(),
            by_part: RefCell::default(),
            part: Cell::new("enumeration"),
            retries: Cell::new(0),
            answered: Cell::new(false),
            begun: Instant::now(),
            waited: Cell::new(Duration::ZERO),
            broken: RefCell::new(None),
            alert: Cell::new(None),
            dress: RefCell::default(),
            limits_found: RefCell::default(),
            without_alpn: Cell::new(false),
            method: Cell::new(None),
            pace: Pace::default(),
            known: RefCell::default(),
            careful: Cell::new(false),
            slowest: Cell::new(Duration::ZERO),
            silences: Cell::new(0),
            was_silent: Cell::new(false),
            ended: RefCell::default(),
        }
    }

    /// The ClientHello of a probe: what it offers, and every extension that shows a feature.
    pub(super) fn spec(&self, hello: &ProbeHello) -> HelloSpec {
        let newest = hello
            .versions
            .iter()
            .max()
            .copied()
            .unwrap_or(TlsVersion::Tls12);
        let mut random = [0; 32];
        let mut session_id = Vec::new();
        // Without randomness drawing keys fails later; a hello alone does not need it.
        let _ = aws_lc_rs::rand::fill(&mut random);
        let mut spec = HelloSpec {
            record_version: newest.code().min(0x0301),
            random,
            suites: hello.suites.clone(),
            compression: vec![0],
            extensions: newest != TlsVersion::Ssl3,
            ..HelloSpec::default()
        };
        if newest == TlsVersion::Ssl3 {
            spec.legacy_version = newest.code();
            spec.compression = vec![1, 0];
            // TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746): there are no extensions.
            spec.suites.push(0x00ff);
            return spec;
        }
        if newest == TlsVersion::Tls13 {
            session_id.extend_from_slice(&random);
            spec.legacy_version = 0x0303;
            spec.versions = Some(hello.versions.iter().map(|v| v.code()).collect());
            spec.shares = Some(Vec::new());
        } else {
            spec.legacy_version = newest.code();
            spec.compression = vec![1, 0];
            spec.ticket = Some(Vec::new());
        }
        spec.session_id = session_id;
        if self.target.host.parse::<std::net::IpAddr>().is_err() {
            spec.server_name = Some(self.target.host.clone());
        }
        spec.groups = Some(hello.groups.clone());
        if newest >= TlsVersion::Tls12 {
            spec.signatures = Some(self.schemes(newest));
        }
        if !self.without_alpn.get() {
            spec.alpn = Some(PROTOCOLS.map(|name| name.as_bytes().to_vec()).to_vec());
        }
        spec.ask_for_features();
        let dress = self.dress.borrow();
        spec.leave_out(&dress.without);
        spec.pad_to = dress.pad_to;
        spec
    }

    /// Every signature scheme that the site reads, common ones first, and of these those last that the server has chosen in this
    /// version: a server that takes the client's order then shows another one each time that it signs.
    fn schemes(&self, version: TlsVersion) -> Vec<u16> {
        let mut schemes = offered_schemes();
        if self.dress.borrow().schemes == Schemes::Common {
            schemes.retain(|code| is_common_scheme(*code));
        }
        let findings = self.findings.borrow();
        schemes.sort_by_key(|code| {
            let known = findings.signatures.contains(&(version, *code));
            (!is_common_scheme(*code), known)
        });
        schemes
    }

    /// What is left of the site's time.
    pub(super) fn left(&self) -> Duration {
        let due = self.limits.site_timeout.saturating_add(self.waited.get());
        due.saturating_sub(self.begun.elapsed())
    }

    /// Retries after failures of the network, until the site has answered something.
    pub(super) async fn send_with_retries(&self, pieces: &[&[u8]]) -> Reply {
        let mut attempt = 0;
        loop {
            let reply = self.send_once(pieces).await;
            let Reply::Failed(broken) = &reply else {
                return reply;
            };
            let again = match broken {
                ConnectionError::Local(_) => true,
                ConnectionError::Connect(_) | ConnectionError::Reset | ConnectionError::Closed => {
                    !self.answered.get()
                }
                // Another hello is sent instead.
                ConnectionError::Silent
                | ConnectionError::NotTls(_)
                | ConnectionError::Malformed(_) => false,
            };
            // A server that resets on a hello does so every time.
            let known = matches!(broken, ConnectionError::Reset | ConnectionError::Closed)
                && self.broken.borrow().as_ref() == Some(broken);
            self.broken.borrow_mut().get_or_insert(broken.clone());
            if !again || known || attempt >= self.limits.retries {
                return reply;
            }
            attempt += 1;
            self.retries.set(self.retries.get() + 1);
            let pause = Duration::from_millis(100) * attempt;
            tokio::time::sleep(self.gate.jittered(pause)).await;
        }
    }

    pub(super) async fn send_once(&self, pieces: &[&[u8]]) -> Reply {
        let Ok(_slot) = self.slots.acquire().await else {
            return Reply::Failed(ConnectionError::Local("closed".to_owned()));
        };
        self.pace.enter().await;
        let _permit = self.enter(1).await;
        self.converse(pieces).await
    }

    /// Waits until so many connections may begin at one time, beside those to other sites.
    pub(super) async fn enter(&self, count: u32) -> Option<OwnedSemaphorePermit> {
        let asked = Instant::now();
        let permit = self.gate.enter(self.address.ip(), count).await;
        self.waited.set(self.waited.get() + asked.elapsed());
        permit
    }

    /// One connection, which nothing holds back any more. In a box: hundreds of sites wait at a time, most of them for their turn.
    pub(super) fn converse<'c>(
        &'c self,
        pieces: &'c [&'c [u8]],
    ) -> Pin<Box<dyn Future<Output = Reply> + 'c>> {
        Box::pin(self.unboxed(pieces))
    }

    async fn unboxed(&self, pieces: &[&[u8]]) -> Reply {
        *self
            .by_part
            .borrow_mut()
            .entry(self.part.get())
            .or_default() += 1;
        let begun = Instant::now();
        let limit = self.patience().min(self.left());
        let opened = Wire::open(self.address, limit, &self.counts).await;
        let mut wire = match opened {
            Ok(wire) => wire,
            Err(broken) => return Reply::Failed(broken),
        };
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                // The pieces must travel in packets of their own.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            if let Err(broken) = wire.write(piece, &self.counts).await {
                return Reply::Failed(broken);
            }
        }
        let reply = wire.flight(&self.counts).await;
        if matches!(reply, Reply::Flight(..)) {
            self.slowest.set(self.slowest.get().max(begun.elapsed()));
        }
        reply
    }

    /// Sends one hello in one piece, and records what the answer shows of the site.
    pub(super) async fn hello(&self, spec: &HelloSpec) -> Result<Reply, Stop> {
        if self.left().is_zero() {
            return Err(Stop);
        }
        let bytes = spec.records(usize::MAX);
        let reply = self.send(&[&bytes]).await?;
        match &reply {
            Reply::Flight(flight, _, wire) => {
                self.answered.set(true);
                // Not one that resumes a session, which a server may allow once.
                if spec.last.is_none() && spec.ticket.as_ref().is_none_or(Vec::is_empty) {
                    self.known.borrow_mut().get_or_insert_with(|| Known {
                        bytes,
                        answer: Answer::of(flight),
                    });
                }
                if let Some(what) = &wire.fault {
                    let version = flight.hello.version;
                    let name = TlsVersion::of(version).map_or("unknown", TlsVersion::name);
                    self.note(format!("TLS {name}: after the ServerHello, sends {what}"));
                }
                self.findings
                    .borrow_mut()
                    .flight(flight, &self.target.host, &self.client.roots);
            }
            Reply::Alert(alert) => {
                if self.alert.get().is_none() {
                    self.alert.set(Some(*alert));
                }
            }
            Reply::Failed(broken) => {
                self.give_up(broken)?;
            }
        }
        Ok(reply)
    }

    /// Ends the scan where further hellos are useless.
    fn give_up(&self, broken: &ConnectionError) -> Result<(), Stop> {
        match broken {
            ConnectionError::Connect(_) | ConnectionError::Local(_) => Err(Stop),
            ConnectionError::NotTls(_) | ConnectionError::Malformed(_) if !self.answered.get() => {
                Err(Stop)
            }
            ConnectionError::Silent if !self.answered.get() => {
                // Some do not answer long hellos, and some none with TLS 1.3.
                let silences = self.silences.get() + 1;
                self.silences.set(silences);
                if silences < MOST_SILENCES {
                    Ok(())
                } else {
                    Err(Stop)
                }
            }
            _ => Ok(()),
        }
    }

    /// Reads the encrypted flight after a ServerHello of TLS 1.3.
    pub(super) async fn encrypted(
        &self,
        spec: &HelloSpec,
        keys: &PrivateShares,
        psk: &[u8],
        flight: &Flight,
        records: &mut Records,
        wire: &mut Wire,
    ) -> Option<Session13> {
        let (group, share) = flight.hello.share()?;
        let shared = keys.agree(group, share)?;
        let message = spec.message();
        let mut session =
            Session13::new(&message, &flight.hello_message, &flight.hello, &shared, psk)?;
        loop {
            while let Ok(Some(record)) = records.next_record() {
                session.take(&record)?;
                if session.encrypted.is_done || session.encrypted.alert.is_some() {
                    let mut findings = self.findings.borrow_mut();
                    findings.encrypted(&session.encrypted, &self.target.host, &self.client.roots);
                    return Some(session);
                }
            }
            if records.waiting() > 64 * 1024 {
                return None;
            }
            let read = wire.read(&self.counts, |arrived| records.push(arrived));
            read.await.ok()?;
        }
    }

    /// What is shown to a server that asks for a certificate.
    pub(super) fn identity(&self) -> Option<&ClientIdentity> {
        self.client.identity.as_ref().filter(|_| self.shows.get())
    }

    /// Whether to try again with the client's certificate: once, after the server has ended a handshake for want of it.
    pub(super) fn shows_certificate(&self) -> bool {
        let findings = self.findings.borrow();
        let required = findings.features.client_certificate_required == Observed::Yes;
        let has = self.client.identity.is_some();
        has && required && !self.shows.replace(true)
    }

    /// Forgets what was found, as some of it may be of another server. What was noted stays.
    pub(super) fn forget(&self) {
        let mut findings = self.findings.borrow_mut();
        let notes = std::mem::take(&mut findings.notes);
        *findings = Findings::default();
        findings.notes = notes;
        self.limits_found.borrow_mut().clear();
    }

    /// Whether the site does not read large hellos.
    fn reads_small_alone(&self) -> bool {
        let found = self.limits_found.borrow();
        found
            .iter()
            .any(|(limit, _)| matches!(limit, Limit::Bytes(_)))
    }

    /// Whether to try again without ALPN: once, after an alert that no protocol is common.
    fn drop_alpn(&self, reply: &Reply) -> bool {
        const NO_APPLICATION_PROTOCOL: u8 = 120;
        let refused = matches!(reply, Reply::Alert(NO_APPLICATION_PROTOCOL));
        let first = refused && !self.without_alpn.replace(true);
        if first {
            let how = Refusal::Alert(NO_APPLICATION_PROTOCOL);
            self.cannot_read(Limit::Protocols, how);
        }
        first
    }
}

/// Signature schemes to offer, the most common first.
pub(super) fn offered_schemes() -> Vec<u16> {
    let mut schemes: Vec<u16> = SignatureScheme::registered().map(u16::from).collect();
    schemes.sort_by_key(|code| match code {
        0x0403 | 0x0804 => 0,
        0x0503 | 0x0603 | 0x0805 | 0x0806 | 0x0807 => 1,
        0x0401 | 0x0501 | 0x0601 => 2,
        0x0201..=0x0203 => 4,
        _ => 3,
    });
    schemes
}

/// Whether browsers offer it, or did: some servers read no more.
fn is_common_scheme(code: u16) -> bool {
    matches!(
        code,
        0x0403 | 0x0503 | 0x0603 | 0x0804..=0x0807 | 0x0401 | 0x0501 | 0x0601 | 0x0201 | 0x0203
    )
}

/// The application protocols that hellos offer.
pub(super) const PROTOCOLS: [&str; 2] = ["h2", "http/1.1"];

impl Responder for Prober<'_> {
    async fn answer(&self, hello: ProbeHello) -> Result<ProbeAnswer, Stop> {
        let mut spec = self.spec(&hello);
        let keys = match &hello.shares {
            Shares::Of(groups) => {
                let mut groups = computable(groups);
                if self.reads_small_alone() {
                    groups.retain(|group| SMALL_SHARES.contains(group));
                }
                // Two shares are enough for nearly all servers, and short enough for one segment.
                groups.truncate(2);
                // In the order of the groups (RFC 8446 section 4.2.8).
                groups.sort_by_key(|group| hello.groups.iter().position(|code| code == group));
                Some(PrivateShares::new(&groups))
            }
            Shares::Empty => None,
        };
        if let Some(keys) = &keys {
            spec.shares = Some(keys.public());
        }
        let mut reply = self.hello(&spec).await?;
        if self.drop_alpn(&reply) {
            spec.alpn = None;
            reply = self.hello(&spec).await?;
        }
        let refusal = match reply {
            Reply::Flight(flight, mut records, mut wire) => {
                let mut stated_groups = None;
                if let Some(keys) = keys.filter(|_| !flight.hello.is_retry) {
                    let session = self
                        .encrypted(&spec, &keys, &[], &flight, &mut records, &mut wire)
                        .await;
                    stated_groups = session.and_then(|s| s.encrypted.stated_groups());
                }
                let exchange = flight.key_exchange.as_ref();
                return Ok(ProbeAnswer::Chose(Choice {
                    version: flight.hello.version,
                    suite: flight.hello.suite,
                    group: flight.hello.group().or(exchange.and_then(|e| e.group)),
                    prime: exchange.and_then(|e| e.prime.clone()),
                    stated_groups,
                }));
            }
            Reply::Alert(alert) => Refusal::Alert(alert),
            Reply::Failed(ConnectionError::Closed) => Refusal::Closed,
            Reply::Failed(ConnectionError::Reset) => Refusal::Reset,
            Reply::Failed(ConnectionError::Silent) => Refusal::Silent,
            Reply::Failed(ConnectionError::Malformed(what)) => {
                self.note(format!("sent {what}"));
                Refusal::Malformed
            }
            Reply::Failed(_) => Refusal::Malformed,
        };
        Ok(ProbeAnswer::Refused(refusal))
    }

    fn wear(&self, dress: Dress) {
        self.dress.replace(dress);
    }

    fn cannot_read(&self, limit: Limit, how: Refusal) {
        let mut found = self.limits_found.borrow_mut();
        if !found.iter().any(|(known, _)| *known == limit) {
            found.push((limit, how));
        }
    }

    fn note(&self, what: String) {
        self.findings.borrow_mut().note(what);
    }
}
