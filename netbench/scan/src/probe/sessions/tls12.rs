//! Whole handshakes of TLS 1.2.

use netbench_model::{
    scan::Observed,
    tls::{CipherSuite, KeyExchange, TlsVersion},
};

use super::{CLOSE_NOTIFY, http1, keep, needs_more, read_records};
use crate::{
    codec::{content, extension, vec8},
    enumeration::{ProbeHello, Stop},
    probe::{
        prober::Prober,
        wire::{Reply, Wire},
    },
    session::{Keys12, Method, ResponseHead, request},
};

/// A finished handshake of TLS 1.2.
struct Finished12 {
    wire: Wire,
    keys: Keys12,
    session_id: Vec<u8>,
}

/// Whether a hello requests a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ticket {
    Asked,
    /// The server itself has to store the session.
    NotAsked,
}

/// Groups that can be computed here.
const GROUPS: [u16; 4] = [0x1d, 0x17, 0x18, 0x19];

pub(super) async fn sessions12(prober: &Prober<'_>, suites: &[u16]) -> Result<(), Stop> {
    let able = able(suites);
    if able.is_empty() {
        prober.note("TLS 1.2: no suite with which a handshake can be finished here");
        return Ok(());
    }
    let mut first = full12(prober, &able, Ticket::Asked).await?;
    if first.is_none() && prober.shows_certificate() {
        first = full12(prober, &able, Ticket::Asked).await?;
    }
    let Some(mut first) = first else {
        prober.note("TLS 1.2: the handshake did not come to its end");
        return Ok(());
    };
    let ticket = first
        .keys
        .ticket
        .clone()
        .filter(|ticket| !ticket.is_empty());
    let left_out = prober
        .dress
        .borrow()
        .without
        .contains(&extension::SESSION_TICKET);
    if !left_out {
        prober.findings.borrow_mut().features.tickets_tls12 = ticket.is_some().into();
    }
    if prober.lacks_head() {
        response12(prober, &mut first, Method::Head).await;
    }
    let session_id = first.session_id.clone();
    close12(prober, first).await;
    if let Some(ticket) = ticket {
        resume12(prober, &able, Vec::new(), Some(ticket)).await?;
    } else {
        session_id12(prober, &able, session_id).await?;
    }
    if prober.lacks_head()
        && let Some(mut again) = full12(prober, &able, Ticket::Asked).await?
    {
        response12(prober, &mut again, Method::Get).await;
        close12(prober, again).await;
    }
    Ok(())
}

/// Tests renegotiation on a separate connection, because a server that refuses may drop the session. The connection
/// also shows whether a server with tickets stores sessions without one.
pub(super) async fn renegotiation12(prober: &Prober<'_>, suites: &[u16]) -> Result<(), Stop> {
    let able = able(suites);
    if able.is_empty() {
        return Ok(());
    }
    let Some(mut session) = full12(prober, &able, Ticket::NotAsked).await? else {
        return Ok(());
    };
    if prober.findings.borrow().features.tickets_tls12 == Observed::Yes {
        let stores = !session.session_id.is_empty();
        prober.findings.borrow_mut().features.session_ids = stores.into();
    }
    renegotiate(prober, &mut session, &able).await;
    close12(prober, session).await;
    Ok(())
}

async fn full12(
    prober: &Prober<'_>,
    suites: &[u16],
    ticket: Ticket,
) -> Result<Option<Finished12>, Stop> {
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls12, suites, &GROUPS));
    spec.alpn = http1(&spec);
    if ticket == Ticket::NotAsked {
        spec.ticket = None;
    }
    let Reply::Flight(flight, mut wire) = prober.hello(&spec).await? else {
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
    read_records(prober, &mut wire, |record| {
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
        keys,
        session_id,
    }))
}

/// Closes the connection with close_notify: OpenSSL discards sessions whose connections were cut off. It is closed
/// here because some servers accept one connection at a time.
async fn close12(prober: &Prober<'_>, mut session: Finished12) {
    if let Some(sealed) = session.keys.seal(content::ALERT, &CLOSE_NOTIFY) {
        // The write fails if the server closed first.
        let _ = session.wire.write(&sealed, &prober.counts).await;
    }
}

/// Reads the head of the response. Renegotiation is impossible afterwards, because the server closes.
async fn response12(prober: &Prober<'_>, session: &mut Finished12, method: Method) {
    let Finished12 { wire, keys, .. } = session;
    let request = request(prober.target, method);
    let Some(sealed) = keys.seal(content::APPLICATION_DATA, &request) else {
        return;
    };
    wire.extend(prober.response_limit(method));
    if wire.write(&sealed, &prober.counts).await.is_err() {
        return;
    }
    let mut response = Vec::new();
    read_records(prober, wire, |record| {
        match keys.take(record) {
            Some((content::APPLICATION_DATA, plain)) => response.extend_from_slice(&plain),
            Some(_) => {}
            None => return true,
        }
        keys.alert.is_some() || !needs_more(&response)
    })
    .await;
    prober.asked(method);
    keep(
        ResponseHead::parse(&response),
        &mut prober.findings.borrow_mut().features,
    );
}

async fn renegotiate(prober: &Prober<'_>, session: &mut Finished12, suites: &[u16]) {
    let Finished12 { wire, keys, .. } = session;
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls12, suites, &GROUPS));
    // NSS refuses ALPN here, because the protocol was negotiated in the first handshake.
    spec.alpn = None;
    for (code, body) in &mut spec.more {
        if *code == extension::RENEGOTIATION_INFO {
            *body = vec8(&keys.verify_data);
        }
    }
    let Some(sealed) = keys.seal(content::HANDSHAKE, &spec.message()) else {
        return;
    };
    // A server that ignores the request sends no data: the wait is short.
    wire.extend(prober.limits.timeout.min(std::time::Duration::from_secs(2)));
    if wire.write(&sealed, &prober.counts).await.is_err() {
        return;
    }
    let mut answer = Observed::No;
    read_records(prober, wire, |record| match keys.take(record) {
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

/// Tests whether the server resumes a session. It then sends no certificate.
async fn resume12(
    prober: &Prober<'_>,
    suites: &[u16],
    session_id: Vec<u8>,
    ticket: Option<Vec<u8>>,
) -> Result<(), Stop> {
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls12, suites, &GROUPS));
    spec.alpn = http1(&spec);
    // With a ticket, the client chooses the session ID, by which it detects resumption (RFC 5077 section 3.4).
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
        findings.features.resumption_tls12.observe(resumed);
    }
    Ok(())
}

/// Tests session IDs, for a server without tickets.
async fn session_id12(prober: &Prober<'_>, suites: &[u16], given: Vec<u8>) -> Result<(), Stop> {
    prober.findings.borrow_mut().features.session_ids = (!given.is_empty()).into();
    if !given.is_empty() {
        return resume12(prober, suites, given, None).await;
    }
    let features = &mut prober.findings.borrow_mut().features;
    features.resumption_tls12.observe(false);
    Ok(())
}

/// Returns the suites with which a handshake can be finished here; the server chooses among them.
fn able(suites: &[u16]) -> Vec<u16> {
    let mut able = suites.to_vec();
    able.retain(|code| can_finish(*code));
    able
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
