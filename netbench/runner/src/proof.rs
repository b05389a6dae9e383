use netbench_model::{
    Condition, EarlyDataPolicy, EarlyDataStatus, EchPolicy, Failure, FailureClass, FailureWord,
    LinkPackets, Measured, Negotiated, Phase, Phases, Role, Site, Target,
};

use crate::ech;

/// The maximum number of bytes that may follow the last ones that a client counts: messages of both sides that
/// close the connection, and frames for which no response waits.
const UNCOUNTED_BYTES: u64 = 1_024;

/// The tolerance by which a client may have read the server's data earlier, or sent its own later, than the packets
/// show.
const ENCLOSING_NS: u64 = 500_000;

/// A time that is less than any processor takes for one signature: the fastest to verify, RSA with 2,048 bits,
/// takes some 5 µs on the fastest processor.
const SHORTEST_VERIFICATION_NS: u64 = 2_000;

/// The expected properties of a connection.
pub(crate) struct Expected<'a> {
    pub(crate) condition: Condition,
    pub(crate) role: Role,
    pub(crate) target: Target,
    pub(crate) site: &'a Site,
    /// Encrypted ClientHello between the client and the lab's server.
    pub(crate) ech: Option<EchPolicy>,
    /// Whether the stack reports the time of its verification.
    pub(crate) times_verification: bool,
    /// Size of the certificates that the client sends, if the site requires some.
    pub(crate) client_chain_bytes: Option<u64>,
}

/// Returns the failure of work that differs from the requested one.
pub(crate) fn wrong_work(reason: FailureWord, detail: String) -> Failure {
    Failure::new(FailureClass::WrongWork, reason, detail)
}

/// Compares a worker's account of a connection with the request, with the server's view and with the link's
/// packets, if it sees them.
///
/// # Errors
/// Returns [`FailureClass::WrongWork`]: a figure of other work is worse than no figure.
pub(crate) fn prove(
    expected: &Expected<'_>,
    measured: &Measured,
    packets: Option<&LinkPackets>,
) -> Result<(), Failure> {
    compare(expected, measured, packets).map_err(|(reason, detail)| Failure {
        phase: Some(Phase::Total),
        after_ns: Some(measured.phases.total_ns),
        ..wrong_work(reason, detail)
    })
}

fn compare(
    expected: &Expected<'_>,
    measured: &Measured,
    packets: Option<&LinkPackets>,
) -> Result<(), (FailureWord, String)> {
    let client = &measured.client;
    for (field, is_none) in [
        ("client.version", client.version.is_none()),
        ("client.suite", client.suite.is_none()),
    ] {
        if is_none {
            let detail = format!("{field} is null: no finished TLS handshake");
            return Err((FailureWord::NoHandshake, detail));
        }
    }
    let (phases, transfer) = (&measured.phases, &measured.transfer);
    for (field, value) in [
        ("phases.tls_ns", phases.tls_ns),
        ("phases.client_hello_ns", phases.client_hello_ns),
        ("transfer.handshake_bytes_in", transfer.handshake_bytes_in),
        ("transfer.handshake_bytes_out", transfer.handshake_bytes_out),
        ("transfer.bytes_in", transfer.bytes_in),
        ("transfer.bytes_out", transfer.bytes_out),
    ] {
        if value == 0 {
            return Err((FailureWord::NoFigure, format!("{field} is 0")));
        }
    }
    let resumes = expected.condition.resumes() && expected.role == Role::Measured;
    if client.resumed != resumes {
        let reason = if resumes {
            FailureWord::NotResumed
        } else {
            FailureWord::Resumed
        };
        let detail = format!("the client reports that resumed is {}", client.resumed);
        return Err((reason, detail));
    }
    if !resumes && phases.verify_ns.is_none() && expected.times_verification {
        let detail = "phases.verify_ns is null: the certificate chain was not verified";
        return Err((FailureWord::NoVerification, detail.to_owned()));
    }
    if let Some(detail) = phases
        .verify_ns
        .filter(|_| !resumes)
        .and_then(|verify_ns| impossible_verification(verify_ns, phases, packets))
    {
        return Err((FailureWord::VerificationTime, detail));
    }
    if let Some(detail) = impossible_bytes(measured, packets) {
        return Err((FailureWord::Bytes, detail));
    }
    if expected.target != Target::Lab {
        return Ok(());
    }
    if let Some(detail) = missing_client_certificate(expected, measured) {
        return Err((FailureWord::Bytes, detail));
    }
    let Some(server) = &measured.server else {
        let detail = "the lab's server did not report its view".to_owned();
        return Err((FailureWord::NoServersView, detail));
    };
    if let Some(what) = disagreement(client, &server.negotiated) {
        return Err((FailureWord::SidesDisagree, what));
    }
    if let Some(what) = ech::wrong_outcome(expected.ech, client, &server.negotiated) {
        return Err((FailureWord::Ech, what));
    }
    if let Some(what) = wrong_early_data(expected, client, &server.negotiated) {
        return Err((FailureWord::EarlyData, what));
    }
    if measured.http_status != 200 || measured.body_bytes != expected.site.lab.body_bytes {
        let detail = format!(
            "status {} and {} bytes, where 200 and {} were due",
            measured.http_status, measured.body_bytes, expected.site.lab.body_bytes
        );
        return Err((FailureWord::AnotherResponse, detail));
    }
    Ok(())
}

