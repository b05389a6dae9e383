//! Two stacks against the same sites: which of them each stack loses, why, and what real
//! handshakes say of it.

use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{
    CertificateFault, Standing, SwitchEffect,
    scan::{
        Agreed, Agreement, Confirmation, Confirmed, HandshakeResult, LossReason, Offer, SiteScan,
    },
    tls::TlsVersion,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LISTED, is_up_to_the_verifier, predict};

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
    /// Of many sites, those beyond the first thousand on which the stacks do not differ are not in `sites`.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

/// Sites that a report does not list: each stack comes to the same with them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Reached by every stack, in as many round trips.
    pub reached: u32,
    /// Reached by none.
    pub unreachable: u32,
    /// Of which nothing can be said.
    pub unknown: u32,
    /// The round trips of each stack, in the order of `offers`.
    pub round_trips: Vec<TripTotals>,
}

/// What is predicted of a stack's round trips to some sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TripTotals {
    /// Sites of which they are known.
    pub known: u32,
    /// The round trips until the first byte of the response, of all of these together.
    pub sum: u32,
    /// Sites that ask for another key share.
    pub retried: u32,
    /// Sites whose flight is longer than the initial window.
    pub beyond_window: u32,
    /// The most segments that the ClientHello takes.
    pub hello_segments: u32,
}

impl TripTotals {
    /// Adds what is predicted of one site.
    pub fn add(&mut self, agreement: &Agreement) {
        if let Some(trips) = agreement.round_trips() {
            self.known += 1;
            self.sum += trips.first_byte;
            self.retried += u32::from(trips.retry > 0);
            self.beyond_window += u32::from(trips.window > 0);
            self.hello_segments = self.hello_segments.max(trips.hello_segments);
        }
    }
}

impl LeftOut {
    fn is_empty(&self) -> bool {
        self.sites() == 0
    }

    /// How many they are.
    pub fn sites(&self) -> u32 {
        self.reached + self.unreachable + self.unknown
    }

    /// Counts a site with which each stack comes to the same; false where they differ.
    fn takes(&mut self, agreements: &[Agreement]) -> bool {
        let trips = agreements.iter().filter_map(Agreement::round_trips);
        let first_bytes: BTreeSet<u32> = trips.map(|trips| trips.first_byte).collect();
        let are = |is: fn(&Agreement) -> bool| agreements.iter().all(is);
        let count = if are(Agreement::agrees) && first_bytes.len() <= 1 {
            &mut self.reached
        } else if are(|a| matches!(a, Agreement::Loses { .. })) {
            &mut self.unreachable
        } else if are(|a| matches!(a, Agreement::Unknown { .. })) {
            &mut self.unknown
        } else {
            return false;
        };
        *count += 1;
        self.round_trips
            .resize(agreements.len(), TripTotals::default());
        for (totals, agreement) in self.round_trips.iter_mut().zip(agreements) {
            totals.add(agreement);
        }
        true
    }
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
    /// The effect of taking this stack in place of those that reach them.
    #[serde(default = "loss_of_reach")]
    pub effect: SwitchEffect,
    /// The sites, each with the reason in words.
    pub sites: BTreeMap<String, String>,
}

