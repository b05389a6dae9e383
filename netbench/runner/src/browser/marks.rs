//! The times of a browser that does not mark every part of its connection exactly.

use netbench_browser::Product;
use netbench_model::browser::{Departures, Mark, OnTheLink, Visit, VisitOutcome};

/// The tolerance of both ends of the connection's time together, in nanoseconds: marks are whole milliseconds.
const ROUNDED_NS: u64 = 2_000_000;

/// Takes the times that the browser does not report from the packets. A visit for which they do not agree with the
/// rest of its marks has no times.
pub(super) fn completed(
    mut outcome: VisitOutcome,
    product: Product,
    link: Option<&OnTheLink>,
) -> VisitOutcome {
    let VisitOutcome::Ok(visit) = &mut outcome else {
        return outcome;
    };
    let unmarked = product.unmarked();
    let completed = if unmarked.contains(&Mark::Protected) {
        response(visit, link)
    } else if unmarked.contains(&Mark::Connected) {
        connected(visit, link)
    } else {
        Ok(())
    };
    if unmarked.contains(&Mark::End) {
        end(visit, link);
    }
    match completed {
        Ok(()) => outcome,
        Err(reason) => VisitOutcome::Unsupported {
            reason: reason.to_owned(),
        },
    }
}

/// Sets the times up to the request to those of the packets, by which the link finds the response. The other times then
/// count from the connection's first SYN. The handshake ends with the request in versions before TLS 1.3.
pub(super) fn begun(visit: &mut Visit, link: &OnTheLink, opened_ns: Option<u64>) {
    if let Some((begun_ns, opened_ns)) = visit.begun_ns.take().zip(opened_ns) {
        count_from(visit, opened_ns.saturating_sub(begun_ns));
    }
    if let (Some(tcp_ns), Some(protected_ns)) = (link.tcp_ns, link.protected_ns) {
        visit.times.tcp_ns = tcp_ns;
        visit.times.tls_ns = protected_ns;
        visit
            .from_packets
            .extend([Mark::Connected, Mark::Protected]);
    }
}

/// Counts the times of a visit from a later beginning, if the page ended after it.
fn count_from(visit: &mut Visit, later_ns: u64) {
    let times = &mut visit.times;
    if let Some(total_ns) = times.total_ns.and_then(|it| it.checked_sub(later_ns)) {
        times.total_ns = Some(total_ns);
        times.dns_ns = later_ns;
        if let Some(objects) = &mut visit.objects {
            objects.last_object_ns = objects.last_object_ns.saturating_sub(later_ns);
            objects.load_ns = objects.load_ns.saturating_sub(later_ns);
        }
    }
}

/// Takes the response's first byte from the packets, if they show it: with several objects, they do not.
fn response(visit: &mut Visit, link: Option<&OnTheLink>) -> Result<(), &'static str> {
    let link = link
        .filter(|_| visit.from_packets.contains(&Mark::Protected))
        .ok_or("it reports no times of a connection, and the link did not see its packets")?;
    let request_ns = visit.times.request_ns();
    visit.times.first_byte_ns =
        (link.first_byte_ns).and_then(|at_ns| at_ns.checked_sub(request_ns));
    if visit.times.first_byte_ns.is_some() {
        visit.from_packets.push(Mark::FirstByte);
    }
    if let Some(objects) = &mut visit.objects {
        // The first request of each connection, the page's or an object's, did not find one.
        let requests = objects.loaded.saturating_add(1);
        objects.reused = requests.saturating_sub(link.connections);
    }
    Ok(())
}

/// Takes the end of TCP connect from the packets.
fn connected(visit: &mut Visit, link: Option<&OnTheLink>) -> Result<(), &'static str> {
    let seen = link.and_then(|link| Some((link.tcp_ns?, Departures::of(visit, link)?)));
    let (tcp_ns, found) =
        seen.ok_or("its marks are not exact, and the link does not look at packets")?;
    if found
        .both_ns()
        .is_none_or(|ns| ns.unsigned_abs() > ROUNDED_NS)
    {
        return Err("its marks of the connection are not those of the packets");
    }
    let times = &mut visit.times;
    let both_ns = times.tcp_ns + times.tls_ns;
    times.tcp_ns = tcp_ns.min(both_ns);
    times.tls_ns = both_ns - times.tcp_ns;
    visit.from_packets.push(Mark::Connected);
    Ok(())
}

