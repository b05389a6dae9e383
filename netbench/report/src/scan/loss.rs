//! What a change of stack would lose, as blocks.

use netbench_scan::{
    LossReport,
    against::{Confirmation, Confirmed, Seen},
    loss::Agreement,
};

use crate::{
    block::{Block, Table, left, right},
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
        let rows = loss.lost.iter().map(|group| {
            let mut names: Vec<&str> = group.sites.keys().map(String::as_str).collect();
            let more = names.len().saturating_sub(NAMED);
            names.truncate(NAMED);
            let mut names = names.join(", ");
            if more > 0 {
                names.push_str(&format!(" and {more} more"));
            }
            let detail = group.sites.values().next().cloned().unwrap_or_default();
            vec![
                plain(&group.stack),
                group.reason.name().to_owned(),
                group.sites.len().to_string(),
                plain(&names),
                plain(&shorten(&detail)),
            ]
        });
        blocks.push(Block::Table(Table {
            columns: vec![
                left("lost by", 0),
                left("reason", 0),
                right("sites", 0),
                left("which", 0),
                left("for example", 1),
            ],
            rows: rows.collect(),
        }));
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
    let row = |c: &Confirmation| {
        vec![
            plain(&c.site),
            plain(&c.stack),
            plain(&shorten(&predicted(&c.predicted))),
            plain(&shorten(&seen(&c.seen))),
            verdict(c.verdict).to_owned(),
        ]
    };
    blocks.push(Block::Table(Table {
        columns: vec![
            left("site", 0),
            left("stack", 0),
            left("predicted", 1),
            left("seen", 2),
            left("", 0),
        ],
        rows: loss.confirmed.iter().map(row).collect(),
    }));
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

pub(super) fn seen(seen: &Seen) -> String {
    match seen {
        Seen::Handshake {
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
        Seen::Failed { class, reason, .. } => format!("{class}: {reason}"),
    }
}
