//! Two stacks against the same sites: the sites that each stack loses, the reasons, and the results of real
//! handshakes.

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

use crate::{LISTED, predict, predict::is_up_to_the_common_name};

/// The sites that the stacks lose: predicted from hellos and scans, confirmed by handshakes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossReport {
    /// The offer of each stack, in the order of `--against`.
    pub offers: Vec<Offer>,
    /// Each site with the agreement of each stack, in the order of `offers`.
    pub sites: Vec<SiteAgreements>,
    /// Sites that some stack reaches and another does not, by the stack that loses them and the reason. Where
    /// a handshake did not have the predicted result, the handshake counts and not the prediction.
    pub lost: Vec<LostGroup>,
    /// Sites that no stack reaches.
    pub unreachable: Vec<String>,
    /// Sites with an unknown result.
    pub unknown: Vec<String>,
    /// The handshakes that were made.
    pub confirmed: Vec<Confirmation>,
    /// Sites beyond the first thousand on which the stacks do not differ; these are not in `sites`.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

/// Sites that a report does not list: the result is the same for each stack.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Number of sites that every stack reaches, in equally many round trips.
    pub reached: u32,
    /// Number of sites that no stack reaches.
    pub unreachable: u32,
    /// Number of sites with an unknown result.
    pub unknown: u32,
    /// The round trips of each stack, in the order of `offers`.
    #[schemars(extend("x-names" = "/offers"))]
    pub round_trips: Vec<TripTotals>,
}

/// The predicted round trips of a stack to some sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TripTotals {
    /// Number of sites for which they are known.
    pub known: u32,
    /// The sum of the round trips until the first byte of the response, over these sites.
    pub sum: u32,
    /// Number of sites that request another key share.
    pub retried: u32,
    /// Number of sites whose flight is longer than the initial window.
    pub beyond_window: u32,
    /// The maximum number of segments of the ClientHello.
    pub hello_segments: u32,
}

impl TripTotals {
    /// Adds the prediction for one site.
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

    /// Returns the number of sites.
    pub fn sites(&self) -> u32 {
        self.reached + self.unreachable + self.unknown
    }

