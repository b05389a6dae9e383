//! Two stacks against the same sites: which of them each stack loses, why, and what real
//! handshakes say of it.

use std::collections::BTreeMap;

use netbench_model::{
    scan::{
        Agreed, Agreement, Confirmation, Confirmed, HandshakeResult, LossReason, Offer, SiteScan,
    },
    tls::TlsVersion,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::predict;

/// Which sites the stacks lose: predicted from hellos and scans, confirmed by handshakes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossReport {
    /// What each stack offers, in the order of `--against`.
    pub offers: Vec<Offer>,
    /// Each site and what each stack agrees on with it, in the order of `offers`.
    pub sites: Vec<SiteAgreements>,
    /// Sites that some stack reaches and another does not, by who loses them and why. Where a
    /// handshake was made and did not come as predicted, it counts and not the prediction.
    pub lost: Vec<LostGroup>,
    /// Sites that no stack reaches.
    pub unreachable: Vec<String>,
    /// Sites of which nothing can be said.
    pub unknown: Vec<String>,
    /// The handshakes that were made.
    pub confirmed: Vec<Confirmation>,
}

/// A site, and what each stack agrees on with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteAgreements {
    /// The site.
    pub site: String,
    /// One for each stack.
    pub agreements: Vec<Agreement>,
}

/// Sites that a stack loses for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostGroup {
    /// Who loses them.
    pub stack: String,
    /// Who reaches them.
    pub reached_by: Vec<String>,
    /// Why they are lost.
    pub reason: LossReason,
    /// The sites, each with the reason in words.
    pub sites: BTreeMap<String, String>,
}

/// Compares what a handshake came to with what was predicted of it.
pub fn confirmation(
    site: &str,
    stack: &str,
    predicted: Agreement,
    seen: HandshakeResult,
) -> Confirmation {
    Confirmation {
        site: site.to_owned(),
        stack: stack.to_owned(),
        verdict: judge(&predicted, &seen),
        predicted,
        seen,
    }
}

/// What the handshake shows instead of what was predicted; none where it came as predicted.
fn shown(confirmation: &Confirmation) -> Option<Agreement> {
    if confirmation.verdict != Confirmed::Mismatch {
        return None;
    }
    match (&confirmation.seen, &confirmation.predicted) {
        (HandshakeResult::Failed { class, reason, .. }, _) => {
            let by = if class == "certificate" {
                LossReason::Certificate
            } else {
                LossReason::Handshake
            };
            let detail = format!("seen in a handshake, not predicted: {class}: {reason}");
            Some(Agreement::loses(by, detail))
        }
        (HandshakeResult::Handshake { .. }, Agreement::Agrees(_)) => None,
        (
            HandshakeResult::Handshake {
                version,
                suite,
                group,
                signature,
                ..
            },
            _,
        ) => Some(Agreement::Agrees(Agreed {
            version: TlsVersion::ALL.into_iter().find(|v| v.name() == version)?,
            suite: suite.clone(),
            group: group.clone(),
            signature: signature.clone(),
            or: Vec::new(),
            round_trips: None,
        })),
    }
}

fn judge(predicted: &Agreement, seen: &HandshakeResult) -> Confirmed {
    let as_predicted = match (predicted, seen) {
        (Agreement::Unknown { .. }, _) | (_, HandshakeResult::Failed { in_tls: false, .. }) => {
            return Confirmed::Untold;
        }
        (Agreement::Loses { .. }, HandshakeResult::Failed { .. }) => true,
        (
            Agreement::Agrees(due),
            HandshakeResult::Handshake {
                version,
                suite,
                group,
                signature,
                packets,
            },
        ) => {
            let trips = match (due.round_trips, packets) {
                (Some(due), Some(seen)) => {
                    (due.first_byte, due.hello_segments) == (seen.first_byte, seen.hello_segments)
                }
                // As below: nothing was seen, or nothing predicted.
                _ => true,
            };
            let fits = |due: Option<&String>, seen: Option<&String>, or: &[String]| match seen {
                // What a stack does not tell is no mismatch, nor is what was not predicted.
                None => true,
                Some(seen) => {
                    due.is_none_or(|due| due.eq_ignore_ascii_case(seen)) || or.contains(seen)
                }
            };
            trips
                && due.version.name() == version
                && fits(Some(&due.suite), Some(suite), &due.or)
                && fits(due.group.as_ref(), group.as_ref(), &due.or)
                && fits(due.signature.as_ref(), signature.as_ref(), &due.or)
        }
        _ => false,
    };
    if as_predicted {
        Confirmed::AsPredicted
    } else {
        Confirmed::Mismatch
    }
}

