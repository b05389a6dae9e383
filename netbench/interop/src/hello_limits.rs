//! The properties of a stack's hello at which a site's handshake fails, according to the scan.

use netbench_model::scan::{Agreement, LossReason, Offer, SiteScan, Tolerance};

/// Lengths of messages that some load balancers mistake for SSL 2.0 messages.
const SHORT: std::ops::Range<u32> = 256..512;

/// Returns the agreement where the site fails at the hello, or may fail, or `None` where the scan
/// found no such fault.
pub(crate) fn hello_fault(offer: &Offer, site: &SiteScan) -> Option<Agreement> {
    let limits = &site.hello_limits;
    if let Some(version) = limits
        .versions
        .iter()
        .find(|version| offer.versions.contains(version))
    {
        return fails(format!("the site fails at hellos that offer TLS {version}"));
    }
    for (count, most, what) in [
        (offer.suites.len(), limits.most_suites, "suites"),
        (offer.groups.len(), limits.most_groups, "groups"),
        (offer.wire_bytes as usize, limits.most_bytes, "bytes"),
    ] {
        if let Some(most) = most.filter(|most| count > *most as usize) {
            return fails(format!("the site reads hellos with at most {most} {what}"));
        }
    }
    let extension = limits.extensions.iter().find(|refused| {
        let mut codes = offer.extensions.iter().map(|known| known.code);
        codes.any(|code| code == refused.code)
    });
    if let Some(extension) = extension {
        return fails(format!(
            "the site fails at the extension {}",
            extension.name
        ));
    }
    if !limits.protocols.is_empty() && !offer.alpn.is_empty() {
        let names = limits.protocols.join(" and ");
        // Protocols that are refused together are also refused separately.
        return if offer
            .alpn
            .iter()
            .all(|name| limits.protocols.contains(name))
        {
            fails(format!(
                "the site refuses the application protocols {names}"
            ))
        } else {
            unknown(format!(
                "the site refuses the application protocols {names}; others were not tried"
            ))
        };
    }
    if let Some(suite) = limits
        .suites
        .iter()
        .find(|suite| offer.has_suite(suite.code))
    {
        return unknown(format!("the site fails at some hellos with {}", suite.name));
    }
    if limits.most_schemes.is_some() {
        return unknown("the site fails at some signature schemes".to_owned());
    }
    if is_intolerant(site, "hello of 300 bytes") && SHORT.contains(&offer.message_bytes) {
        return fails(format!(
            "the site fails at hellos of {} bytes",
            offer.message_bytes
        ));
    }
    let hybrid = offer
        .shares
        .iter()
        .any(|share| share.group == "X25519MLKEM768");
    let grease = offer.shares.iter().any(|share| share.group == "GREASE");
    for (what, has) in [
        ("hybrid share over two segments", hybrid),
        ("grease", grease),
    ] {
        if has && is_intolerant(site, what) {
            return unknown(format!("the site failed at a hello with {what}"));
        }
    }
    None
}

fn fails(what: String) -> Option<Agreement> {
    Some(Agreement::loses(LossReason::Intolerance, what))
}

fn unknown(why: String) -> Option<Agreement> {
    Some(Agreement::unknown(why))
}

fn is_intolerant(site: &SiteScan, what: &str) -> bool {
    let tolerance = site.intolerance.get(what);
    matches!(tolerance, Some(Tolerance::Intolerant { .. }))
}