/// Takes the response's last byte from the packets. It stays unknown if the link did not see it.
fn end(visit: &mut Visit, link: Option<&OnTheLink>) {
    visit.times.total_ns = link.and_then(|link| link.end_ns);
    if visit.times.total_ns.is_some() {
        visit.from_packets.push(Mark::End);
    }
}

#[cfg(test)]
mod tests {
    use netbench_browser::ServoTls;
    use netbench_model::{Negotiated, TlsVersion, browser::VisitTimes};

    use super::*;

    fn visit(tcp_ms: u64, tls_ms: u64) -> VisitOutcome {
        VisitOutcome::Ok(Box::new(Visit {
            times: VisitTimes {
                dns_ns: 0,
                tcp_ns: tcp_ms * 1_000_000,
                tls_ns: tls_ms * 1_000_000,
                wait_ns: 0,
                first_byte_ns: Some(20_000_000),
                total_ns: Some(90_000_000),
            },
            from_packets: Vec::new(),
            client: Negotiated {
                version: Some(TlsVersion::Tls13),
                ..Negotiated::default()
            },
            server: None,
            http_status: 200,
            body_bytes: 1,
            objects: None,
            scheduled: None,
            begun_ns: None,
        }))
    }

    static SEEN: OnTheLink = OnTheLink {
        connections: 1,
        tcp_ns: Some(20_300_000),
        protected_ns: Some(24_000_000),
        first_byte_ns: Some(64_000_000),
        end_ns: Some(110_000_000),
        names: Vec::new(),
        elsewhere: Vec::new(),
    };

    #[test]
    fn only_visits_whose_marks_are_those_of_the_packets_have_times() {
        let unseen = OnTheLink::default();
        for (outcome, link, due) in [
            // The mark between TCP and TLS is late, and the marks before and after it are correct.
            (visit(40, 4), Some(&SEEN), Some((20_300_000, 23_700_000))),
            (visit(43, 0), Some(&SEEN), Some((20_300_000, 22_700_000))),
            (visit(0, 5), Some(&SEEN), None),
            (visit(20, 27), Some(&SEEN), None),
            (visit(40, 4), None, None),
            (visit(40, 4), Some(&unseen), None),
        ] {
            let outcome = completed(outcome, Product::WebKitGtk, link);
            let times = outcome.ok().map(|visit| {
                assert_eq!(visit.from_packets, [Mark::Connected]);
                (visit.times.tcp_ns, visit.times.tls_ns)
            });
            assert_eq!(times, due);
        }
    }

    #[test]
    fn times_that_servo_does_not_report_are_those_of_the_packets() {
        let servo = Product::Servo(ServoTls::AwsLc);
        let VisitOutcome::Ok(mut page) = visit(0, 0) else {
            panic!("a visit");
        };
        page.times.first_byte_ns = None;
        let without = OnTheLink {
            first_byte_ns: None,
            ..SEEN.clone()
        };
        let outcomes = [&SEEN, &without, &OnTheLink::default()].map(|link| {
            let mut page = page.clone();
            begun(&mut page, link, None);
            completed(VisitOutcome::Ok(page), servo, Some(link))
        });
        let found = outcomes[0].ok().expect("a visit");
        let times = &found.times;
        assert_eq!((times.tcp_ns, times.tls_ns), (20_300_000, 24_000_000));
        assert_eq!(times.first_byte_ns, Some(64_000_000 - 44_300_000));
        assert_eq!(times.total_ns, Some(90_000_000));
        let marks = [Mark::Connected, Mark::Protected, Mark::FirstByte];
        assert_eq!(found.from_packets, marks);
        let found = outcomes[1].ok().expect("a visit");
        assert_eq!(
            (found.times.first_byte_ns, found.from_packets.len()),
            (None, 2)
        );
        assert!(outcomes[2].ok().is_none());
    }

    #[test]
    fn an_end_that_the_browser_does_not_tell_is_the_packets() {
        let (firefox, chromium) = (Product::Firefox, Product::Chromium);
        for (product, link, total_ns, marks) in [
            (firefox, Some(&SEEN), Some(110_000_000), &[Mark::End][..]),
            (firefox, None, None, &[]),
            (chromium, Some(&SEEN), Some(90_000_000), &[]),
        ] {
            let outcome = completed(visit(20, 24), product, link);
            let visit = outcome.ok().expect("a visit");
            assert_eq!(visit.times.total_ns, total_ns);
            assert_eq!(visit.from_packets, marks);
        }
    }
}
