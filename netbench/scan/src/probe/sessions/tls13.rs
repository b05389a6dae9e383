//! Whole handshakes of TLS 1.3.

use std::rc::Rc;

use netbench_model::{
    scan::{Observed, VersionScan},
    tls::TlsVersion,
};

use super::{CLOSE_NOTIFY, http1, keep, needs_more, read_records};
use crate::{
    codec::{Extension, content, extension, vec8, vec16},
    enumeration::{ProbeHello, Stop},
    probe::{prober::Prober, wire::Reply},
    session::{
        Method, PrivateShares, ResponseHead, Resumption13, binder, computable, computable_suites,
        crypto::Hash, request,
    },
};

pub(super) async fn sessions13(prober: &Prober<'_>, newest: &VersionScan) -> Result<(), Stop> {
    // The encrypted data must be readable.
    let suites = computable_suites(&newest.suite_codes());
    let groups = computable(&newest.group_codes());
    if groups.is_empty() {
        prober.note("TLS 1.3: no group that can be computed here");
    } else if suites.is_empty() {
        prober.note(
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
    Ok(())
}

async fn full13(
    prober: &Prober<'_>,
    suites: &[u16],
    groups: &[u16],
    method: Method,
) -> Result<Option<Resumption13>, Stop> {
    let keys = Rc::new(PrivateShares::new(groups));
    let mut spec = prober.spec(&ProbeHello::new(TlsVersion::Tls13, suites, groups));
    spec.shares = Some(keys.public());
    spec.alpn = http1(&spec);
    let Reply::Flight(flight, mut wire) = prober.hello(&spec).await? else {
        return Ok(None);
    };
    if flight.hello.is_retry || flight.hello.version != TlsVersion::Tls13.code() {
        return Ok(None);
    }
    let session = prober.encrypted(&spec, &keys, &flight, &mut wire);
    let Some(mut session) = session.await else {
        prober.note("TLS 1.3: the encrypted flight could not be read");
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
    wire.extend(prober.response_limit(method));
    if wire.write(&last, &prober.counts).await.is_err() {
        return Ok(None);
    }
    let mut response = Vec::new();
    let ended = read_records(prober, &mut wire, |record| {
        let Some(plain) = session.take(record) else {
            return true;
        };
        response.extend_from_slice(&plain);
        session.encrypted.alert.is_some() || !needs_more(&response)
    });
    ended.await;
    if let Some(sealed) = session.seal(content::ALERT, &CLOSE_NOTIFY) {
        // The write fails if the server closed first.
        let _ = wire.write(&sealed, &prober.counts).await;
    }
    drop(wire);
    prober.asked(method);
    let mut findings = prober.findings.borrow_mut();
    let head = ResponseHead::parse(&response);
    let finished = head.is_some() || !session.tickets.is_empty();
    if session.encrypted.certificate_request.is_some() && prober.identity().is_none() {
        // Tickets are not conclusive: a server may send them before it has read the client's flight.
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
    let zeros = vec![0; Hash::of(ticket.suite).length()];
    spec.last = Some(pre_shared_key(ticket, &zeros));
    let Some(proof) = binder(ticket, &spec.message()) else {
        return Ok(());
    };
    spec.last = Some(pre_shared_key(ticket, &proof));
    if let Reply::Flight(flight, ..) = prober.hello(&spec).await?
        && !flight.hello.is_retry
    {
        let resumed = flight.hello.extension(extension::PRE_SHARED_KEY).is_some();
        prober.findings.borrow_mut().features.resumption_tls13 = resumed.into();
    }
    Ok(())
}

fn pre_shared_key(ticket: &Resumption13, proof: &[u8]) -> Extension {
    let mut identity = vec16(&ticket.ticket);
    // The ticket is about 1 ms old.
    identity.extend(ticket.age_add.wrapping_add(1).to_be_bytes());
    let body = [vec16(&identity), vec16(&vec8(proof))];
    (extension::PRE_SHARED_KEY, body.concat())
}
