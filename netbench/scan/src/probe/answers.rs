//! Hellos of the enumeration and what their answers show.

use std::rc::Rc;

use netbench_model::{scan::VersionScan, tls::TlsVersion};

use super::{
    prober::Prober,
    wire::{ConnectionError, Reply, Wire},
};
use crate::{
    codec::{Flight, HelloSpec},
    enumeration::{
        Choice, Dress, Limit, ProbeAnswer, ProbeHello, Refusal, Responder, Shares, Stop,
    },
    session::{PrivateShares, Session13, computable, computable_suites},
};

/// Groups whose key shares are short: secp256r1 and x25519.
const SMALL_SHARES: [u16; 2] = [0x17, 0x1d];

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
                Some(Rc::new(PrivateShares::new(&groups)))
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
            Reply::Flight(flight, mut wire) => {
                let mut stated_groups = None;
                if flight.hello.is_retry {
                    if self.lacks_certificate_of(&spec) {
                        Box::pin(self.learn_by_retry(&spec, &flight, wire)).await;
                    }
                } else if let Some(keys) = keys {
                    let read = self.encrypted(&spec, &keys, &flight, &mut wire);
                    let session = read.await;
                    stated_groups = session.and_then(|session| session.encrypted.stated_groups());
                }
                let exchange = flight.key_exchange.as_ref();
                return Ok(Ok(Choice {
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
        Ok(Err(refusal))
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
        Prober::note(self, what);
    }
}

impl Prober<'_> {
    /// Sends a hello of TLS 1.3, changed by `change`, with a share of a supported group, and reads the encrypted part of the
    /// response. Returns `None` if it cannot be read.
    pub(super) async fn read_with_share(
        &self,
        found: &VersionScan,
        change: impl FnOnce(&mut HelloSpec),
    ) -> Result<Option<Session13>, Stop> {
        let groups: Vec<u16> = computable(&found.group_codes())
            .into_iter()
            .take(1)
            .collect();
        let suites = computable_suites(&found.suite_codes());
        if groups.is_empty() || suites.is_empty() {
            return Ok(None);
        }
        let keys = Rc::new(PrivateShares::new(&groups));
        let mut spec = self.spec(&ProbeHello::new(TlsVersion::Tls13, &suites, &groups));
        spec.shares = Some(keys.public());
        change(&mut spec);
        let Reply::Flight(flight, mut wire) = self.hello(&spec).await? else {
            return Ok(None);
        };
        if flight.hello.is_retry || flight.hello.version != TlsVersion::Tls13.code() {
            return Ok(None);
        }
        let session = self.encrypted(&spec, &keys, &flight, &mut wire);
        Ok(session.await)
    }

    /// Reads the encrypted flight after a ServerHello of TLS 1.3, and records what it shows of the site.
    pub(super) async fn encrypted(
        &self,
        spec: &HelloSpec,
        keys: &Rc<PrivateShares>,
        flight: &Flight,
        wire: &mut Wire,
    ) -> Option<Session13> {
        let hello = spec.message();
        // In a box: most of the sites that are scanned at a time wait for something else.
        let read = Box::pin(self.decrypt(&hello, keys, flight, wire));
        let session = read.await;
        self.learn(spec, keys, session.as_ref());
        session
    }

    /// Continues a handshake after a HelloRetryRequest, and records what the encrypted flight shows of the site.
    async fn learn_by_retry(&self, spec: &HelloSpec, retry: &Flight, wire: Wire) {
        let Some(keys) = Self::keys_for(&retry.hello) else {
            return;
        };
        let session = self.after_retry(spec, &keys, retry, wire).await;
        self.learn(spec, &keys, session.as_ref());
    }

    /// Records what the encrypted flight after this hello shows of the site; `None` if it cannot be read.
    fn learn(&self, spec: &HelloSpec, keys: &Rc<PrivateShares>, session: Option<&Session13>) {
        let encrypted = session.map(|session| &session.encrypted);
        self.know_certificate(spec, keys, encrypted);
        if let Some(encrypted) = encrypted {
            let mut findings = self.findings.borrow_mut();
            let (host, roots) = (&self.target.host, &self.client.roots);
            findings.encrypted(spec, encrypted, host, roots);
        }
    }

    /// Reads the encrypted flight after a ServerHello of TLS 1.3, from all handshake messages `before` it.
    pub(super) async fn decrypt(
        &self,
        before: &[u8],
        keys: &PrivateShares,
        flight: &Flight,
        wire: &mut Wire,
    ) -> Option<Session13> {
        let (group, share) = flight.hello.share()?;
        let shared = keys.agree(group, share)?;
        let mut session = Session13::new(before, &flight.hello_message, &flight.hello, &shared)?;
        while !session.encrypted.is_done && session.encrypted.alert.is_none() {
            session.take(&wire.record(&self.counts).await?)?;
        }
        Some(session)
    }
}
