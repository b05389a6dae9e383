//! Verification that the performed work is the one that the scenario requires.

use std::fmt::Display;

use netbench_model::{
    ClientAuth, Failure, FailureWord, HandshakeKind, Held, HeldAfter, ParallelWork, Scenario, Work,
};
use netbench_protocol::{Prepared, Slice, SliceLimit, Sliced};

use crate::proof::wrong_work;

fn shown(value: Option<impl Display>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// Returns the kind of a scenario's handshakes, if it has any.
fn kind(scenario: &Scenario) -> Option<HandshakeKind> {
    match scenario.work {
        Work::Handshake { kind, .. } => Some(kind),
        Work::Threads {
            work: ParallelWork::Handshake(kind),
            ..
        } => Some(kind),
        Work::Bulk { .. } | Work::Memory { .. } | Work::Threads { .. } => Some(HandshakeKind::Full),
        Work::Verify { .. }
        | Work::ParallelVerify { .. }
        | Work::Connector { .. }
        | Work::Crypto { .. } => None,
    }
}

/// Verifies the negotiated parameters of the first handshake, on both sides.
///
/// # Errors
/// Returns the difference from the scenario's requirements.
pub fn prove_prepared(scenario: &Scenario, prepared: &Prepared) -> Result<(), Failure> {
    let (Some(settings), Some(kind)) = (scenario.settings(), kind(scenario)) else {
        return Ok(());
    };
    let sides = [("client", &prepared.client), ("server", &prepared.server)];
    for (side, negotiated) in sides {
        let Some(found) = negotiated else {
            return Err(wrong_work(
                FailureWord::Agreement,
                format!("the {side} does not report the negotiated parameters"),
            ));
        };
        if found.version != Some(settings.version) {
            let (found, wanted) = (shown(found.version), settings.version);
            return Err(differs(side, FailureWord::Version, &found, &wanted));
        }
        if found.suite != Some(settings.suite()) {
            let (found, wanted) = (shown(found.suite), settings.suite());
            return Err(differs(side, FailureWord::Suite, &found, &wanted));
        }
        if let Some(found) = found.group
            && found != settings.group
        {
            return Err(differs(side, FailureWord::Group, &found, &settings.group));
        }
        let resumed = kind != HandshakeKind::Full;
        if found.resumed != resumed {
            let words = [found.resumed, resumed].map(|it| if it { "resumed" } else { "full" });
            return Err(differs(side, FailureWord::Handshake, &words[0], &words[1]));
        }
    }
    if kind == HandshakeKind::Full {
        prove_chains(prepared, settings.chain_length, settings.client_auth)?;
    }
    Ok(())
}

fn differs(side: &str, what: FailureWord, found: &dyn Display, wanted: &dyn Display) -> Failure {
    let detail = format!("{side}: {what} {found}, where {wanted} was asked for");
    wrong_work(what, detail)
}

fn prove_chains(prepared: &Prepared, length: u8, auth: ClientAuth) -> Result<(), Failure> {
    let [servers, clients] = [&prepared.client, &prepared.server]
        .map(|side| side.as_ref().map_or(0, |n| n.chain_bytes.len()));
    if servers != usize::from(length) {
        let detail =
            format!("the server sent {servers} certificates, where {length} were asked for");
        return Err(wrong_work(FailureWord::Chain, detail));
    }
    if (clients > 0) != (auth == ClientAuth::On) {
        let detail =
            format!("the client sent {clients} certificates with client authentication {auth}");
        return Err(wrong_work(FailureWord::ClientAuthentication, detail));
    }
    Ok(())
}

/// Verifies that every handshake of a turn was of the required kind, by the counts of both sides, and that the
/// number of operations is the requested one.
///
/// # Errors
/// Returns the difference from the scenario's requirements.
pub fn prove_slice(scenario: &Scenario, asked: &Slice, sliced: &Sliced) -> Result<(), Failure> {
    let wanted = match kind(scenario) {
        Some(HandshakeKind::Full) | None => 0,
        Some(HandshakeKind::SessionId | HandshakeKind::Ticket) => sliced.handshakes,
    };
    if (sliced.client_resumed, sliced.server_resumed) != (wanted, wanted) {
        let detail = format!(
            "of {} handshakes, {} resumed as the clients saw it and {} as the servers did, where {wanted} \
             should have",
            sliced.handshakes, sliced.client_resumed, sliced.server_resumed
        );
        return Err(wrong_work(FailureWord::Resumption, detail));
    }
    let threads = scenario.threads().is_some();
    if let SliceLimit::Operations(wanted) = asked.limit
        && !threads
        && wanted != sliced.operations
    {
        let detail = format!(
            "{} operations were done, where {wanted} were asked for",
            sliced.operations
        );
        return Err(wrong_work(FailureWord::Timings, detail));
    }
    // A worker may nevertheless time each operation separately.
    if sliced.batch != 1 && sliced.batch != asked.batch {
        let detail = format!(
            "batches of {} operations were timed, where {} were asked for",
            sliced.batch, asked.batch
        );
        return Err(wrong_work(FailureWord::Timings, detail));
    }
    let measures = scenario.measures();
    let whole = measures.iter().all(|measure| {
        let timings = sliced.timings_ns.get(measure).map_or(0, Vec::len);
        timings == sliced.operations as usize || threads
    });
    // A worker may time its threads only together, but not a part of their operations.
    let latencies = scenario.latencies().iter().map(|measure| {
        let timings = sliced.timings_ns.get(measure);
        timings.map_or(0, Vec::len)
    });
    let latencies: Vec<usize> = latencies.collect();
    let timed = latencies.iter().all(|timings| *timings == 0)
        || latencies
            .iter()
            .all(|timings| *timings == sliced.operations as usize);
    if sliced.operations == 0 || !whole || !timed {
        return Err(wrong_work(
            FailureWord::Timings,
            "there is not one timing for each operation".to_owned(),
        ));
    }
    Ok(())
}

/// Proves that as many sessions were held as were asked for, which are made in pairs, and in the state that the scenario asks for.
///
/// # Errors
/// What differs.
pub fn prove_held(scenario: &Scenario, sessions: u32, held: &Held) -> Result<(), Failure> {
    let wanted = sessions / 2 * 2;
    let found = held.sessions;
    if found != wanted {
        return Err(wrong_work(
            FailureWord::Sessions,
            format!("{found} sessions were held, where {wanted} were asked for"),
        ));
    }
    let Work::Memory {
        settings, after, ..
    } = &scenario.work
    else {
        return Ok(());
    };
    if (held.ticket_bytes > 0) != (after.has_tickets(settings.version) && wanted > 0) {
        let bytes = held.ticket_bytes;
        let detail =
            format!("clients received {bytes} bytes of tickets in sessions held after {after}");
        return Err(wrong_work(FailureWord::Bytes, detail));
    }
    let due_bytes = match after {
        HeldAfter::Handshake | HeldAfter::Tickets => 0,
        HeldAfter::Data | HeldAfter::Idle => u64::from(wanted / 2) * HeldAfter::DATA_BYTES as u64,
    };
    for (side, bytes) in [
        ("clients", held.client_data_bytes),
        ("servers", held.server_data_bytes),
    ] {
        if bytes != due_bytes {
            let detail =
                format!("{side} received {bytes} bytes of data, where {due_bytes} were due");
            return Err(wrong_work(FailureWord::Bytes, detail));
        }
    }
    Ok(())
}