    /// Counts a site for which the result is the same for each stack; returns false where they differ.
    fn takes(&mut self, agreements: &[Agreement]) -> bool {
        let trips = agreements.iter().filter_map(Agreement::round_trips);
        let first_bytes: BTreeSet<u32> = trips.map(|trips| trips.first_byte).collect();
        let mut all = agreements.iter();
        let count = if all.clone().all(Agreement::agrees) && first_bytes.len() <= 1 {
            &mut self.reached
        } else if all.clone().all(|a| matches!(a, Agreement::Loses { .. })) {
            &mut self.unreachable
        } else if all.all(|a| matches!(a, Agreement::Unknown { .. })) {
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

/// A site with the agreement of each stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteAgreements {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// One agreement for each stack.
    #[schemars(extend("x-names" = "/offers"))]
    pub agreements: Vec<Agreement>,
}

/// Sites that a stack loses for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostGroup {
    /// The stack that loses them.
    #[schemars(extend("x-key" = "first"))]
    pub stack: String,
    /// The stacks that reach them.
    pub reached_by: Vec<String>,
    /// The reason for the loss.
    #[schemars(extend("x-key" = "item"))]
    pub reason: LossReason,
    /// The effect of replacing the stacks that reach them by this stack.
    #[serde(default = "loss_of_reach")]
    pub effect: SwitchEffect,
    /// The sites, each with the reason in words.
    pub sites: BTreeMap<String, String>,
}

fn loss_of_reach() -> SwitchEffect {
    SwitchEffect::LossOfReach
}

/// Compares the result of a handshake with its prediction.
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

/// Returns the agreement that a handshake shows where it differs from the prediction, or where there was no
/// prediction; `None` where the prediction stands.
fn shown(confirmation: &Confirmation) -> Option<Agreement> {
    let is_unpredicted = matches!(confirmation.predicted, Agreement::Unknown { .. });
    if confirmation.verdict != Confirmed::Mismatch && !is_unpredicted {
        return None;
    }
    match (&confirmation.seen, &confirmation.predicted) {
        (HandshakeResult::Failed { in_tls: false, .. }, _) => None,
        (HandshakeResult::Failed { class, reason, .. }, predicted) => {
            let by = match class.as_str() {
                "certificate" if is_up_to_the_common_name(predicted) => LossReason::CommonNameOnly,
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
            return Confirmed::Unreported;
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
                // As below: the value was not observed, or not predicted.
                _ => true,
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

/// Returns whether a value is as predicted. A value that a stack does not report is no mismatch, nor is a value that
/// was not predicted.
fn fits(due: Option<&String>, seen: Option<&String>, or: &[String]) -> bool {
    seen.is_none_or(|seen| {
        due.is_none_or(|due| due.eq_ignore_ascii_case(seen)) || or.contains(seen)
    })
}

fn settle(site: &SiteAgreements, offers: &[Offer], confirmed: &[Confirmation]) -> Vec<Agreement> {
    offers
        .iter()
        .zip(&site.agreements)
        .map(|(offer, predicted)| {
            let mut handshakes = confirmed
                .iter()
                .filter(|c| c.site == site.site && c.stack == offer.stack);
            let seen = handshakes.find_map(shown);
            seen.unwrap_or_else(|| predicted.clone())
        })
        .collect()
}

/// Returns the effect of a stack that cannot agree with a site that another can agree with. A certificate's
/// fault is the one that the stack reported in a handshake; without one, it is that of a certificate that
/// clients refuse.
fn effect(site: &str, stack: &str, reason: LossReason, confirmed: &[Confirmation]) -> SwitchEffect {
    let mut handshakes = confirmed
        .iter()
        .filter(|c| c.site == site && c.stack == stack);
    let fault = handshakes.find_map(|handshake| match &handshake.seen {
        HandshakeResult::Failed { reason, .. } => CertificateFault::ALL
            .iter()
            .find(|fault| fault.name() == reason),
        HandshakeResult::Handshake { .. } => None,
    });
    let standing = match (reason, fault) {
        (LossReason::Certificate, Some(fault)) => Standing::of_disputed_fault(*fault),
        (LossReason::Certificate, None) => Standing::Unsafe,
        _ => Standing::Dated,
    };
    match standing {
        Standing::Unsafe => SwitchEffect::GainInSecurity,
        Standing::Sound | Standing::Dated | Standing::Moot => SwitchEffect::LossOfReach,
    }
}

/// A [`LossReport`] that is built one site at a time.
#[derive(Debug)]
pub struct Losses {
    report: LossReport,
    groups: BTreeMap<Group, BTreeMap<String, String>>,
}

/// The index of the stack that loses sites, the effect, the reason for the loss, and the stacks that reach
/// them.
type Group = (usize, SwitchEffect, LossReason, Vec<String>);

impl Losses {
    /// Makes a report without sites.
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

    /// Adds a site, and returns the prediction for each stack.
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
        if !agreements
            .iter()
            .all(|a| !matches!(a, Agreement::Unknown { .. }))
        {
            unknown.push(site.site.clone());
        } else if reached_by.is_empty() {
            unreachable.push(site.site.clone());
        }
        if sites.len() < LISTED || !left_out.takes(&agreements) {
            sites.push(site);
        }
        predicted
    }

    /// Returns the report.
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
    /// Returns the number of sites.
    pub fn site_count(&self) -> usize {
        self.sites.len() + self.left_out.sites() as usize
    }

    /// Returns the agreement of each stack with a site: by a handshake where one did not have the predicted
    /// result, otherwise by the prediction.
    pub fn settled(&self, site: &SiteAgreements) -> Vec<Agreement> {
        settle(site, &self.offers, &self.confirmed)
    }

    /// Returns the handshakes that did not have the predicted result.
    pub fn mismatches(&self) -> impl Iterator<Item = &Confirmation> {
        self.confirmed
            .iter()
            .filter(|c| c.verdict == Confirmed::Mismatch)
    }

    /// Returns the effect of replacing a stack that reaches a site by `stack`, which cannot agree with it for
    /// this reason.
    pub fn effect(&self, site: &str, stack: &str, reason: LossReason) -> SwitchEffect {
        effect(site, stack, reason, &self.confirmed)
    }

    /// Returns the number of sites that `stack` loses and another reaches, without those that it refuses to
    /// protect the user.
    pub fn lost_by(&self, stack: &str) -> usize {
        let groups = self.lost.iter();
        let groups = groups
            .filter(|group| group.stack == stack && group.effect == SwitchEffect::LossOfReach);
        groups.map(|group| group.sites.len()).sum()
    }
}
