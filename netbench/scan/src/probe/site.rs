//! Scan of one site, from its first hello to its record.

use std::{net::SocketAddr, time::Duration};

use tokio::time::Instant;

use super::{
    again::is_refused_again,
    features, hello_limits as limits,
    intolerance::{ECH_GREASE, intolerance},
    known::Misjudged,
    limits::{Gate, Limits, ScanClient, ScanPart, ScanTarget},
    prober::Prober,
    sessions,
    steadiness::Standing,
    wire::ConnectionError,
};
use netbench_model::{
    StartTls,
    scan::{
        Effort, FailedClass, NamedCode, Observed, ScanOutcome, SignatureScan, SiteScan, Tolerance,
    },
    tls::{Alert, ExtensionType, SignatureScheme},
};

use crate::{
    codec::{NotTls, extension},
    enumeration::{Enumeration, Stop, enumerate},
    text::clean,
};

/// The maximum number of addresses of a site that are tried, in sequence until one accepts a connection.
const MOST_TRIED: usize = 4;

/// The maximum number of enumerations of a site that was silent, or another server, at the end of an enumeration.
const MOST_PASSES: u32 = 3;

/// Scans one site. The function never fails: errors are in the result.
pub(super) async fn scan(
    target: &ScanTarget,
    addresses: Result<Vec<SocketAddr>, String>,
    limits: &Limits,
    client: &ScanClient,
    gate: &Gate,
) -> SiteScan {
    let mut last = empty(target);
    let addresses = match addresses {
        Ok(addresses) => addresses,
        Err(why) => {
            last.outcome = ScanOutcome::Failed {
                class: FailedClass::Resolve,
                detail: clean(&why),
            };
            return last;
        }
    };
    let mut silent = Vec::new();
    for address in addresses.iter().take(MOST_TRIED) {
        last = scan_at(target, *address, limits, client, gate).await;
        let class = FailedClass::Connect;
        if !matches!(&last.outcome, ScanOutcome::Failed { class: failed, .. } if *failed == class) {
            break;
        }
        silent.push(address);
    }
    if last.is_scanned() && !silent.is_empty() {
        let all: Vec<String> = silent.iter().map(ToString::to_string).collect();
        last.notes
            .push(format!("no connection to {}", all.join(", ")));
    }
    if addresses.len() > 1 {
        last.addresses = addresses;
    }
    last
}

async fn scan_at(
    target: &ScanTarget,
    address: SocketAddr,
    limits: &Limits,
    client: &ScanClient,
    gate: &Gate,
) -> SiteScan {
    let begun = Instant::now();
    let mut scan = empty(target);
    scan.address = Some(address);
    let prober = Prober::new(target, address, limits, client, gate);
    let mut found = None;
    // Every wait has a limit, and none begins after the site's time is up.
    let ended = run(&prober, &mut scan, &mut found).await;
    if let Some(found) = found {
        scan.versions = found.versions;
    }
    let cut = if prober.left().is_zero() {
        Some(format!("not done within {}", seconds(limits.site_timeout)))
    } else {
        ended.err().map(|Stop| stopped(&prober))
    };
    finish(prober, scan, cut, begun)
}

async fn run(
    prober: &Prober<'_>,
    scan: &mut SiteScan,
    found: &mut Option<Enumeration>,
) -> Result<(), Stop> {
    let mut passes = 0;
    let enumeration = loop {
        let enumeration = found.insert(enumerate(prober).await);
        if !prober.answered.get() {
            return Err(Stop);
        }
        prober.part.set("steadiness");
        let standing = prober.standing().await;
        let is_proven = prober.misjudged.take().is_none();
        if standing == Ok(Standing::Same) && is_proven {
            break enumeration;
        }
        // Some refusals or choices were those of another server, or of none.
        doubt(enumeration);
        let Some(known) = prober.known.borrow().clone() else {
            break enumeration;
        };
        if standing? == Standing::ByTurns {
            prober.note("servers that do not agree answer by turns");
            break enumeration;
        }
        passes += 1;
        if passes > MOST_PASSES {
            break enumeration;
        }
        prober.careful.set(true);
        prober.wait_for(&known, &prober.pace.recent()).await?;
        prober.forget();
        prober.part.set("enumeration");
    };
    // A part that fails ends the scan: the findings so far are reported.
    for part in &prober.limits.parts {
        prober.part.set(part.name());
        match part {
            ScanPart::Signatures => features::signatures(prober, enumeration).await?,
            ScanPart::Sessions => sessions::sessions(prober, enumeration).await?,
            ScanPart::Features => {
                features::features(prober, enumeration).await?;
                if !is_refused_again(prober, enumeration).await? {
                    doubt(enumeration);
                }
            }
            ScanPart::Intolerance => scan.intolerance = intolerance(prober, enumeration).await?,
        }
    }
    if !prober.limits.parts.is_empty() {
        prober.part.set("steadiness");
        let why = match prober.standing().await? {
            Standing::Same => prober.misjudged.get().map(Misjudged::why),
            _ => Some("the server that answered at first did not answer at the end"),
        };
        if let Some(why) = why {
            prober.ended.borrow_mut().get_or_insert(why.to_owned());
            return Err(Stop);
        }
    }
    let part = ScanPart::Sessions;
    if prober.limits.parts.contains(&part) {
        prober.part.set(part.name());
        sessions::renegotiation(prober, enumeration).await?;
    }
    Ok(())
}

