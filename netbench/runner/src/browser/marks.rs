//! The times of a browser whose own marks of its connection are not exact.

use netbench_model::browser::{Departures, OnTheLink, VisitOutcome};

/// What both ends of the connection's time may be rounded by together: marks are whole milliseconds.
const ROUNDED_NS: u64 = 2_000_000;

/// Takes where TCP connect ends from the packets. A visit whose marks leave out part of its connection, or have more than
/// that, has no times.
pub(super) fn held_against_packets(
    mut outcome: VisitOutcome,
    link: Option<&OnTheLink>,
) -> VisitOutcome {
    let VisitOutcome::Ok(visit) = &mut outcome else {
        return outcome;
    };
    let seen = link.and_then(|link| Some((link.tcp_ns?, Departures::of(visit, link)?)));
    let reason = match seen {
        None => "its marks are not exact, and the link does not look at packets",
        Some((_, found)) if found.both_ns().unsigned_abs() > ROUNDED_NS => {
            "its marks of the connection are not those of the packets"
        }
        Some((tcp_ns, _)) => {
            let times = &mut visit.times;
            let both_ns = times.tcp_ns + times.tls_ns;
            times.tcp_ns = tcp_ns.min(both_ns);
            times.tls_ns = both_ns - times.tcp_ns;
            return outcome;
        }
    };
    VisitOutcome::Unsupported {
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use netbench_model::{
        Negotiated, TlsVersion,
        browser::{Visit, VisitTimes},
    };

    use super::*;

    #[test]
    fn only_visits_whose_marks_are_those_of_the_packets_have_times() {
        let visit = |tcp_ms: u64, tls_ms: u64| {
            VisitOutcome::Ok(Box::new(Visit {
                times: VisitTimes {
                    dns_ns: 0,
                    tcp_ns: tcp_ms * 1_000_000,
                    tls_ns: tls_ms * 1_000_000,
                    wait_ns: 0,
                    first_byte_ns: 1,
                    total_ns: 90_000_000,
                },
                client: Negotiated {
                    version: Some(TlsVersion::Tls13),
                    ..Negotiated::default()
                },
                server: None,
                http_status: 200,
                body_bytes: 1,
                objects: None,
            }))
        };
        let link = OnTheLink {
            tcp_ns: Some(20_300_000),
            protected_ns: Some(24_000_000),
            ..OnTheLink::default()
        };
        let times = |outcome: VisitOutcome, link| {
            let held = held_against_packets(outcome, link);
            held.ok()
                .map(|visit| (visit.times.tcp_ns, visit.times.tls_ns))
        };
        // The mark between the two is late, and what is before and after it is right.
        let split = Some((20_300_000, 23_700_000));
        assert_eq!(times(visit(40, 4), Some(&link)), split);
        assert_eq!(
            times(visit(43, 0), Some(&link)),
            Some((20_300_000, 22_700_000))
        );
        assert_eq!(times(visit(0, 5), Some(&link)), None);
        assert_eq!(times(visit(20, 27), Some(&link)), None);
        assert_eq!(times(visit(40, 4), None), None);
        let unseen = OnTheLink::default();
        assert_eq!(times(visit(40, 4), Some(&unseen)), None);
    }
}
