//! Transmission of hellos to one site, with retries and counts.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    net::SocketAddr,
    pin::Pin,
    time::Duration,
};

use netbench_model::{scan::Observed, tls::TlsVersion};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{
    findings::Findings,
    known::{Habit, Known, Misjudged},
    limits::{Gate, Limits, ScanClient, ScanTarget, jittered},
    pace::Pace,
    wire::{ConnectionError, Counts, Reply, Wire},
};
use crate::{
    codec::HelloSpec,
    enumeration::{Dress, Limit, Refusal, Stop},
    session::{ClientIdentity, Method},
};

/// The number of hellos without any answer after which a site is called silent.
const MOST_SILENCES: u32 = 3;

/// A site that is being scanned.
pub(super) struct Prober<'a> {
    pub(super) target: &'a ScanTarget,
    pub(super) address: SocketAddr,
    pub(super) limits: &'a Limits,
    pub(super) client: &'a ScanClient,
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
    /// The time that connections waited for a slot, which does not count as the site's time.
    waited: Cell<Duration>,
    /// The first way in which the site failed.
    pub(super) broken: RefCell<Option<ConnectionError>>,
    pub(super) alert: Cell<Option<u8>>,
    /// The properties of hellos in addition to the offered values.
    pub(super) dress: RefCell<Dress>,
    /// The limits of the hellos that the site reads, and how the site refuses others.
    pub(super) limits_found: RefCell<Vec<(Limit, Refusal)>>,
    /// Set when the site answers ALPN with a refusal.
    pub(super) without_alpn: Cell<bool>,
    /// The method of the last request for the head of a response.
    pub(super) method: Cell<Option<Method>>,
    pub(super) pace: Pace,
    /// The first hello that the site has accepted, with its response.
    pub(super) known: RefCell<Option<Known>>,
    /// Whether every refusal is verified by the known hello sent at the same time: the site was seen to refuse the
    /// known one too, or another server answered it.
    pub(super) careful: Cell<bool>,
    pub(super) habit: RefCell<Habit>,
    /// The reason for which parts of the enumeration may be of another server.
    pub(super) misjudged: Cell<Option<Misjudged>>,
    /// The longest time of a response.
    pub(super) slowest: Cell<Duration>,
    /// Number of hellos without a response before the first response.
    silences: Cell<u32>,
    /// Whether the site was ever silent after a response.
    pub(super) was_silent: Cell<bool>,
    /// The reason why the scan was ended, if the site accepted no more connections.
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
            // The protocol is that of the dialogue.
            without_alpn: Cell::new(target.start_tls.is_some()),
            method: Cell::new(None),
            pace: Pace::default(),
            known: RefCell::default(),
            careful: Cell::new(false),
            habit: RefCell::default(),
            misjudged: Cell::default(),
            slowest: Cell::new(Duration::ZERO),
            silences: Cell::new(0),
            was_silent: Cell::new(false),
            ended: RefCell::default(),
        }
    }

    /// Returns the remaining time for the site.
    pub(super) fn left(&self) -> Duration {
        let due = self.limits.site_timeout.saturating_add(self.waited.get());
        due.saturating_sub(self.begun.elapsed())
    }

    /// Sends a hello, with retries after failures of the network until the site has responded once.
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
                | ConnectionError::Malformed(_)
                | ConnectionError::StartTls(_) => false,
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
            tokio::time::sleep(jittered(pause)).await;
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

    /// Waits until `count` connections may begin at the same time, together with those to other sites.
    pub(super) async fn enter(&self, count: u32) -> Option<OwnedSemaphorePermit> {
        let asked = Instant::now();
        let permit = self.gate.enter(self.address.ip(), count).await;
        self.waited.set(self.waited.get() + asked.elapsed());
        permit
    }

    /// Makes one connection without further waiting. The future is boxed: hundreds of sites wait at a time, most of
    /// them for their turn.
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
        if let Some(protocol) = self.target.start_tls {
            let asked = Box::pin(wire.start_tls(protocol, &self.target.host, &self.counts));
            if let Err(broken) = asked.await {
                return Reply::Failed(broken);
            }
            wire.extend(limit);
        }
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                // The pieces must travel in separate packets.
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

    /// Sends one hello in one piece, and records the results of the response.
    pub(super) async fn hello(&self, spec: &HelloSpec) -> Result<Reply, Stop> {
        if self.left().is_zero() {
            return Err(Stop);
        }
        let bytes = spec.records(usize::MAX);
        let reply = self.send(&[&bytes]).await?;
        match &reply {
            Reply::Flight(flight, wire) => {
                self.answered.set(true);
                // A hello that resumes a session is not recorded, because a server may allow it only once.
                if spec.last.is_none() && spec.ticket.as_ref().is_none_or(Vec::is_empty) {
                    self.know(spec, bytes, flight);
                }
                if let Some(what) = &wire.fault {
                    let version = flight.hello.version;
                    let name = TlsVersion::of(version).map_or("unknown", TlsVersion::name);
                    self.note(format!("TLS {name}: after the ServerHello, sends {what}"));
                }
                let mut findings = self.findings.borrow_mut();
                findings.flight(spec, flight, &self.target.host, &self.client.roots);
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

    /// Ends the scan if further hellos are useless.
    fn give_up(&self, broken: &ConnectionError) -> Result<(), Stop> {
        match broken {
            ConnectionError::Connect(_) | ConnectionError::Local(_) => Err(Stop),
            ConnectionError::NotTls(_)
            | ConnectionError::Malformed(_)
            | ConnectionError::StartTls(_)
                if !self.answered.get() =>
            {
                Err(Stop)
            }
            ConnectionError::Silent if !self.answered.get() => {
                // Some servers do not respond to long hellos, and some to none with TLS 1.3.
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

    /// Records an observation for the report.
    pub(super) fn note(&self, what: impl Into<String>) {
        self.findings.borrow_mut().note(what.into());
    }

    /// Returns the identity for a server that requests a certificate.
    pub(super) fn identity(&self) -> Option<&ClientIdentity> {
        self.client.identity.as_ref().filter(|_| self.shows.get())
    }

    /// Returns whether to try again with the client's certificate: once, after the server has ended a handshake
    /// because it was missing.
    pub(super) fn shows_certificate(&self) -> bool {
        let findings = self.findings.borrow();
        let required = findings.features.client_certificate_required == Observed::Yes;
        let has = self.client.identity.is_some();
        has && required && !self.shows.replace(true)
    }

    /// Discards the findings, because some may be of another server. Notes are kept.
    pub(super) fn forget(&self) {
        let mut findings = self.findings.borrow_mut();
        let notes = std::mem::take(&mut findings.notes);
        *findings = Findings::default();
        findings.notes = notes;
        self.limits_found.borrow_mut().clear();
    }
}
