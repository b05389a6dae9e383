use std::collections::BTreeMap;

use netbench_model::{
    Condition, FailureClass, FailureReason, FailureWord, Group, Measured, Phase, TlsVersion,
};
use netbench_protocol::ResponseBody;

use crate::cases::{Agreed, Case, HYBRID_REFUSED, NOT_STAPLED, Outcome, RETRIED, STAPLED, host};

/// The origin of a connection's connector: made for this connection, or kept from the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connector {
    Made,
    Kept,
}

/// Compares an answer with the expected outcome of its case. `sent` is the size of each certificate in the server's
/// chain, in bytes.
pub(crate) fn judge(case: &Case, sent: &[u32], answer: &ResponseBody) -> Result<(), String> {
    match (&case.outcome, answer) {
        (Outcome::Success, ResponseBody::Connected(measured)) => {
            let connector = match case.condition {
                Condition::Resumed | Condition::EarlyData => Connector::Kept,
                Condition::Clean | Condition::Cold => Connector::Made,
            };
            let mut wrong = Differences::new(&case.due, connector, measured);
            wrong.as_served(case, sent, measured);
            wrong.none()?;
            same_on_both_sides(measured)
        }
        (Outcome::Success, other) => Err(format!("{:?} was due, not {other:?}", case.due)),
        (Outcome::Failure(class, reason), ResponseBody::Failed(failure)) => {
            let clean = failure.reason.is_of(failure.class)
                && failure.reason != FailureWord::Unexplained.into()
                && !failure.detail.contains(char::is_control);
            let fits = failure.class == *class
                && reason.as_ref().is_none_or(|due| *due == failure.reason)
                && failure.phase == Some(phase_of(*class, &failure.reason))
                && failure.after_ns >= Some(least_ns(*class, case.timeout_ms));
            if fits && clean {
                Ok(())
            } else {
                Err(format!("{class} for {reason:?} was due, not {failure:?}"))
            }
        }
        (Outcome::Unsupported, ResponseBody::Unsupported { reason }) if !reason.is_empty() => {
            Ok(())
        }
        (outcome, other) => Err(format!("{outcome:?} was due, not {other:?}")),
    }
}

/// Returns the phase in which the table's connections have this failure.
fn phase_of(class: FailureClass, reason: &FailureReason) -> Phase {
    match class {
        FailureClass::Connect => Phase::Tcp,
        FailureClass::Setup => Phase::Connector,
        FailureClass::Http => Phase::FirstByte,
        FailureClass::Timeout if *reason == FailureReason::In(Phase::Total) => Phase::Total,
        _ => Phase::Tls,
    }
}

/// Returns the minimum duration of a connection with this failure.
fn least_ns(class: FailureClass, timeout_ms: u64) -> u64 {
    if class == FailureClass::Timeout {
        timeout_ms * 1_000_000
    } else {
        1
    }
}

/// Judges as [`judge`] does, for a server that is not a worker: it reports no view, and its body has any length.
pub(crate) fn judge_foreign(
    agreed: &Agreed,
    connector: Connector,
    answer: &ResponseBody,
) -> Result<(), String> {
    match answer {
        ResponseBody::Connected(measured) if measured.server.is_some() => {
            Err("a server that is no worker has a view".to_owned())
        }
        ResponseBody::Connected(measured) => Differences::new(agreed, connector, measured).none(),
        other => Err(format!("{agreed:?} was due, not {other:?}")),
    }
}

/// The differences of a connection from its case.
struct Differences(Vec<String>);

impl Differences {
    /// Compares the parameters, and checks that a handshake and a response took place, with consistent figures.
    fn new(agreed: &Agreed, connector: Connector, measured: &Measured) -> Self {
        let mut found = Self(Vec::new());
        found.parameters(agreed, measured);
        found.work(agreed, connector, measured);
        found
    }