fn loss_of_reach() -> SwitchEffect {
    SwitchEffect::LossOfReach
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

/// Returns the agreement that a handshake shows where it did not come as predicted, or where nothing was predicted; `None` where
/// the prediction stands.
fn shown(confirmation: &Confirmation) -> Option<Agreement> {
    let is_unpredicted = matches!(confirmation.predicted, Agreement::Unknown { .. });
    if confirmation.verdict != Confirmed::Mismatch && !is_unpredicted {
        return None;
    }
    match (&confirmation.seen, &confirmation.predicted) {
        (HandshakeResult::Failed { in_tls: false, .. }, _) => None,
        (HandshakeResult::Failed { class, reason, .. }, predicted) => {
            let by = match class.as_str() {
                "certificate" if is_up_to_the_verifier(predicted) => LossReason::CommonNameOnly,
                "certificate" => LossReason::Certificate,
                _ => LossReason::Handshake,
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

/// The effect of a stack that cannot agree with a site that another can agree with. A certificate's fault is what the stack
/// itself said of it in a handshake; without one, it is that of a certificate that clients refuse.
fn effect(site: &str, stack: &str, reason: LossReason, confirmed: &[Confirmation]) -> SwitchEffect {
    let said = || {
        let mut tried = confirmed
            .iter()
            .filter(|c| c.site == site && c.stack == stack);
        let fault = tried.find_map(|tried| match &tried.seen {
            HandshakeResult::Failed { reason, .. } => CertificateFault::ALL
                .iter()
                .find(|fault| fault.name() == reason),
            HandshakeResult::Handshake { .. } => None,
        });
        fault.map_or(Standing::Unsafe, |fault| {
            Standing::of_disputed_fault(*fault)
        })
    };
    let standing = match reason {
        LossReason::Certificate => said(),
        _ => Standing::Dated,
    };
    match standing {
        Standing::Unsafe => SwitchEffect::GainInSecurity,
        Standing::Sound | Standing::Dated | Standing::Moot => SwitchEffect::LossOfReach,
    }
}

/// A [`LossReport`] that is being made, a site at a time.
#[derive(Debug)]
pub struct Losses {
    report: LossReport,
    groups: BTreeMap<Group, BTreeMap<String, String>>,
}

/// The number of the stack that loses sites, the effect, why they are lost, and who reaches them.
type Group = (usize, SwitchEffect, LossReason, Vec<String>);

impl Losses {
    /// Of no sites yet.
    pub fn new(offers: Vec<Offer>, confirmed: Vec<Confirmation>) -> Self {
        Self {
            report: LossReport {
                offers,
                sites: Vec::new(),
                lost: Vec::new(),
                unreachable: Vec::new(),
                unknown: Vec::new(),
                confirmed,
                left_out: LeftOut::default(),
            },
            groups: BTreeMap::new(),
        }
    }

    /// Adds a site, and gives what is predicted of each stack with it.
    pub fn add(&mut self, scan: &SiteScan) -> Vec<Agreement> {
        let LossReport {
            offers,
            sites,
            unreachable,
            unknown,
            confirmed,
            left_out,
            ..
        } = &mut self.report;
        let predicted: Vec<Agreement> = offers.iter().map(|offer| predict(offer, scan)).collect();
        let site = SiteAgreements {
            site: scan.site.clone(),
            agreements: predicted.clone(),
        };
        let agreements = settle(&site, offers, confirmed);
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
                let effect = effect(&site.site, &offers[stack].stack, *reason, confirmed);
                self.groups
                    .entry((stack, effect, *reason, reached_by.clone()))
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
        if sites.len() < LISTED || !left_out.takes(&agreements) {
            sites.push(site);
        }
        predicted
    }

    /// What came of it.
    pub fn report(self) -> LossReport {
        let offers = &self.report.offers;
        let lost = self.groups.into_iter();
        let lost = lost.map(|((stack, effect, reason, reached_by), sites)| LostGroup {
            stack: offers[stack].stack.clone(),
            reached_by,
            effect,
            reason,
            sites,
        });
        let lost = lost.collect();
        LossReport {
            lost,
            ..self.report
        }
    }
}

impl LossReport {
    /// Of what the stacks offer, the sites' scans, and the handshakes that were made.
    pub fn new(offers: Vec<Offer>, scans: &[SiteScan], confirmed: Vec<Confirmation>) -> Self {
        let mut losses = Losses::new(offers, confirmed);
        for scan in scans {
            losses.add(scan);
        }
        losses.report()
    }

    /// How many sites it is of.
    pub fn site_count(&self) -> usize {
        self.sites.len() + self.left_out.sites() as usize
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

    /// The effect of taking `stack` in place of one that reaches a site that it cannot agree with for this reason.
    pub fn effect(&self, site: &str, stack: &str, reason: LossReason) -> SwitchEffect {
        effect(site, stack, reason, &self.confirmed)
    }

    /// How many sites `stack` loses that another reaches: those that it refuses to protect the user are none.
    pub fn lost_by(&self, stack: &str) -> usize {
        let is_lost =
            |group: &&LostGroup| group.stack == stack && group.effect == SwitchEffect::LossOfReach;
        let groups = self.lost.iter().filter(is_lost);
        groups.map(|group| group.sites.len()).sum()
    }
}
