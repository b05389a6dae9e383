//! Whole handshakes: tickets, resumption, early data, renegotiation, the head of the HTTP response.

use std::time::Duration;

use super::{
    prober::{Prober, offered_schemes},
    wire::{Reply, Wire},
};
use netbench_model::{
    scan::Observed,
    tls::{CipherSuite, KeyExchange, TlsVersion},
};

use crate::{
    codec::{Extension, HelloSpec, Records, content, extension},
    enumeration::{Enumeration, ProbeHello, Stop},
    session::{
        Keys12, Method, PrivateShares, ResponseHead, Resumption13, binder, computable,
        computable_suites, request,
    },
};

/// A close_notify alert (RFC 5246 section 7.2.1).
const CLOSE_NOTIFY: [u8; 2] = [1, 0];

/// How long a response may take, beyond the time of some round trips.
const RESPONSE: Duration = Duration::from_secs(1);

/// The most of a response's head that is read.
const MOST_HEAD: usize = 16 * 1024;

pub(super) async fn sessions(prober: &Prober<'_>, found: &Enumeration) -> Result<(), Stop> {
    let version = |version| {
        found
            .versions
            .iter()
            .find(|v| v.version == version && v.refusal.is_none())
    };
    if let Some(newest) = version(TlsVersion::Tls13) {
        let suites: Vec<u16> = newest.suites.iter().map(|s| s.code).collect();
        // What is encrypted is to be read.
        let suites = computable_suites(&suites);
        let groups = computable(&newest.groups);
        if groups.is_empty() {
            prober.note_missing("TLS 1.3: no group that can be computed here");
        } else if suites.is_empty() {
            prober.note_missing(
                "TLS 1.3: no suite that can be computed here, as with CCM: certificates, tickets and resumption \
                 are not known",
            );
        } else {
            let group = groups[..1].to_vec();
            let mut ticket = full13(prober, &suites, &group, Method::Head).await?;
            if prober.shows_certificate() {
                ticket = full13(prober, &suites, &group, Method::Head).await?;
            }
            if prober.lacks_head() {
                ticket = full13(prober, &suites, &group, Method::Get)
                    .await?
                    .or(ticket);
            }
            if let Some(ticket) = ticket {
                resume13(prober, &suites, &group, &ticket).await?;
            } else if prober.findings.borrow().features.tickets_tls13 == Some(0) {
                prober.findings.borrow_mut().features.resumption_tls13 = Observed::No;
            }
        }
    }
    if let Some(older) = version(TlsVersion::Tls12) {
        // Suites with which a handshake can be finished here; the server chooses among them.
        let suites: Vec<u16> = older.suites.iter().map(|s| s.code).collect();
        sessions12(prober, &suites).await?;
    }
    Ok(())
}

async fn full13(
    prober: &Prober<'_>,
    suites: &[u16],
    groups: &[u16],
    method: Method,
) -> Result<Option<Resumption13>, Stop> {
    let keys = PrivateShares::new(groups);
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls13, suites, groups));
    spec.shares = Some(keys.public());
    spec.alpn = http1(&spec);
    let Reply::Flight(flight, mut records, mut wire) = prober.hello(&spec).await? else {
        return Ok(None);
    };
    if flight.hello.is_retry || flight.hello.version != TlsVersion::Tls13.code() {
        return Ok(None);
    }
    let session = prober.encrypted(&spec, &keys, &[], &flight, &mut records, &mut wire);
    let Some(mut session) = session.await else {
        prober.note_missing("TLS 1.3: the encrypted flight could not be read");
        return Ok(None);
    };
    let Some(mut last) = session.finish(prober.identity()) else {
        return Ok(None);
    };
    last.extend(
        session
            .seal(content::APPLICATION_DATA, &request(prober.target, method))
            .unwrap_or_default(),
    );
    wire.extend(prober.response_limit());
    if wire.write(&last, &prober.counts).await.is_err() {
        return Ok(None);
    }
    let mut response = Vec::new();
    let ended = read_records(prober, &mut wire, &mut records, |record| {
        let Some(plain) = session.take(record) else {
            return true;
        };
        response.extend_from_slice(&plain);
        session.encrypted.alert.is_some()
            || response.len() > MOST_HEAD
            || ResponseHead::parse(&response).is_some()
    });
    ended.await;
    if let Some(sealed) = session.seal(content::ALERT, &CLOSE_NOTIFY) {
        // Fails where the server closed first.
        let _ = wire.write(&sealed, &prober.counts).await;
    }
    drop(wire);
    prober.asked(method);
    let mut findings = prober.findings.borrow_mut();
    let head = ResponseHead::parse(&response);
    let finished = head.is_some() || !session.tickets.is_empty();
    if session.encrypted.certificate_request.is_some() && prober.identity().is_none() {
        // Tickets say nothing: a server may send them before it has looked at the client's flight.
        findings.certificate_missed(head.is_some(), session.encrypted.alert);
    }
    if finished {
        findings.features.tickets_tls13 = u32::try_from(session.tickets.len()).ok();
        findings.features.early_data_bytes = session
            .tickets
            .iter()
            .map(|ticket| ticket.early_data_bytes)
            .max()
            .or(Some(0));
    }
    keep(head, &mut findings.features);
    Ok(session.tickets.pop())
}

