//! What a change of stack would lose, as blocks.

use netbench_interop::{LossReport, LostGroup};
use netbench_model::scan::{Agreement, Confirmed, HandshakeResult};

use crate::{
    block::{Block, Table},
    text::{plain, shorten},
};

/// Sites of one reason that are named.
const NAMED: usize = 12;

pub(super) fn headlines(blocks: &mut Vec<Block>, loss: &LossReport) {
    for offer in &loss.offers {
        let lost = loss.lost_by(&offer.stack);
        let of = loss.sites.len();
        let lost = if lost == 0 {
            "none".to_owned()
        } else {
            lost.to_string()
        };
        blocks.push(Block::Headline(plain(&format!(
            "Of {of} sites, {} loses {lost} that another stack reaches.",
            offer.stack
        ))));
    }
}

pub(super) fn tables(blocks: &mut Vec<Block>, loss: &LossReport) {
    if !loss.lost.is_empty() {
        blocks.push(Block::Heading("Which sites are lost, and why".to_owned()));
        blocks.push(
            Table::of(&loss.lost)
                .left("lost by", 0, |group| plain(&group.stack))
                .left("reason", 0, |group| group.reason.name().to_owned())
                .right("sites", 0, |group| group.sites.len().to_string())
                .left("which", 0, |group| plain(&named(group)))
                .left("for example", 1, |group| {
                    let detail = group.sites.values().next();
                    detail
                        .map(|detail| plain(&shorten(detail)))
                        .unwrap_or_default()
                })
                .block(),
        );
    }
    for (sites, what) in [
        (&loss.unreachable, "Reached by no stack"),
        (
            &loss.unknown,
            "The scan cannot tell which stack reaches them",
        ),
    ] {
        if !sites.is_empty() {
            let names: Vec<&str> = sites.iter().take(NAMED).map(String::as_str).collect();
            blocks.push(Block::Text(plain(&format!(
                "{what} ({}): {}",
                sites.len(),
                shorten(&names.join(", "))
            ))));
        }
    }
    confirmations(blocks, loss);
}

/// The sites of a group, as many as there is room for.
fn named(group: &LostGroup) -> String {
    let names = group.sites.keys().take(NAMED);
    let names: Vec<&str> = names.map(String::as_str).collect();
    let mut text = names.join(", ");
    let more = group.sites.len() - names.len();
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn confirmations(blocks: &mut Vec<Block>, loss: &LossReport) {
    blocks.push(Block::Heading("Real handshakes".to_owned()));
    let count = |verdict| {
        let all = loss.confirmed.iter();
        all.filter(|c| c.verdict == verdict).count()
    };
    blocks.push(Block::Text(format!(
        "{} handshakes: {} came as predicted, {} did not, {} say nothing.",
        loss.confirmed.len(),
        count(Confirmed::AsPredicted),
        count(Confirmed::Mismatch),
        count(Confirmed::Untold),
    )));
    for wrong in loss.mismatches() {
        blocks.push(Block::Warning(plain(&format!(
            "NOT AS PREDICTED: {} with {}: predicted {}, seen {}",
            wrong.site,
            wrong.stack,
            predicted(&wrong.predicted),
            seen(&wrong.seen)
        ))));
    }
    if loss.confirmed.is_empty() {
        return;
    }
    blocks.push(
        Table::of(&loss.confirmed)
            .left("site", 0, |c| plain(&c.site))
            .left("stack", 0, |c| plain(&c.stack))
            .left("predicted", 1, |c| {
                plain(&shorten(&predicted(&c.predicted)))
            })
            .left("seen", 2, |c| plain(&shorten(&seen(&c.seen))))
            .left("", 0, |c| verdict(c.verdict).to_owned())
            .block(),
    );
}

pub(super) fn verdict(verdict: Confirmed) -> &'static str {
    match verdict {
        Confirmed::AsPredicted => "as predicted",
        Confirmed::Mismatch => "NOT AS PREDICTED",
        Confirmed::Untold => "says nothing",
    }
}

pub(super) fn predicted(agreement: &Agreement) -> String {
    match agreement {
        Agreement::Agrees(agreed) => {
            let more = [&agreed.group, &agreed.signature];
            let more: Vec<&str> = more.into_iter().flatten().map(String::as_str).collect();
            format!("{} {} {}", agreed.version, agreed.suite, more.join(" "))
        }
        Agreement::Loses { reason, .. } => reason.name().to_owned(),
        Agreement::Unknown { why } => format!("unknown: {why}"),
    }
}

pub(super) fn seen(seen: &HandshakeResult) -> String {
    match seen {
        HandshakeResult::Handshake {
            version,
            suite,
            group,
            signature,
        } => {
            let more: Vec<&str> = [group, signature]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect();
            format!("{version} {suite} {}", more.join(" "))
        }
        HandshakeResult::Failed { class, reason, .. } => format!("{class}: {reason}"),
    }
}