    fn none(self) -> Result<(), String> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.0.join("; "))
        }
    }

    fn compare(&mut self, what: &str, due: impl ToString, seen: impl ToString) {
        let (due, seen) = (due.to_string(), seen.to_string());
        if due != seen {
            self.0.push(format!("{what} was to be {due}, not {seen}"));
        }
    }

    fn parameters(&mut self, agreed: &Agreed, measured: &Measured) {
        let client = &measured.client;
        self.compare("version", agreed.version, shown(client.version));
        self.compare("resumption", agreed.resumed, client.resumed);
        let alpn = agreed.alpn.map(|alpn| alpn.name());
        let seen = client.alpn.as_deref();
        self.compare("protocol", format!("{alpn:?}"), format!("{seen:?}"));
        if let Some(suite) = agreed.suite {
            self.compare("suite", suite, shown(client.suite));
        }
        if let Some(group) = agreed.group {
            self.compare("group", group, shown(client.group));
        }
        let signs = match agreed.signatures {
            [] if agreed.resumed => client.signature.is_none(),
            [] => true,
            due => client.signature.is_some_and(|scheme| due.contains(&scheme)),
        };
        if !signs {
            let due = format!("one of {:?}", agreed.signatures);
            self.compare("signature", due, shown(client.signature));
        }
    }

    fn work(&mut self, agreed: &Agreed, connector: Connector, measured: &Measured) {
        let full = !agreed.resumed;
        let (phases, transfer) = (&measured.phases, &measured.transfer);
        let parts_ns = phases.dns_ns + phases.tcp_ns + phases.tls_ns + phases.first_byte_ns;
        let chain_bytes = measured.client.chain_bytes.iter().sum::<u32>();
        for (what, holds) in [
            ("status 200", measured.http_status == 200),
            (
                "connector timed",
                phases.connector_ns.is_some() == (connector == Connector::Made),
            ),
            ("chain seen", measured.client.chain_bytes.is_empty() != full),
            ("verification timed", phases.verify_ns.is_some() == full),
            (
                "verification within the handshake",
                phases.verify_ns.unwrap_or(0) < phases.tls_ns,
            ),
            ("phases timed", phases.tcp_ns > 0 && phases.tls_ns > 0),
            ("phases within the total", parts_ns <= phases.total_ns),
            (
                "ClientHello within the handshake",
                (1..=phases.tls_ns).contains(&phases.client_hello_ns),
            ),
            (
                "bytes of the handshake counted",
                transfer.handshake_bytes_in > 100
                    && transfer.handshake_bytes_out > 100
                    && transfer.bytes_in > transfer.handshake_bytes_in
                    && transfer.bytes_out > transfer.handshake_bytes_out,
            ),
            (
                "chain within the bytes",
                u64::from(chain_bytes) < transfer.handshake_bytes_in,
            ),
            (
                "body within the bytes",
                transfer.bytes_in >= transfer.handshake_bytes_in + measured.body_bytes,
            ),
        ] {
            self.compare(what, true, holds);
        }
    }

    /// Compares the received data with those of the lab's site.
    fn as_served(&mut self, case: &Case, sent: &[u32], measured: &Measured) {
        let sent = if measured.client.resumed { &[] } else { sent };
        self.compare("body", case.site.body_bytes, measured.body_bytes);
        let seen = &measured.client.chain_bytes;
        self.compare("chain", format!("{sent:?}"), format!("{seen:?}"));
    }
}

fn shown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn same_on_both_sides(measured: &Measured) -> Result<(), String> {
    match &measured.server {
        Some(view) if view.negotiated.same_work(&measured.client) && view.compute_ns > 0 => Ok(()),
        other => Err(format!(
            "the server saw {other:?}, the client {:?}",
            measured.client
        )),
    }
}

/// Compares cases with each other.
pub(crate) fn relations(measured: &BTreeMap<String, Measured>) -> Result<(), String> {
    // A missing case has already failed, or is not for this stack.
    for version in TlsVersion::OFFERED {
        let both = [STAPLED, NOT_STAPLED].map(|case| {
            let measured = measured.get(&host(&format!("{version}-{case}")));
            measured.map(|measured| measured.transfer.handshake_bytes_in)
        });
        if let [Some(with), Some(without)] = both {
            // The minimum size of an OCSP response with a P-256 signature is about 300 bytes.
            if with < without + 150 {
                return Err(format!(
                    "{version}: no OCSP response was asked for and stapled: {with} bytes, {without} without"
                ));
            }
        }
    }
    let trips = [HYBRID_REFUSED, RETRIED].map(|case| {
        let measured = measured.get(&host(case));
        measured.map(|measured| measured.transfer.round_trips)
    });
    match trips {
        [Some(direct), Some(retried)] if direct >= retried => Err(format!(
            "a server without {} took {direct} round trips, one that asks for another key share {retried}",
            Group::X25519MLKEM768
        )),
        _ => Ok(()),
    }
}