/// Marks every version as incomplete.
fn doubt(found: &mut Enumeration) {
    for version in &mut found.versions {
        version.complete = false;
    }
}

fn finish(prober: Prober<'_>, mut scan: SiteScan, cut: Option<String>, begun: Instant) -> SiteScan {
    let counts = prober.counts.into_inner();
    let mut connects = counts.connect_us;
    connects.sort_unstable();
    let by_part = prober.by_part.into_inner();
    scan.effort = Effort {
        connections: by_part.values().sum(),
        enumeration_connections: by_part.get("enumeration").copied().unwrap_or(0),
        by_part: by_part
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect(),
        retries: prober.retries.get(),
        bytes_out: counts.bytes_out,
        bytes_in: counts.bytes_in,
        elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        connect_us: connects.get(connects.len() / 2).copied(),
        fastest_connect_us: connects.first().copied(),
    };
    let limits = prober.limits_found.into_inner();
    scan.intolerance.extend(limits::intolerances(&limits));
    scan.hello_limits = limits::hello_limits(&limits);
    if let Some(Tolerance::Intolerant { .. }) = scan.intolerance.get(ECH_GREASE) {
        let code = extension::ENCRYPTED_CLIENT_HELLO;
        let name = ExtensionType(code).shown();
        scan.hello_limits
            .extensions
            .push(NamedCode::new(code, name));
    }
    let mut findings = prober.findings.into_inner();
    if findings.chain_count() > 2 {
        let count = findings.chain_count();
        findings.note(format!(
            "{count} different chains: perhaps several servers behind one address"
        ));
    }
    scan.notes = std::mem::take(&mut findings.notes);
    scan.features = std::mem::take(&mut findings.features);
    if scan.features.client_certificate == Observed::No {
        // No handshake ends for lack of a certificate that is not requested.
        scan.features.client_certificate_required = Observed::No;
    }
    scan.signatures = std::mem::take(&mut findings.signatures)
        .into_iter()
        .map(|(version, code)| SignatureScan::new(version, SignatureScheme(code)))
        .collect();
    scan.chains = findings.chains();
    let incomplete = scan.versions.iter().any(|v| !v.complete);
    let wrong = scan.versions.iter().all(|v| !v.supported);
    scan.outcome = if prober.answered.get() && wrong && cut.is_none() {
        // The site responded, but chose no offered value.
        let detail = scan.notes.first().cloned();
        ScanOutcome::Failed {
            class: FailedClass::Malformed,
            detail: detail.unwrap_or_else(|| "chooses what was not offered".to_owned()),
        }
    } else if prober.answered.get() {
        match cut {
            Some(why) => ScanOutcome::Partial { why },
            None if incomplete => ScanOutcome::Partial {
                why: "the server answered inconsistently".to_owned(),
            },
            None => ScanOutcome::Scanned,
        }
    } else {
        if prober.alert.get().is_none() {
            // Without an alert, the absence of versions is not established.
            for version in &mut scan.versions {
                version.complete = false;
            }
        }
        let broken = prober.broken.into_inner();
        let (class, mut detail) = failure(broken, prober.alert.get(), cut);
        if matches!(class, FailedClass::Silent | FailedClass::Reset)
            && let Some(words) = counts.incomplete
        {
            detail = format!("{detail}; it sent only {words}");
        }
        ScanOutcome::Failed {
            class,
            detail: clean(&detail),
        }
    };
    scan
}

