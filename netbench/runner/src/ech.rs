//! Encrypted ClientHello as a condition of emulated sites: the outcome that both sides must report, and the client that connects
//! again after a rejection.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_compat::{EmulatedEch, Zone};
use netbench_model::{EchPolicy, EchStatus, FailureWord, LinkPackets, Negotiated, Outcome, Site};
use netbench_protocol::{Configure, Connect, Ech, EchRejected, RequestBody, ResponseBody};

use crate::{
    Worker, WorkerError,
    proof::{Expected, wrong_work},
    requests::{GRACE, connect},
};

/// Returns the DNS zone of emulated sites with Encrypted ClientHello. The HTTPS record of a site has the configurations of its
/// clients; without any, the site has no record. Returns `None` without such sites.
pub fn zone(sites: &[Site]) -> Option<Zone> {
    let with = sites
        .iter()
        .filter_map(|site| Some((site, EmulatedEch::of(site.lab.ech?).offer)));
    let mut zone = None;
    for (site, offer) in with {
        let zone = zone.get_or_insert_with(Zone::default);
        if let Some(Ech::Configs(list)) = offer {
            let list = BASE64_STANDARD.decode(list).unwrap_or_default();
            zone.add(site.host.as_str(), site.port, &list);
        }
    }
    zone
}