fn settle(site: &SiteAgreements, offers: &[Offer], confirmed: &[Confirmation]) -> Vec<Agreement> {
    let of_site = || confirmed.iter().filter(|c| c.site == site.site);
    let one = |(offer, predicted): (&Offer, &Agreement)| {
        let mut tried = of_site().filter(|c| c.stack == offer.stack);
        let seen = tried.find_map(shown);
        seen.unwrap_or_else(|| predicted.clone())
    };
    offers.iter().zip(&site.agreements).map(one).collect()
}

impl LossReport {
    /// Of what the stacks offer, the sites' scans, and the handshakes that were made.
    pub fn new(offers: Vec<Offer>, scans: &[SiteScan], confirmed: Vec<Confirmation>) -> Self {
        let sites: Vec<SiteAgreements> = scans
            .iter()
            .map(|scan| SiteAgreements {
                site: scan.site.clone(),
                agreements: offers.iter().map(|offer| predict(offer, scan)).collect(),
            })
            .collect();
        let mut groups: BTreeMap<(usize, LossReason, Vec<String>), BTreeMap<String, String>> =
            BTreeMap::new();
        let (mut unreachable, mut unknown) = (Vec::new(), Vec::new());
        for site in &sites {
            let agreements = settle(site, &offers, &confirmed);
            let reached_by: Vec<String> = offers
                .iter()
                .zip(&agreements)
                .filter(|(_, agreement)| agreement.agrees())
                .map(|(offer, _)| offer.stack.clone())
                .collect();
            for (stack, agreement) in agreements.iter().enumerate() {
                if let Agreement::Loses { reason, detail } = agreement
                    && !reached_by.is_empty()
                {
                    groups
                        .entry((stack, *reason, reached_by.clone()))
                        .or_default()
                        .insert(site.site.clone(), detail.clone());
                }
            }
            let told = |a: &Agreement| !matches!(a, Agreement::Unknown { .. });
            if !agreements.iter().all(told) {
                unknown.push(site.site.clone());
            } else if reached_by.is_empty() {
                unreachable.push(site.site.clone());
            }
        }
        let lost = groups
            .into_iter()
            .map(|((stack, reason, reached_by), sites)| LostGroup {
                stack: offers[stack].stack.clone(),
                reached_by,
                reason,
                sites,
            })
            .collect();
        Self {
            offers,
            sites,
            lost,
            unreachable,
            unknown,
            confirmed,
        }
    }

    /// What each stack comes to with a site: by a handshake where one was made and did not come as
    /// predicted, else by the prediction.
    pub fn settled(&self, site: &SiteAgreements) -> Vec<Agreement> {
        settle(site, &self.offers, &self.confirmed)
    }

    /// The handshakes that did not come as predicted.
    pub fn mismatches(&self) -> impl Iterator<Item = &Confirmation> {
        let is = |c: &&Confirmation| c.verdict == Confirmed::Mismatch;
        self.confirmed.iter().filter(is)
    }

    /// How many sites `stack` loses that another reaches.
    pub fn lost_by(&self, stack: &str) -> usize {
        let groups = self.lost.iter().filter(|group| group.stack == stack);
        groups.map(|group| group.sites.len()).sum()
    }
}
