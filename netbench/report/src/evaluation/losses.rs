use netbench_interop::{LossReport, WebLoss, WebModel};
use netbench_model::{
    Losses, LostSite, Profile, StackName,
    scan::{Agreement, Confirmed, HandshakeResult},
};

/// Which sites a switch loses and gains, of a scan against both stacks. None where the scan was not
/// against both.
pub fn losses(
    report: &LossReport,
    client_profile: Option<Profile>,
    from: &StackName,
    to: &StackName,
) -> Option<Losses> {
    let column = |stack: &StackName| {
        let mut offers = report.offers.iter();
        offers.position(|offer| offer.stack == stack.as_str())
    };
    let (old, new) = (column(from)?, column(to)?);
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
            (Agreement::Unknown { .. }, _) | (_, Agreement::Unknown { .. }) => {
                losses.scanned -= 1;
                losses.not_scanned += 1;
            }
            (Agreement::Agrees(_), Agreement::Agrees(_)) => losses.both += 1,
            (Agreement::Loses { .. }, Agreement::Loses { .. }) => losses.neither += 1,
            (Agreement::Agrees(_), Agreement::Loses { reason, detail }) => {
                let lost = lost(report, &site.site, to, reason.name(), detail);
                losses.lost.push(lost);
            }
            (Agreement::Loses { reason, detail }, Agreement::Agrees(_)) => {
                let gained = lost(report, &site.site, from, reason.name(), detail);
                losses.gained.push(gained);
            }
        }
    }
    for handshake in &report.confirmed {
        match handshake.verdict {
            Confirmed::AsPredicted => losses.confirmed += 1,
            Confirmed::Untold => {}
            Confirmed::Mismatch => {
                let seen = match &handshake.seen {
                    HandshakeResult::Handshake { version, suite, .. } => {
                        format!("a handshake, {version} {suite}")
                    }
                    HandshakeResult::Failed { class, reason, .. } => format!("{class}: {reason}"),
                };
                let (site, stack) = (&handshake.site, &handshake.stack);
                losses.contradicted.push(format!(
                    "{site} with {stack} did not go as predicted: {seen}"
                ));
            }
        }
    }
    Some(losses)
}

/// The expected loss of a switch among the sites of the web, from the offers of a scan against both stacks.
/// Returns `None` if the scan was not against both.
pub fn web_loss(report: &LossReport, from: &StackName, to: &StackName) -> Option<WebLoss> {
    let offer = |stack: &StackName| {
        let mut offers = report.offers.iter();
        offers.find(|offer| offer.stack == stack.as_str())
    };
    let model = WebModel::of_2026().ok()?;
    Some(model.loss(offer(from)?, offer(to)?))
}

/// A site, and the handshake of the stack that loses it.
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
        confirmed: handshake.and_then(|handshake| match (handshake.verdict, &handshake.seen) {
            (Confirmed::Untold, _) => None,
            (_, HandshakeResult::Failed { .. }) => Some(true),
            (_, HandshakeResult::Handshake { .. }) => Some(false),
        }),
    }
}
