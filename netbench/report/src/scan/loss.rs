use itertools::Itertools;
use netbench_interop::LossReport;
use netbench_model::{
    Target,
    scan::{Agreement, Confirmation, Confirmed, HandshakeResult},
};

use super::{ScanHead, sample::range, trips};
use crate::{
    document::{Item, Table},
    text::{count, named_site, shorten, sites_of, some_of},
};

/// Number of sites of one reason that are named.
const NAMED: usize = 12;

/// Warns of predictions that a handshake contradicted: errors of the scan or of the prediction.
pub(super) fn contradictions(items: &mut Vec<Item>, loss: &LossReport, place: Target) {
    for wrong in loss.mismatches() {
        items.push(Item::Warning(format!(
            "NOT AS PREDICTED: {} with {}: predicted {}, seen {}",
            named_site(place, &wrong.site),
            wrong.stack,
            predicted(&wrong.predicted),
            seen(&wrong.seen)
        )));
    }
}

pub(super) fn headlines(items: &mut Vec<Item>, loss: &LossReport, run: &ScanHead) {
    for offer in &loss.offers {
        let lost = loss.lost_by(&offer.stack);
        let of_all = run.share_of_all(lost, loss.site_count());
        let of_all = of_all.map_or_else(String::new, |share| {
            format!(" Of all, that is {}.", range(share))
        });
        let lost = match lost {
            0 => "none".to_owned(),
            lost => lost.to_string(),
        };
        items.push(Item::Headline(format!(
            "Of {}, {} loses {lost} that another stack reaches.{of_all}",
            count(loss.site_count(), "site", "sites"),
            offer.stack
        )));
    }
}

pub(super) fn tables(items: &mut Vec<Item>, loss: &LossReport, place: Target) {
    items.extend(
        Table::of(&loss.lost)
            .text("lost by", 0, |group| &group.stack)
            .text("reason", 0, |group| group.reason.name())
            .text("effect", 2, |group| group.effect)
            .count("sites", 0, |group| group.sites.len())
            .which_sites(place, 0, |group| some_of(NAMED, group.sites.keys()))
            .optional("for example", 1, |group| {
                group.sites.values().next().map(|detail| shorten(detail))
            })
            .under("Which sites are lost, and why"),
    );
    for (sites, what) in [
        (&loss.unreachable, "Reached by no stack"),
        (
            &loss.unknown,
            "The scan cannot tell which stack reaches them",
        ),
    ] {
        if !sites.is_empty() {
            let names = shorten(&sites.iter().take(NAMED).join(", "));
            items.push(Item::Text(format!(
                "{what}: {}, {names}",
                sites_of(place, sites.len())
            )));
        }
    }
    trips::tables(items, loss, place);
    confirmations(items, loss, place);
}

fn confirmations(items: &mut Vec<Item>, loss: &LossReport, place: Target) {
    items.push(Item::heading("Real handshakes"));
    let [right, wrong, unclear] = [
        Confirmed::AsPredicted,
        Confirmed::Mismatch,
        Confirmed::Unreported,
    ]
    .map(|verdict| {
        let all = loss.confirmed.iter();
        all.filter(|c| c.verdict == verdict).count()
    });
    items.push(Item::Text(format!(
        "{}: {right} as predicted, {wrong} not, {unclear} inconclusive or not predicted.",
        count(loss.confirmed.len(), "handshake", "handshakes"),
    )));
    items.extend(
        Table::of(&loss.confirmed)
            .site(place, |c| &c.site)
            .text("stack", 0, |c| &c.stack)
            .short("predicted", 1, |c| predicted(&c.predicted))
            .short("seen", 2, |c| seen(&c.seen))
            .text("", 0, |c| verdict(c))
            .if_any(),
    );
}

fn verdict(confirmation: &Confirmation) -> &'static str {
    match confirmation.verdict {
        _ if matches!(confirmation.predicted, Agreement::Unknown { .. }) => "not predicted",
        Confirmed::AsPredicted => "as predicted",
        Confirmed::Mismatch => "NOT AS PREDICTED",
        Confirmed::Unreported => "inconclusive",
    }
}

pub(crate) fn predicted(agreement: &Agreement) -> String {
    match agreement {
        Agreement::Agrees(agreed) => {
            let due = [
                Some(&agreed.suite),
                agreed.group.as_ref(),
                agreed.signature.as_ref(),
            ];
            let due = due.into_iter().flatten().format(" ");
            // Some of the agreement may differ: the scan does not determine the server's order.
            let or = match agreed.or.is_empty() {
                true => String::new(),
                false => format!(" (or {})", agreed.or.iter().format(", ")),
            };
            let trips = agreed.round_trips;
            let trips = trips.map(|trips| (trips.first_byte, trips.hello_segments));
            format!("{} {due}{}{or}", agreed.version, in_words(trips))
        }
        Agreement::Loses { reason, .. } => reason.name().to_owned(),
        Agreement::Unknown { why } => format!("unknown: {why}"),
    }
}

/// Returns round trips, and segments of the hello, to follow the agreed parameters.
fn in_words(trips: Option<(u32, u32)>) -> String {
    let Some((trips, segments)) = trips else {
        return String::new();
    };
    let segments = count(segments, "segment", "segments");
    let trips = count(trips, "round trip", "round trips");
    format!(", {trips}, {segments}")
}

pub(crate) fn seen(seen: &HandshakeResult) -> String {
    match seen {
        HandshakeResult::Handshake {
            version,
            suite,
            group,
            signature,
            packets,
        } => {
            let more = [group, signature].into_iter().flatten().format(" ");
            let trips = packets.map(|seen| (seen.first_byte, seen.hello_segments));
            format!("{version} {suite} {more}{}", in_words(trips))
        }
        HandshakeResult::Failed { class, reason, .. } => format!("{class}: {reason}"),
    }
}
