use itertools::Itertools;
use netbench_interop::{LossReport, WebLoss, WebModel, is_untrusted};
use netbench_model::{
    Losses, LostSite, Outside, OutsideSite, Profile, StackName, SwitchEffect, Target,
    scan::{Agreement, Confirmed, HandshakeResult, Offer},
};

use crate::{
    scan::loss::{predicted, seen},
    text::named_site,
};

/// Returns the sites that a switch loses and gains, from a scan against both stacks. Returns `None` if the scan was
/// not against both.
pub fn losses(
    report: &LossReport,
    client_profile: Option<Profile>,
    from: &StackName,
    to: &StackName,
) -> Option<Losses> {
    let (old, _) = offer(report, from)?;
    let (new, _) = offer(report, to)?;
    let mut losses = Losses {
        client_profile,
        ..Losses::default()
    };
    let left_out = &report.left_out;
    losses.scanned += u64::from(left_out.reached + left_out.unreachable);
    losses.both += u64::from(left_out.reached);
    losses.neither += u64::from(left_out.unreachable);
    losses.not_scanned += u64::from(left_out.unknown);
    for site in &report.sites {
        let settled = report.settled(site);
        let (Some(before), Some(after)) = (settled.get(old), settled.get(new)) else {
            continue;
        };
        losses.scanned += 1;
        match (before, after) {
            (Agreement::Unknown { why }, _) | (_, Agreement::Unknown { why }) => {
                losses.scanned -= 1;
                losses.not_scanned += 1;
                let outside = outside(&site.site, Outside::Unknown, why);
                losses.outside.push(outside);
            }
            (Agreement::Agrees(_), Agreement::Agrees(_)) => losses.both += 1,
            (Agreement::Loses { .. }, Agreement::Loses { reason, detail }) => {
                losses.neither += 1;
                let because = if is_untrusted(*reason, detail) {
                    Outside::Untrusted
                } else {
                    Outside::Neither
                };
                losses.outside.push(outside(&site.site, because, detail));
            }
            (Agreement::Agrees(_), Agreement::Loses { reason, detail }) => {
                let lost = lost(report, &site.site, to, reason.name(), detail);
                match report.effect(&site.site, to.as_str(), *reason) {
                    SwitchEffect::GainInSecurity => losses.refused.push(lost),
                    _ => losses.lost.push(lost),
                }
            }
            (Agreement::Loses { reason, detail }, Agreement::Agrees(_)) => {
                let gained = lost(report, &site.site, from, reason.name(), detail);
                // Seen from the stack that refuses the site, this is the same difference in the opposite
                // direction.
                match report.effect(&site.site, from.as_str(), *reason) {
                    SwitchEffect::GainInSecurity => losses.without_warning.push(gained),
                    _ => losses.gained.push(gained),
                }
            }
        }
    }
    for handshake in &report.confirmed {
        match handshake.verdict {
            Confirmed::AsPredicted => losses.confirmed += 1,
            Confirmed::Unreported => {}
            Confirmed::Mismatch => {
                losses.contradicted.push(format!(
                    "{} with {} did not go as predicted: predicted {}, seen {}",
                    handshake.site,
                    handshake.stack,
                    predicted(&handshake.predicted),
                    seen(&handshake.seen)
                ));
            }
        }
    }
    Some(losses)
}

/// Returns the predictions that a handshake contradicted, each in a sentence that begins with the site.
pub(super) fn contradicted(losses: &Losses, target: Target) -> Vec<String> {
    let lines = losses.contradicted.iter();
    let lines = lines.map(|line| match line.split_once(" with ") {
        Some((site, rest)) => format!("{} with {rest}", named_site(target, site)),
        None => line.clone(),
    });
    lines.collect()
}

/// Returns the number of unnamed sites that neither stack can agree with, and of those that the scan cannot judge.
pub(super) fn unnamed(losses: &Losses) -> [u64; 2] {
    let named = losses.outside.iter().counts_by(|site| site.because);
    let [neither, untrusted, unknown] = [Outside::Neither, Outside::Untrusted, Outside::Unknown]
        .map(|because| named.get(&because).map_or(0, |sites| *sites as u64));
    [
        losses.neither.saturating_sub(neither + untrusted),
        losses.not_scanned.saturating_sub(unknown),
    ]
}

/// Returns the expected loss of a switch among the sites of the web, from the offers of a scan against both stacks.
/// Returns `None` if the scan was not against both.
pub fn web_loss(report: &LossReport, from: &StackName, to: &StackName) -> Option<WebLoss> {
    let model = WebModel::of_2026().ok()?;
    let (_, old) = offer(report, from)?;
    let (_, new) = offer(report, to)?;
    Some(model.loss(old, new))
}

/// Returns the offer of a stack, with its place among the offers.
fn offer<'a>(report: &'a LossReport, stack: &StackName) -> Option<(usize, &'a Offer)> {
    let mut offers = report.offers.iter().enumerate();
    offers.find(|(_, offer)| offer.stack == stack.as_str())
}

fn outside(site: &str, because: Outside, detail: &str) -> OutsideSite {
    OutsideSite {
        site: site.to_owned(),
        because,
        detail: detail.to_owned(),
    }
}

/// Returns a lost site, with the handshake of the stack that loses it.
fn lost(
    report: &LossReport,
    site: &str,
    loser: &StackName,
    reason: &str,
    detail: &str,
) -> LostSite {
    let mut handshakes = report.confirmed.iter();
    let handshake = handshakes.find(|c| c.site == site && c.stack == loser.as_str());
    LostSite {
        site: site.to_owned(),
        reason: reason.to_owned(),
        detail: detail.to_owned(),
        confirmed: handshake.and_then(|handshake| match &handshake.seen {
            HandshakeResult::Failed { in_tls: false, .. } => None,
            HandshakeResult::Failed { .. } => Some(true),
            HandshakeResult::Handshake { .. } => Some(false),
        }),
    }
}
