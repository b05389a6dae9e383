//! The number of round trips to each site before its response, by stack.

use itertools::Itertools;
use netbench_interop::{LossReport, TripTotals};
use netbench_model::{
    Target,
    scan::{Agreement, Confirmed, HandshakeResult},
};

use crate::{
    cell::{Cell, Digits},
    document::{Item, Table},
    text::count,
};

pub(super) fn tables(items: &mut Vec<Item>, loss: &LossReport, place: Target) {
    let totals: Vec<(&str, TripTotals)> = (0..loss.offers.len())
        .map(|stack| (loss.offers[stack].stack.as_str(), of(loss, stack)))
        .collect();
    if totals.iter().all(|(_, of)| of.known == 0) {
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
            .text("stack", 0, |(stack, _)| *stack)
            .count("sites", 0, |(_, of)| of.known)
            .col("on average", 0, |(_, of)| {
                let mean = f64::from(of.sum) / f64::from(of.known.max(1));
                Cell::number(mean, Digits::Decimals(2), "")
            })
            .count("ask for another key share", 0, |(_, of)| of.retried)
            .count("send over 14,480 bytes", 1, |(_, of)| of.beyond_window)
            .count("segments of the ClientHello", 1, |(_, of)| {
                of.hello_segments
            })
            .item(),
    );
    items.extend(
        Table::of(differing(loss))
            .site(place, |(site, _)| site)
            .text("round trips", 0, |(_, trips)| trips.clone())
            .under("Sites that take one stack more round trips than another"),
    );
}

/// Returns the predicted round trips of a stack, over all sites.
fn of(loss: &LossReport, stack: usize) -> TripTotals {
    let left_out = loss.left_out.round_trips.get(stack);
    let mut totals = left_out.copied().unwrap_or_default();
    for site in &loss.sites {
        if let Some(agreement) = site.agreements.get(stack) {
            totals.add(agreement);
        }
    }
    totals
}

/// Returns the sites whose round trips depend on the stack, each with those of every stack.
fn differing(loss: &LossReport) -> Vec<(&str, String)> {
    let sites = loss.sites.iter().filter(|site| {
        let known = site.agreements.iter().filter_map(Agreement::round_trips);
        !known.map(|trips| trips.first_byte).all_equal()
    });
    let sites = sites.map(|site| {
        let stacks = loss.offers.iter().zip(&site.agreements);
        let of_stacks = stacks.filter_map(|(offer, agreement)| {
            let trips = agreement.round_trips()?;
            let retry = match trips.retry {
                0 => "",
                _ => " (asked for another key share)",
            };
            Some(format!("{} {}{retry}", offer.stack, trips.first_byte))
        });
        (site.site.as_str(), of_stacks.format(", ").to_string())
    });
    sites.collect()
}

/// Compares the packets with the predictions.
fn seen(loss: &LossReport) -> Option<String> {
    let predicted = loss
        .confirmed
        .iter()
        .filter(|it| it.predicted.round_trips().is_some());
    let packets = predicted.filter(|it| match &it.seen {
        HandshakeResult::Handshake { packets, .. } => packets.is_some(),
        HandshakeResult::Failed { .. } => false,
    });
    let packets = packets.collect_vec();
    let right = packets
        .iter()
        .filter(|it| it.verdict == Confirmed::AsPredicted);
    let right = right.count();
    let of = count(packets.len(), "handshake", "handshakes");
    (!packets.is_empty())
        .then(|| format!("The link saw the packets of {of}: {right} as predicted."))
}
