//! The findings of two stacks: the differences by family, with the number of users who meet them, ranked.

use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{ClientUse, LostSite, Target};

use super::{
    evidence::Evidence,
    families::{Families, Member},
    finding::{Finding, Severity},
    question::Answer,
    share::Share,
};
use crate::text::named_site;

/// Differences that are being collected by family and severity.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<(String, Severity), Finding>);

impl Findings {
    /// Adds a difference that the cases of `evidence` show. The catalogue has its family by `name`; `about` describes a
    /// difference that the catalogue does not have.
    pub(super) fn add(
        &mut self,
        (kind, name): (Member, &str),
        about: &str,
        severity: Severity,
        evidence: impl IntoIterator<Item = String>,
    ) -> &mut Finding {
        let family = Families::built_in().of(kind, name);
        let (name, meets, advice) = match family {
            Some(family) => (&*family.name, &*family.meets, &*family.advice),
            None => (name, about, OTHER_ADVICE),
        };
        let published = family.and_then(|family| family.share.clone());
        let key = (name.to_owned(), severity);
        let finding = self.0.entry(key).or_insert_with(|| Finding {
            family: name.to_owned(),
            severity,
            share: published.map_or(Share::Unknown, Share::Published),
            meets: meets.to_owned(),
            evidence: Vec::new(),
            advice: advice.to_owned(),
        });
        for shown in evidence {
            if !finding.evidence.contains(&shown) {
                finding.evidence.push(shown);
            }
        }
        finding
    }

    /// Adds a feature that is missing, as `shown` says.
    pub(super) fn lacks(&mut self, feature: &str, shown: String) {
        let about = "Users of sites that need the feature.";
        let feature = (Member::Feature, feature);
        self.add(feature, about, Severity::LacksFeature, [shown]);
    }

    /// Adds a protocol test in which the stack crashes.
    pub(super) fn crash(&mut self, test: &str) {
        let shown = [test.to_owned()];
        self.add((Member::Defect, test), "", Severity::Crashes, shown);
    }

    /// Adds a site of a scan, of `compared`, that is lost or that is wrongly accepted.
    pub(super) fn site(
        &mut self,
        site: &LostSite,
        severity: Severity,
        compared: u64,
        target: Target,
    ) {
        let reason = (Member::Loss, site.reason.as_str());
        let shown = [named_site(target, &site.site)];
        let finding = self.add(reason, &site.detail, severity, shown);
        let before = match finding.share {
            Share::Scanned { sites, .. } => sites,
            Share::Published(_) | Share::Unknown => 0,
        };
        finding.share = Share::Scanned {
            sites: before + 1,
            of: compared,
        };
    }

    /// Returns whether any finding makes the answer worse. False accepts do so if their number exceeds the limit.
    pub(super) fn count(&self, evidence: &Evidence<'_>) -> bool {
        let accepts = evidence.of_false_accepts(self.false_accepts());
        self.0.keys().any(|(_, severity)| match severity {
            Severity::RefusedByBrowsersToo => false,
            Severity::AcceptsForbidden => accepts != Answer::Yes,
            Severity::Crashes | Severity::DoesNotLoad | Severity::LacksFeature => true,
        })
    }

    /// Returns the number of servers, chains and tests that the stack accepts and must refuse.
    pub(super) fn false_accepts(&self) -> usize {
        let findings = self.0.values();
        let accepts = findings.filter(|finding| finding.severity == Severity::AcceptsForbidden);
        accepts.map(|finding| finding.evidence.len()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the findings; the most severe ones come first, and among those the ones that most users meet.
    pub(super) fn ranked(self, client: ClientUse) -> Vec<Finding> {
        let all = self.0.into_values();
        all.sorted_by_cached_key(|finding| finding.rank(client))
            .collect()
    }
}

/// The advice about a case that the built-in catalogue does not have.
const OTHER_ADVICE: &str = "Look at the case in the tables.";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{
            families::{Counted, PublishedShare, ShareOf},
            finding::LONGEST_LINE,
            question::{Question, SHOWN},
        },
        *,
    };

