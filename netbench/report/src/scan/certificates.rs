//! The certificates of one site: what the server sent, and the faults of it.

use itertools::Itertools;
use netbench_model::scan::{Anchor, CertificateScan, ChainScan, SiteScan};

use crate::{
    cell::Cell,
    document::{Item, Table},
    text::{count, shorten, some_of},
};

/// Number of names of a certificate that are shown.
const NAMES: usize = 3;

/// Tabulates the certificates of each chain in the order of the server, and adds the faults of each chain.
pub(super) fn tables(items: &mut Vec<Item>, site: &SiteScan, name: &str) {
    let all = site.chains.iter().enumerate();
    let all = all.flat_map(|(i, chain)| chain.certificates.iter().map(move |c| (i, chain, c)));
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return;
    }
    items.push(
        Table::of(all)
            .caption(format!("{name}: certificates"))
            .count("chain", 0, |(i, ..)| i + 1)
            .short("certificate", 0, |(.., c)| &c.subject)
            .short("names", 2, |(.., c)| some_of(NAMES, c.names.iter()))
            .col("key", 1, |(.., c)| match &c.curve {
                Some(curve) => Cell::text(curve),
                None => Cell::text(c.sized_key()),
            })
            .text("signed by", 2, |(.., c)| &c.signature)
            .text("valid until", 3, |(.., c)| &c.not_after)
            .text("ends at", 4, |(_, chain, _)| end(chain.anchor))
            .item(),
    );
    for (number, chain) in (1..).zip(&site.chains) {
        let faults = faults(chain, &site.host).join("; ");
        if !faults.is_empty() {
            items.push(Item::Warning(format!("chain {number}: {faults}")));
        }
    }
}

fn end(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Known => "a trusted root",
        Anchor::SelfSigned => "itself",
        Anchor::UnknownRoot => "another root",
        Anchor::Missing => "no root",
        Anchor::Unchecked => "not checked",
    }
}

/// Returns the properties of a chain that clients refuse, or that are of no use to them.
fn faults(chain: &ChainScan, host: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let leaf = chain.certificates.first();
    if let Some(leaf) = leaf.filter(|_| !chain.names_match) {
        faults.push(match &leaf.names[..] {
            [] => format!("not for {host}, but without a name"),
            names => format!("not for {host}, but for {}", some_of(NAMES, names.iter())),
        });
    }
    let invalid = chain.certificates.iter().filter(|c| !c.valid_now);
    faults.extend(invalid.map(validity).unique());
    match chain.anchor {
        Anchor::Known | Anchor::Unchecked => {}
        Anchor::SelfSigned => faults.push("self-signed".to_owned()),
        Anchor::UnknownRoot => faults.push("its root is not a trust root".to_owned()),
        Anchor::Missing => faults.extend(chain.missing.as_ref().map(|issuer| {
            let issuer = shorten(issuer);
            format!("the issuer {issuer} was not sent, and is not a trust root")
        })),
    }
    if chain.duplicates > 0 {
        let sent = count(chain.duplicates, "certificate is", "certificates are");
        faults.push(format!("{sent} a repetition"));
    }
    if chain.unrelated > 0 {
        let sent = count(chain.unrelated, "certificate does", "certificates do");
        faults.push(format!("{sent} not belong to it"));
    }
    let alone = chain.duplicates == 0 && chain.unrelated == 0;
    if !chain.in_order && alone {
        faults.push("not in order".to_owned());
    }
    if chain.has_root {
        faults.push("its root was sent too, which no client needs".to_owned());
    }
    faults
}

fn validity(certificate: &CertificateScan) -> String {
    format!(
        "{} is valid only from {} until {}",
        shorten(&certificate.subject),
        certificate.not_before,
        certificate.not_after
    )
}