/// Returns the reason why a verification cannot have taken this time, if it cannot.
fn impossible_verification(
    verify_ns: u64,
    phases: &Phases,
    packets: Option<&LinkPackets>,
) -> Option<String> {
    if verify_ns < SHORTEST_VERIFICATION_NS {
        return Some(format!(
            "phases.verify_ns is {verify_ns}: no signature is verified in less than {SHORTEST_VERIFICATION_NS} ns"
        ));
    }
    let handshake_ns = phases.tls_ns.saturating_sub(phases.client_hello_ns);
    let turn_ns = packets.and_then(|packets| packets.longest_client_turn_ns);
    let (limit_ns, what) = match turn_ns {
        Some(turn_ns) if turn_ns + ENCLOSING_NS < handshake_ns => (
            turn_ns + ENCLOSING_NS,
            "the packets that enclose it are apart",
        ),
        _ => (handshake_ns, "the handshake takes after the ClientHello"),
    };
    (verify_ns > limit_ns).then(|| {
        format!("phases.verify_ns is {verify_ns}, more than the {limit_ns} ns that {what}")
    })
}

/// Returns the difference between early data as the condition requires it and as both sides report it, if there is one.
///
/// A server that accepts early data may nevertheless have to reject it, as after a HelloRetryRequest. Where both sides say so,
/// the outcome is a rejection, for which nothing is credited.
fn wrong_early_data(
    expected: &Expected<'_>,
    client: &Negotiated,
    server: &Negotiated,
) -> Option<String> {
    let is_due = expected.condition == Condition::EarlyData && expected.role == Role::Measured;
    let outcomes = (client.early_data, server.early_data);
    match (is_due, outcomes) {
        (true, (None, _)) => Some("the client sent no early data".to_owned()),
        (false, (Some(_), _) | (_, Some(_))) => Some("the client sent early data".to_owned()),
        (_, (client, server)) if client != server => Some(format!(
            "the client reports {}, the server {}",
            client.map_or("none", EarlyDataStatus::name),
            server.map_or("none", EarlyDataStatus::name)
        )),
        (true, (Some(outcome), _)) => match (expected.site.lab.early_data, outcome) {
            (Some(EarlyDataPolicy::Reject), EarlyDataStatus::Accepted) => {
                Some("it is accepted at a site that rejects it".to_owned())
            }
            (
                Some(EarlyDataPolicy::Retry),
                EarlyDataStatus::Accepted | EarlyDataStatus::Rejected,
            ) => Some(format!(
                "it is {outcome} without a HelloRetryRequest, with which the site answers it"
            )),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the reason why the client cannot have sent the certificates that the site requires, if it cannot.
fn missing_client_certificate(expected: &Expected<'_>, measured: &Measured) -> Option<String> {
    let bytes = expected.client_chain_bytes?;
    let sent = measured.transfer.handshake_bytes_out;
    let is_short = !measured.client.resumed && sent < bytes;
    is_short.then(|| {
        format!(
            "transfer.handshake_bytes_out is {sent}: less than the {bytes} bytes of the client's certificates"
        )
    })
}

/// Returns the reason why a count of bytes cannot be right, if one cannot.
fn impossible_bytes(measured: &Measured, packets: Option<&LinkPackets>) -> Option<String> {
    let transfer = &measured.transfer;
    // A request in early data is sent, and may be answered, before the handshake is done.
    let (least_in, least_out) = match measured.client.early_data {
        None => (
            transfer.handshake_bytes_in,
            transfer.handshake_bytes_out + 1,
        ),
        Some(_) => (0, transfer.handshake_bytes_out),
    };
    let response_bytes = transfer.bytes_in.checked_sub(least_in);
    if response_bytes.is_none_or(|bytes| bytes < measured.body_bytes) {
        return Some(format!(
            "transfer.bytes_in is {}: less than handshake_bytes_in and body_bytes together",
            transfer.bytes_in
        ));
    }
    if transfer.bytes_out < least_out {
        return Some(format!(
            "transfer.bytes_out is {}: not more than handshake_bytes_out",
            transfer.bytes_out
        ));
    }
    let packets = packets.filter(|packets| packets.connections == 1)?;
    // After a loss the congestion window is small, and the client's kernel may hold back the last data of a client,
    // such as window updates of HTTP/2, until the connection is over.
    let has_lost = packets.syns > 1 || packets.resent_up > 0;
    let least_out = if has_lost {
        least_out
    } else {
        transfer.bytes_out
    };
    let counts = [
        (
            "transfer.bytes_out",
            transfer.bytes_out,
            least_out,
            packets.bytes_up,
        ),
        (
            "transfer.bytes_in",
            transfer.bytes_in,
            transfer.bytes_in,
            packets.bytes_down,
        ),
    ];
    let (field, counted, _, passed) = counts.into_iter().find(|(_, counted, least, passed)| {
        !(least..=&(counted + UNCOUNTED_BYTES)).contains(&passed)
    })?;
    Some(format!(
        "{field} is {counted}, and {passed} bytes passed the link"
    ))
}

/// Returns the reason why the site does not support the condition, if it does not.
pub(crate) fn unsupported(condition: Condition, target: Target, site: &Site) -> Option<String> {
    let (is_emulated, lab) = (target == Target::Lab, &site.lab);
    let reasons = [
        (
            is_emulated && condition.resumes() && lab.tickets == 0,
            "the site does not resume sessions",
        ),
        (
            is_emulated && condition == Condition::EarlyData && lab.early_data.is_none(),
            "the site has no early data: early-data=accept, accept-again, reject or retry",
        ),
        (
            is_emulated && condition.resumes() && lab.ech.is_some_and(EchPolicy::is_rejected),
            "a client has no session with a server that rejects Encrypted ClientHello",
        ),
    ];
    let mut reasons = reasons.into_iter();
    reasons.find_map(|(applies, reason)| applies.then(|| reason.to_owned()))
}

/// Returns whether a connection to the site can be expected to succeed.
pub(crate) fn is_sound(site: &Site) -> bool {
    site.lab.fault.is_none()
}

/// Returns the difference between the reports of client and server, if there is one.
pub(crate) fn disagreement(client: &Negotiated, server: &Negotiated) -> Option<String> {
    fn text(value: Option<impl ToString>) -> String {
        value.map_or_else(|| "nothing".to_owned(), |value| value.to_string())
    }
    let pairs = [
        ("version", text(client.version), text(server.version)),
        ("suite", text(client.suite), text(server.suite)),
        (
            "protocol",
            text(client.alpn.as_ref()),
            text(server.alpn.as_ref()),
        ),
        (
            "resumed",
            client.resumed.to_string(),
            server.resumed.to_string(),
        ),
    ];
    let group = match (client.group, server.group) {
        (Some(client), Some(server)) => Some(("group", client.to_string(), server.to_string())),
        _ => None,
    };
    pairs
        .into_iter()
        .chain(group)
        .find(|(_, client, server)| client != server)
        .map(|(what, client, server)| {
            format!("{what}: the client reports {client}, the server {server}")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(bytes_out: u64, bytes_in: u64) -> Measured {
        serde_json::from_value(serde_json::json!({
            "phases": {
                "connector_ns": 100_000, "dns_ns": 1_000, "tcp_ns": 20_000_000, "tls_ns": 21_000_000, "client_hello_ns": 200_000,
                "verify_ns": 150_000, "first_byte_ns": 20_000_000, "total_ns": 62_000_000, "cpu_ns": 2_000_000,
            },
            "client": {
                "version": "1.3", "suite": "TLS_AES_128_GCM_SHA256", "group": "x25519", "signature": null, "alpn": "h2",
                "resumed": false, "chain_bytes": [],
            },
            "server": null,
            "transfer": {
                "handshake_bytes_out": 500, "handshake_bytes_in": 1_100, "bytes_out": bytes_out, "bytes_in": bytes_in,
                "round_trips": 3, "tcp": null,
            },
            "http_status": 200, "body_bytes": 4_096,
            "process": { "connector_cpu_ns": 100_000, "minor_faults": 0 },
        }))
        .expect("a connection's figures")
    }

    #[test]
    fn what_a_client_counts_is_what_passed_the_link() {
        for ((syns, resent_up, bytes_up, bytes_down), field) in [
            ((1, 0, 2_409, 6_000), None),
            ((1, 0, 3_433, 7_024), None),
            ((1, 0, 3_434, 6_000), Some("transfer.bytes_out")),
            ((1, 0, 2_409, 7_025), Some("transfer.bytes_in")),
            ((1, 0, 2_408, 6_000), Some("transfer.bytes_out")),
            ((1, 0, 2_409, 5_999), Some("transfer.bytes_in")),
            // After a loss, as observed: 24 bytes of OpenSSL and 408 of Go remained in the kernel.
            ((1, 1, 2_385, 6_000), None),
            ((2, 0, 2_001, 6_000), None),
            ((1, 1, 500, 6_000), Some("transfer.bytes_out")),
            ((1, 1, 3_434, 6_000), Some("transfer.bytes_out")),
            ((1, 1, 2_409, 5_999), Some("transfer.bytes_in")),
        ] {
            let packets = LinkPackets {
                connections: 1,
                syns,
                resent_up,
                bytes_up,
                bytes_down,
                ..LinkPackets::default()
            };
            let found = impossible_bytes(&measured(2_409, 6_000), Some(&packets));
            let is_named = match (&found, field) {
                (Some(found), Some(field)) => found.starts_with(field),
                (None, None) => true,
                _ => false,
            };
            assert!(is_named, "{packets:?}: {found:?}");
        }
    }
}