async fn resume13(
    prober: &Prober<'_>,
    suites: &[u16],
    groups: &[u16],
    ticket: &Resumption13,
) -> Result<(), Stop> {
    let keys = PrivateShares::new(groups);
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls13, suites, groups));
    spec.shares = Some(keys.public());
    spec.alpn = http1(&spec);
    // The suite's hash must be the ticket's.
    spec.suites.retain(|code| *code == ticket.suite);
    let length = if suite_is_sha384(ticket.suite) {
        48
    } else {
        32
    };
    spec.last = Some(pre_shared_key(ticket, &vec![0; length]));
    let Some(proof) = binder(ticket, &spec.message()) else {
        return Ok(());
    };
    spec.last = Some(pre_shared_key(ticket, &proof));
    let resumed = match prober.hello(&spec).await? {
        Reply::Flight(flight, ..) => flight.hello.extension(extension::PRE_SHARED_KEY).is_some(),
        _ => false,
    };
    prober.findings.borrow_mut().features.resumption_tls13 = resumed.into();
    Ok(())
}

/// A handshake of TLS 1.2 that is finished.
struct Finished12 {
    wire: Wire,
    records: Records,
    keys: Keys12,
    session_id: Vec<u8>,
}

async fn sessions12(prober: &Prober<'_>, suites: &[u16]) -> Result<(), Stop> {
    let able: Vec<u16> = suites
        .iter()
        .copied()
        .filter(|code| can_finish(*code))
        .collect();
    if able.is_empty() {
        prober.note_missing("TLS 1.2: no suite with which a handshake can be finished here");
        return Ok(());
    }
    let groups = computable(&[0x1d, 0x17, 0x18, 0x19]);
    let mut first = full12(prober, &able, &groups).await?;
    if first.is_none() && prober.shows_certificate() {
        first = full12(prober, &able, &groups).await?;
    }
    let Some(mut first) = first else {
        prober.note_missing("TLS 1.2: the handshake did not come to its end");
        return Ok(());
    };
    let ticket = first
        .keys
        .ticket
        .clone()
        .filter(|ticket| !ticket.is_empty());
    prober.findings.borrow_mut().features.tickets_tls12 = ticket.is_some().into();
    if prober.lacks_head() {
        response12(prober, &mut first, Method::Head).await;
    }
    let session_id = first.session_id.clone();
    close12(prober, first).await;
    if let Some(ticket) = ticket {
        resume12(prober, &able, &groups, Vec::new(), Some(ticket)).await?;
    }
    // Without a ticket: the server has to store the session itself.
    session_id12(prober, &able, &groups, session_id).await?;
    if prober.lacks_head()
        && let Some(mut again) = full12(prober, &able, &groups).await?
    {
        response12(prober, &mut again, Method::Get).await;
        close12(prober, again).await;
    }
    // On a separate connection: a server that refuses may forget the session.
    if let Some(mut last) = full12(prober, &able, &groups).await? {
        renegotiate(prober, &mut last, &able).await;
        close12(prober, last).await;
    }
    Ok(())
}