/// Makes a client connect to a site that rejects its Encrypted ClientHello, and again as RFC 9849 section 6.1.6 has the application
/// do it: with the configurations that the library hands out, or without any. The time of the rejected connection is part of the
/// total of the second one.
///
/// The worker then has the settings with which it was started.
pub(crate) fn connect_twice(
    worker: &mut Worker,
    (settings, request): (Configure, Connect),
    (policy, expected): (EchPolicy, &Expected<'_>),
    packets: impl FnOnce() -> Option<LinkPackets>,
) -> Result<Outcome, WorkerError> {
    let limit = Duration::from_millis(request.timeout_ms) + GRACE;
    let rejected = match worker.ask(RequestBody::Connect(Box::new(request.clone())), limit)? {
        ResponseBody::EchRejected(rejected) => rejected,
        ResponseBody::Connected(_) => {
            return Ok(wrong(
                "the client connects to a server that cannot decrypt its hello",
            ));
        }
        ResponseBody::Failed(failure) => return Ok(Outcome::Failed(failure)),
        ResponseBody::Unsupported { reason } => return Ok(Outcome::Unsupported { reason }),
        other => return Err(WorkerError::another_kind(&other)),
    };
    let (second, rejected_ns) = match retry(policy, &rejected) {
        Ok(retry) => retry,
        Err(outcome) => return Ok(*outcome),
    };
    worker.configure(Configure {
        ech: second,
        ..settings.clone()
    })?;
    // The packets are those of the first connection.
    let mut outcome = connect(worker, request, expected, |_| None)?;
    worker.configure(settings)?;
    let Outcome::Ok(measured) = &mut outcome else {
        return Ok(outcome);
    };
    let connections = packets().map(|packets| packets.connections);
    if let Some(other) = connections.filter(|made| *made != 2) {
        let detail = format!("the client made {other} connections, where 2 were due");
        return Ok(wrong(detail));
    }
    measured.phases.rejected_ns = Some(rejected_ns);
    measured.phases.total_ns += rejected_ns;
    Ok(outcome)
}

/// Returns the Encrypted ClientHello of the second connection, and the time of the first one.
fn retry(policy: EchPolicy, rejected: &EchRejected) -> Result<(Option<Ech>, u64), Box<Outcome>> {
    let sent = EmulatedEch::of(policy).retry_configs;
    let second = match (&rejected.retry_configs, sent) {
        (Some(list), Some(sent)) if *list == sent => Some(Ech::Configs(sent)),
        (None, None) => None,
        (None, Some(_)) => {
            let reason = "the library does not hand out the configurations that the server sends, with which the client has \
                          to connect again";
            return Err(Box::new(Outcome::Unsupported {
                reason: reason.to_owned(),
            }));
        }
        (Some(_), _) => {
            let detail = "the client reports configurations that the server did not send";
            return Err(Box::new(wrong(detail)));
        }
    };
    match rejected.failure.after_ns {
        Some(after_ns) if after_ns > 0 => Ok((second, after_ns)),
        _ => {
            let detail = "the client does not report the time of the rejection";
            Err(Box::new(wrong(detail)))
        }
    }
}

fn wrong(detail: impl Into<String>) -> Outcome {
    Outcome::Failed(wrong_work(FailureWord::Ech, detail.into()))
}

/// Returns the difference between the outcome that a site requires and that which both sides report of the finished connection, if
/// there is one.
pub(crate) fn wrong_outcome(
    policy: Option<EchPolicy>,
    client: &Negotiated,
    server: &Negotiated,
) -> Option<String> {
    let due = match policy {
        Some(EchPolicy::Accepted | EchPolicy::RejectedRetry) => Some(EchStatus::Accepted),
        Some(EchPolicy::Grease) => Some(EchStatus::Grease),
        Some(EchPolicy::RejectedNoKeys | EchPolicy::OuterOnly) | None => None,
    };
    // Some libraries do not report that they sent GREASE.
    let is_unreported = due == Some(EchStatus::Grease) && client.ech.is_none();
    let mut sides = [("client", client.ech), ("server", server.ech)].into_iter();
    let (side, found) =
        sides.find(|(side, found)| *found != due && !(*side == "client" && is_unreported))?;
    Some(format!(
        "the {side} reports {}, where {} was due",
        found.map_or("none", EchStatus::name),
        due.map_or("none", EchStatus::name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reporting(ech: Option<EchStatus>) -> Negotiated {
        Negotiated {
            ech,
            ..Negotiated::default()
        }
    }

    #[test]
    fn both_sides_have_to_report_the_outcome() {
        let (accepted, grease) = (Some(EchStatus::Accepted), Some(EchStatus::Grease));
        let cases = [
            (EchPolicy::Accepted, accepted, accepted, None),
            (EchPolicy::Accepted, None, accepted, Some("client")),
            (EchPolicy::Accepted, accepted, None, Some("server")),
            (EchPolicy::RejectedRetry, accepted, grease, Some("server")),
            (EchPolicy::RejectedNoKeys, None, None, None),
            (EchPolicy::RejectedNoKeys, None, grease, Some("server")),
            (EchPolicy::Grease, None, grease, None),
            (EchPolicy::Grease, grease, grease, None),
            (EchPolicy::Grease, accepted, grease, Some("client")),
            (EchPolicy::Grease, grease, None, Some("server")),
            (EchPolicy::OuterOnly, None, None, None),
            (EchPolicy::OuterOnly, grease, grease, Some("client")),
        ];
        for (policy, client, server, wrong) in cases {
            let found = wrong_outcome(Some(policy), &reporting(client), &reporting(server));
            let side = found.as_deref().map(|found| &found[4..10]);
            assert_eq!(side, wrong, "{policy}: {found:?}");
        }
    }

    #[test]
    fn a_client_connects_again_with_the_configurations_of_the_server_alone() {
        let rejection = |retry_configs: Option<&str>, after_ns: Option<u64>| EchRejected {
            failure: netbench_model::Failure {
                after_ns,
                ..wrong_work(FailureWord::Ech, String::new())
            },
            retry_configs: retry_configs.map(str::to_owned),
        };
        let sent = EmulatedEch::of(EchPolicy::RejectedRetry)
            .retry_configs
            .unwrap();
        let policy = EchPolicy::RejectedRetry;
        let second = retry(policy, &rejection(Some(&sent), Some(7))).unwrap();
        assert_eq!(second, (Some(Ech::Configs(sent.clone())), 7));
        let cannot = retry(policy, &rejection(None, Some(7))).unwrap_err();
        assert!(matches!(*cannot, Outcome::Unsupported { .. }), "{cannot:?}");
        let others = [
            (policy, rejection(Some("AAA="), Some(7))),
            (policy, rejection(Some(&sent), None)),
            (EchPolicy::RejectedNoKeys, rejection(Some(&sent), Some(7))),
        ];
        for (policy, rejection) in others {
            let wrong = retry(policy, &rejection).unwrap_err();
            assert!(matches!(*wrong, Outcome::Failed(_)), "{wrong:?}");
        }
        let second = retry(EchPolicy::RejectedNoKeys, &rejection(None, Some(7))).unwrap();
        assert_eq!(second, (None, 7));
    }
}
