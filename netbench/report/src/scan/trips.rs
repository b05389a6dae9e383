//! How often packets go to each site and back before its response comes, by stack.

use itertools::Itertools;
use netbench_interop::LossReport;
use netbench_model::scan::{Agreement, Confirmation, Confirmed, HandshakeResult, RoundTrips};

use crate::{
    cell::{Cell, Digits},
    document::{Item, Table},
    text::count,
};

/// What is predicted of a stack's round trips, over all sites.
#[derive(Default)]
struct Totals<'a> {
    stack: &'a str,
    /// Sites of which the round trips are known.
    known: u32,
    sum: u32,
    retried: u32,
    beyond_window: u32,
    hello_segments: u32,
}

pub(super) fn tables(items: &mut Vec<Item>, loss: &LossReport) {
    let totals: Vec<Totals<'_>> = (0..loss.offers.len())
        .map(|stack| of(loss, stack))
        .collect();
    if totals.iter().all(|of| of.known == 0) {
        return;
    }
    items.push(Item::heading("Round trips until the response comes"));
    items.push(Item::text(
        "On a connection of its own: one for TCP, those of the handshake, one for the request. A server that \
         asks for another key share (HelloRetryRequest) costs one more, and so does a flight of over 14,480 bytes.",
    ));
    if let Some(text) = seen(loss) {
        items.push(Item::Text(text));
    }
    items.push(
        Table::of(&totals)
            .col("stack", 0, |of| Cell::text(of.stack))
            .col("sites", 0, |of| Cell::count(of.known))
            .col("on average", 0, |of| {
                let mean = f64::from(of.sum) / f64::from(of.known.max(1));
                Cell::number(mean, Digits::Decimals(2), "")
            })
            .col("ask for another key share", 0, |of| Cell::count(of.retried))
            .col("send over 14,480 bytes", 1, |of| {
                Cell::count(of.beyond_window)
            })
            .col("segments of the ClientHello", 1, |of| {
                Cell::count(of.hello_segments)
            })
            .item(),
    );
    items.extend(
        Table::of(differing(loss))
            .col("site", 0, |(site, _)| Cell::text(site))
            .col("round trips", 0, |(_, trips)| Cell::text(trips))
            .under("Sites that take one stack more round trips than another"),
    );
}

fn of(loss: &LossReport, stack: usize) -> Totals<'_> {
    let mut totals = Totals {
        stack: &loss.offers[stack].stack,
        ..Totals::default()
    };
    for site in &loss.sites {
        if let Some(trips) = site.agreements.get(stack).and_then(trips) {
            totals.known += 1;
            totals.sum += trips.first_byte;
            totals.retried += u32::from(trips.retry > 0);
            totals.beyond_window += u32::from(trips.window > 0);
            totals.hello_segments = totals.hello_segments.max(trips.hello_segments);
        }
    }
    totals
}

fn trips(agreement: &Agreement) -> Option<RoundTrips> {
    match agreement {
        Agreement::Agrees(agreed) => agreed.round_trips,
        Agreement::Loses { .. } | Agreement::Unknown { .. } => None,
    }
}

/// Sites whose round trips depend on the stack, each with those of every stack.
fn differing(loss: &LossReport) -> Vec<(&str, String)> {
    let differs = |agreements: &[Agreement]| {
        let known = agreements.iter().filter_map(trips);
        !known.map(|trips| trips.first_byte).all_equal()
    };
    let words = |(offer, agreement): (&netbench_model::scan::Offer, &Agreement)| {
        let trips = trips(agreement)?;
        let retry = match trips.retry {
            0 => "",
            _ => " (asked for another key share)",
        };
        Some(format!("{} {}{retry}", offer.stack, trips.first_byte))
    };
    loss.sites
        .iter()
        .filter(|site| differs(&site.agreements))
        .map(|site| {
            let of_stacks = loss.offers.iter().zip(&site.agreements).filter_map(words);
            (site.site.as_str(), of_stacks.format(", ").to_string())
        })
        .collect()
}

/// What packets say of the predictions.
fn seen(loss: &LossReport) -> Option<String> {
    let has = |confirmation: &&Confirmation| {
        let seen = matches!(&confirmation.seen, HandshakeResult::Handshake { packets, .. } if packets.is_some());
        seen && trips(&confirmation.predicted).is_some()
    };
    let packets: Vec<&Confirmation> = loss.confirmed.iter().filter(has).collect();
    let right = packets
        .iter()
        .filter(|c| c.verdict == Confirmed::AsPredicted);
    let of = count(packets.len(), "handshake", "handshakes");
    let right = right.count();
    (!packets.is_empty())
        .then(|| format!("The link saw the packets of {of}: {right} as predicted."))
}