async fn full12(
    prober: &Prober<'_>,
    suites: &[u16],
    groups: &[u16],
) -> Result<Option<Finished12>, Stop> {
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls12, suites, groups));
    spec.alpn = http1(&spec);
    let Reply::Flight(flight, mut records, mut wire) = prober.hello(&spec).await? else {
        return Ok(None);
    };
    let session_id = flight.hello.session_id.clone();
    let Some((mut keys, last)) =
        Keys12::new(&spec.message(), &spec.random, &flight, prober.identity())
    else {
        return Ok(None);
    };
    wire.extend(prober.limits.timeout);
    if wire.write(&last, &prober.counts).await.is_err() {
        return Ok(None);
    }
    read_records(prober, &mut wire, &mut records, |record| {
        keys.take(record).is_none() || keys.is_done || keys.alert.is_some()
    })
    .await;
    if flight.certificate_request.is_some() && prober.identity().is_none() {
        let mut findings = prober.findings.borrow_mut();
        findings.certificate_missed(keys.is_done, keys.alert);
    }
    if !keys.is_done {
        return Ok(None);
    }
    Ok(Some(Finished12 {
        wire,
        records,
        keys,
        session_id,
    }))
}

/// Closes the connection with close_notify: OpenSSL forgets sessions whose connections were cut off. It
/// is closed here because some servers take one connection at a time.
async fn close12(prober: &Prober<'_>, mut session: Finished12) {
    if let Some(sealed) = session.keys.seal(content::ALERT, &CLOSE_NOTIFY) {
        // Fails where the server closed first.
        let _ = session.wire.write(&sealed, &prober.counts).await;
    }
}

/// Reads the head of the response. Nothing can be renegotiated afterwards, because the server closes.
async fn response12(prober: &Prober<'_>, session: &mut Finished12, method: Method) {
    let Finished12 {
        wire,
        records,
        keys,
        ..
    } = session;
    let request = request(prober.target, method);
    let Some(sealed) = keys.seal(content::APPLICATION_DATA, &request) else {
        return;
    };
    wire.extend(prober.response_limit());
    if wire.write(&sealed, &prober.counts).await.is_err() {
        return;
    }
    let mut response = Vec::new();
    read_records(prober, wire, records, |record| {
        match keys.take(record) {
            Some((content::APPLICATION_DATA, plain)) => response.extend_from_slice(&plain),
            Some(_) => {}
            None => return true,
        }
        keys.alert.is_some()
            || response.len() > MOST_HEAD
            || ResponseHead::parse(&response).is_some()
    })
    .await;
    prober.asked(method);
    keep(
        ResponseHead::parse(&response),
        &mut prober.findings.borrow_mut().features,
    );
}

async fn renegotiate(prober: &Prober<'_>, session: &mut Finished12, suites: &[u16]) {
    let Finished12 {
        wire,
        records,
        keys,
        ..
    } = session;
    let mut spec = prober.spec(&ProbeHello::new(
        TlsVersion::Tls12,
        suites,
        &[0x1d, 0x17, 0x18],
    ));
    // NSS refuses it here, as the protocol was agreed to in the first handshake.
    spec.alpn = None;
    for extension in &mut spec.more {
        if extension.code == extension::RENEGOTIATION_INFO {
            extension.body = vec![u8::try_from(keys.verify_data.len()).unwrap_or(0)];
            extension.body.extend_from_slice(&keys.verify_data);
        }
    }
    let Some(sealed) = keys.seal(content::HANDSHAKE, &spec.message()) else {
        return;
    };
    // A server that ignores the request sends nothing: do not wait long.
    wire.extend(prober.limits.timeout.min(std::time::Duration::from_secs(2)));
    if wire.write(&sealed, &prober.counts).await.is_err() {
        return;
    }
    let mut answer = Observed::No;
    read_records(prober, wire, records, |record| match keys.take(record) {
        Some((content::HANDSHAKE, plain)) if plain.first() == Some(&2) => {
            answer = Observed::Yes;
            true
        }
        Some(_) => keys.alert.is_some(),
        None => true,
    })
    .await;
    prober.findings.borrow_mut().features.client_renegotiation = answer;
}

/// Whether the server resumes a session. It then sends no certificate.
async fn resume12(
    prober: &Prober<'_>,
    suites: &[u16],
    groups: &[u16],
    session_id: Vec<u8>,
    ticket: Option<Vec<u8>>,
) -> Result<(), Stop> {
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls12, suites, groups));
    spec.alpn = http1(&spec);
    // With a ticket the client chooses the session ID, by which it notices resumption (RFC 5077
    // section 3.4).
    spec.session_id = if ticket.is_some() {
        spec.random.to_vec()
    } else {
        session_id
    };
    spec.ticket = ticket;
    if let Reply::Flight(flight, ..) = prober.hello(&spec).await? {
        let resumed = flight.is_done
            && flight.certificates.is_none()
            && flight.hello.session_id == spec.session_id;
        let mut findings = prober.findings.borrow_mut();
        if resumed || findings.features.resumption_tls12 == Observed::Unknown {
            findings.features.resumption_tls12 = resumed.into();
        }
    }
    Ok(())
}

