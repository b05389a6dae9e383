//! The link's observations of a visit.

use netbench_link::{Elsewhere, Observed, ObservedConnection, Request};
use netbench_model::{
    TlsVersion,
    browser::{Attempt, BrowserPlan, OnTheLink, Visit},
};

/// The connection to a site that represents a visit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measured {
    /// The connection with the most bytes: a browser may open several.
    MostBytes,
    /// The last connection: a stack may get its session over the preceding one.
    Last,
}

/// Returns the connection of the page: the one with the most bytes, or, for a page of objects, the first one.
pub(super) fn page_connection<'a>(
    seen: &'a Observed,
    plan: &BrowserPlan,
    site: usize,
    measured: Measured,
) -> Option<&'a ObservedConnection> {
    let mut connections = seen.connections.iter().filter(|seen| seen.site == site);
    match plan.page {
        None if measured == Measured::Last => connections.max_by_key(|it| it.opened_ns),
        None => connections.max_by_key(|it| it.bytes_down),
        Some(_) => connections.find(|connection| connection.protected_ns.is_some()),
    }
}

/// Returns the link's view of a visit.
pub(super) fn on_the_link(
    seen: &Observed,
    plan: &BrowserPlan,
    site: usize,
    measured: Measured,
    visit: Option<&Visit>,
) -> OnTheLink {
    let page = page_connection(seen, plan, site, measured);
    let mut of_page: Vec<usize> = plan.other_origins(site).collect();
    of_page.push(site);
    let connections = seen.connections.iter();
    let connections = connections.filter(|seen| of_page.contains(&seen.site));
    let accepted_ns = page.and_then(|page| page.accepted_ns);
    let page_opened_ns = page.map(|page| page.opened_ns);
    // If objects come over the page's connection, its own response cannot be distinguished from theirs.
    let response = page
        .filter(|_| plan.page.is_none())
        .zip(visit)
        .and_then(|(page, visit)| page.exchange.response(&request(visit, page.opened_ns)));
    OnTheLink {
        connections: u32::try_from(connections.count()).unwrap_or(u32::MAX),
        tcp_ns: since(page.map(|page| page.opened_ns), accepted_ns),
        protected_ns: since(accepted_ns, page.and_then(|page| page.protected_ns)),
        first_byte_ns: response.and_then(|it| since(page_opened_ns, Some(it.first_byte_ns))),
        end_ns: response.and_then(|it| since(page_opened_ns, Some(it.end_ns))),
        names: seen.names.iter().cloned().collect(),
        elsewhere: seen
            .elsewhere
            .iter()
            .map(|(to, packets)| Attempt {
                to: elsewhere(to),
                packets: *packets,
            })
            .collect(),
    }
}

fn since(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    to?.checked_sub(from?)
}

/// Returns the request of a visit whose connection began at `opened_ns`.
fn request(visit: &Visit, opened_ns: u64) -> Request {
    // RFC 9113 section 4.1: frames have headers of 9 bytes, and at most 16 KiB of data unless the client allows more.
    let frames_bytes = match visit.client.alpn.as_deref() {
        Some("h2") => 9 * visit.body_bytes.div_ceil(16_384),
        _ => 0,
    };
    Request {
        sent_ns: opened_ns + visit.times.request_ns(),
        body_bytes: visit.body_bytes + frames_bytes,
        // RFC 8446 section 5.2: a tag of 16 bytes and the content type; RFC 5288 section 3: a nonce of 8 bytes and the tag.
        record_overhead_bytes: match visit.client.version {
            Some(TlsVersion::Tls13) => 17,
            _ => 24,
        },
    }
}

fn elsewhere(to: &Elsewhere) -> String {
    let protocol = match to.protocol {
        1 => "icmp".to_owned(),
        2 => "igmp".to_owned(),
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        number => format!("protocol {number}"),
    };
    match to.port {
        Some(port) => format!("{protocol} {}:{port}", to.address),
        None => format!("{protocol} {}", to.address),
    }
}