    const SEVERITIES: [Severity; 5] = [
        Severity::Crashes,
        Severity::AcceptsForbidden,
        Severity::DoesNotLoad,
        Severity::LacksFeature,
        Severity::RefusedByBrowsersToo,
    ];

    fn share() -> impl Strategy<Value = Share> {
        let counted = proptest::sample::select(vec![Counted::Family, Counted::LargerSet]);
        prop_oneof![
            Just(Share::Unknown),
            (0..=50_u64, 50..=100_u64).prop_map(|(sites, of)| Share::Scanned { sites, of }),
            (0..=1_000_000_u32, counted).prop_map(|(high_ppm, counted)| Share::Published(
                PublishedShare {
                    low_ppm: 0,
                    high_ppm,
                    counted,
                    of: ShareOf::Sites,
                    year: 2026,
                    source: "a count".to_owned(),
                }
            )),
        ]
    }

    fn finding() -> impl Strategy<Value = Finding> {
        let severity = proptest::sample::select(SEVERITIES.to_vec());
        (severity, share(), 0..30_u8, 0..120_usize).prop_map(|(severity, share, number, length)| {
            Finding {
                family: format!("servers {number} {}", "é".repeat(length)),
                severity,
                share,
                meets: "Users.".to_owned(),
                evidence: vec!["a/case".to_owned()],
                advice: "Wait.".to_owned(),
            }
        })
    }

    fn ranked(findings: &[Finding], client: ClientUse) -> Vec<Finding> {
        let mut all = Findings::default();
        for finding in findings {
            let key = (finding.family.clone(), finding.severity);
            all.0.entry(key).or_insert_with(|| finding.clone());
        }
        all.ranked(client)
    }

    proptest! {
        #[test]
        fn what_is_more_severe_never_ranks_below_with_the_same_share(
            findings in proptest::collection::vec(finding(), 0..30),
            client in proptest::sample::select(ClientUse::ALL),
        ) {
            let all = ranked(&findings, client);
            for (first, next) in all.iter().tuple_windows() {
                let severities = [first, next].map(|finding| finding.severity.rank(client));
                prop_assert!(severities[0] <= severities[1]);
                if severities[0] == severities[1] {
                    let shares = [first, next].map(|finding| finding.share.rank());
                    prop_assert!(shares[0] <= shares[1], "{:?}", shares);
                }
            }
        }

        #[test]
        fn the_order_does_not_depend_on_that_of_the_catalogue(
            findings in proptest::collection::vec(finding(), 0..30),
        ) {
            // The first of two with one name counts, in each order.
            let once = findings.into_iter().unique_by(|it| (it.family.clone(), it.severity));
            let once: Vec<Finding> = once.collect();
            let backwards: Vec<Finding> = once.iter().rev().cloned().collect();
            let client = ClientUse::Browser;
            prop_assert_eq!(ranked(&once, client), ranked(&backwards, client));
        }

        #[test]
        fn at_most_seven_are_shown_and_each_fits_its_line(
            findings in proptest::collection::vec(finding(), 0..30),
            breaks in 0..30_usize,
        ) {
            let question = Question {
                findings: ranked(&findings, ClientUse::Browser),
                breaks: vec!["a site".to_owned(); breaks],
                ..Question::default()
            };
            let total = question.findings.len() + breaks;
            let groups = question.worst();
            let shown = groups.iter().flat_map(|(_, lines)| lines);
            let shown = shown.filter(|line| !line.starts_with("and ")).count();
            prop_assert_eq!(shown, total.min(SHOWN));
            for finding in &question.findings {
                prop_assert!(finding.line().chars().count() <= LONGEST_LINE);
            }
        }
    }

    #[test]
    fn no_built_in_family_is_cut() {
        for family in &Families::built_in().all {
            for severity in SEVERITIES {
                let share = family
                    .share
                    .clone()
                    .map_or(Share::Unknown, Share::Published);
                let finding = Finding {
                    family: family.name.clone(),
                    severity,
                    share,
                    meets: family.meets.clone(),
                    evidence: Vec::new(),
                    advice: family.advice.clone(),
                };
                assert!(!finding.line().contains('…'), "{}", finding.line());
            }
        }
    }
}