fn failure(
    broken: Option<ConnectionError>,
    alert: Option<u8>,
    cut: Option<String>,
) -> (FailedClass, String) {
    use FailedClass as F;
    if let Some(alert) = alert {
        return (F::Refused, format!("refuses every hello: {}", Alert(alert)));
    }
    match broken {
        Some(ConnectionError::Connect(why)) => (F::Connect, why),
        Some(ConnectionError::Local(why)) => (F::Local, why),
        Some(ConnectionError::Silent) => (
            F::Silent,
            "accepts connections and sends no answer".to_owned(),
        ),
        Some(ConnectionError::Closed) => (
            F::Reset,
            "closes the connection after the ClientHello".to_owned(),
        ),
        Some(ConnectionError::Reset) => (
            F::Reset,
            "resets the connection after the ClientHello".to_owned(),
        ),
        Some(ConnectionError::NotTls(other)) => not_tls(other),
        Some(ConnectionError::Malformed(what)) => (F::Malformed, format!("sends {what}")),
        Some(ConnectionError::StartTls(why)) => (F::StartTls, why),
        None => (F::Silent, cut.unwrap_or_else(|| "no answer".to_owned())),
    }
}

/// The class of a server that speaks another protocol, and its name with what to try instead.
fn not_tls(other: NotTls) -> (FailedClass, String) {
    use FailedClass as F;
    let (class, name, instead) = match other {
        NotTls::Http => return (F::PlainHttp, "answers in plain HTTP".to_owned()),
        NotTls::Codes => {
            let words = "sends a greeting in text, as SMTP and FTP do";
            return (F::Greeting, words.to_owned());
        }
        NotTls::Other => {
            return (F::NotTls, "answers with bytes that are not TLS".to_owned());
        }
        NotTls::Ssh => (F::Ssh, "SSH", None),
        NotTls::Smtp => (F::Greeting, "SMTP", Some(StartTls::Smtp)),
        NotTls::Imap => (F::Greeting, "IMAP", Some(StartTls::Imap)),
        NotTls::Pop3 => (F::Greeting, "POP3", Some(StartTls::Pop3)),
        NotTls::Xmpp => (F::Greeting, "XMPP", Some(StartTls::Xmpp)),
        NotTls::Ftp => (F::Greeting, "FTP", None),
        NotTls::Ldap => (F::NotTls, "LDAP", Some(StartTls::Ldap)),
        NotTls::MySql => (F::NotTls, "MySQL", None),
        NotTls::Postgresql => (F::NotTls, "PostgreSQL", Some(StartTls::Postgresql)),
    };
    let instead = instead.map(|protocol| format!(": try --starttls {protocol}"));
    let instead = instead.unwrap_or_default();
    (class, format!("answers as {name}{instead}"))
}

fn stopped(prober: &Prober<'_>) -> String {
    if let Some(why) = &*prober.ended.borrow() {
        return why.clone();
    }
    match &*prober.broken.borrow() {
        Some(ConnectionError::Connect(why) | ConnectionError::Local(why)) => {
            format!("no more connections: {why}")
        }
        Some(ConnectionError::Silent) => "stopped answering".to_owned(),
        _ => "the scan could not continue".to_owned(),
    }
}

fn empty(target: &ScanTarget) -> SiteScan {
    SiteScan::new(target.site.clone(), target.host.clone(), target.port)
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::limits::Place;

    /// Hundreds of sites are scanned at a time, and each has one such future.
    #[test]
    fn a_scan_that_waits_takes_little_room() {
        let (limits, client) = (Limits::default(), ScanClient::default());
        let gate = Gate::new(&limits);
        let address: SocketAddr = ([127, 0, 0, 1], 443).into();
        let target = ScanTarget {
            site: "a.test".to_owned(),
            host: "a.test".to_owned(),
            port: 443,
            path: "/".to_owned(),
            place: Place::At(address),
            start_tls: None,
        };
        let prober = Prober::new(&target, address, &limits, &client, &gate);
        let whole = size_of_val(&scan(&target, Ok(vec![address]), &limits, &client, &gate));
        let connection = size_of_val(&*prober.converse(&[]));
        let most = 16 * 1024;
        assert!(
            whole + 2 * connection < most,
            "{whole} and {connection} bytes"
        );
    }
}