async fn session_id12(
    prober: &Prober<'_>,
    suites: &[u16],
    groups: &[u16],
    given: Vec<u8>,
) -> Result<(), Stop> {
    let ticketed = prober.findings.borrow().features.tickets_tls12 == Observed::Yes;
    if !ticketed {
        prober.findings.borrow_mut().features.session_ids = (!given.is_empty()).into();
        if given.is_empty() {
            let mut findings = prober.findings.borrow_mut();
            if findings.features.resumption_tls12 == Observed::Unknown {
                findings.features.resumption_tls12 = Observed::No;
            }
            return Ok(());
        }
        return resume12(prober, suites, groups, given, None).await;
    }
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls12, suites, groups));
    spec.ticket = None;
    spec.alpn = http1(&spec);
    if let Reply::Flight(flight, ..) = prober.hello(&spec).await? {
        prober.findings.borrow_mut().features.session_ids =
            (!flight.hello.session_id.is_empty()).into();
    }
    Ok(())
}

/// Reads records until one of them is the last, or the connection ends.
async fn read_records(
    prober: &Prober<'_>,
    wire: &mut Wire,
    records: &mut Records,
    mut is_last: impl FnMut(&crate::codec::Record) -> bool,
) {
    let mut room = [0; 8192];
    loop {
        while let Ok(Some(record)) = records.next_record() {
            if is_last(&record) {
                return;
            }
        }
        match wire.read(&mut room, &prober.counts).await {
            Ok(arrived) if records.waiting() <= 64 * 1024 => records.push(arrived),
            _ => return,
        }
    }
}

fn keep(head: Option<ResponseHead>, features: &mut netbench_model::scan::Features) {
    if let Some(head) = head {
        features.http_status = head.status;
        features.strict_transport_security = head.strict_transport_security;
        features.alt_svc = head.alt_svc;
    }
}

fn pre_shared_key(ticket: &Resumption13, proof: &[u8]) -> Extension {
    let mut identity = Vec::new();
    crate::codec::put_vec16(&mut identity, &ticket.ticket);
    // The ticket is about 1 ms old.
    identity.extend(ticket.age_add.wrapping_add(1).to_be_bytes());
    let mut body = Vec::new();
    crate::codec::put_vec16(&mut body, &identity);
    let mut binders = Vec::new();
    crate::codec::put_vec8(&mut binders, proof);
    crate::codec::put_vec16(&mut body, &binders);
    Extension {
        code: extension::PRE_SHARED_KEY,
        body,
    }
}

/// HTTP/1.1 alone, unless the site refuses ALPN.
fn http1(spec: &HelloSpec) -> Option<Vec<Vec<u8>>> {
    spec.alpn.as_ref().map(|_| vec![b"http/1.1".to_vec()])
}

fn suite_is_sha384(code: u16) -> bool {
    CipherSuite(code)
        .facts()
        .is_some_and(|suite| suite.name.ends_with("SHA384"))
}

fn can_finish(code: u16) -> bool {
    use KeyExchange::{Ecdhe, Rsa};
    CipherSuite(code).facts().is_some_and(|suite| {
        let exchange = matches!(suite.key_exchange, Ecdhe | Rsa);
        let name = suite.name;
        let cipher = ["AES_128_GCM", "AES_256_GCM", "CHACHA20"];
        exchange && cipher.iter().any(|cipher| name.contains(cipher))
    })
}

impl Prober<'_> {
    /// Whether there may be a head of a response that is not known.
    fn lacks_head(&self) -> bool {
        let known = self.findings.borrow().features.http_status.is_some();
        !known && self.method.get() != Some(Method::Get)
    }

    fn asked(&self, method: Method) {
        self.method.set(Some(method));
    }

    fn response_limit(&self) -> Duration {
        let fastest = self.counts.borrow().connect_us.iter().min().copied();
        let round_trips = Duration::from_micros(fastest.unwrap_or(0)) * 4;
        self.limits.timeout.min(RESPONSE + round_trips)
    }

    pub(super) fn note_missing(&self, what: &str) {
        self.findings.borrow_mut().note(what.to_owned());
    }
}

/// All schemes but these.
pub(super) fn schemes_without(taken: &[u16]) -> Vec<u16> {
    let mut schemes = offered_schemes();
    schemes.retain(|code| !taken.contains(code));
    schemes
}
