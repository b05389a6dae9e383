//! Findings: the differences between two stacks by family, with the number of users who meet them, ranked.

use std::{cmp::Reverse, collections::BTreeMap};

use itertools::Itertools;
use netbench_model::{ClientUse, LostSite, SwitchEffect, Target, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Evidence, Families, Member, Question, Share, share::ShareRank};
use crate::{
    cell::Cell,
    document::{Item, Section, Table},
    text::{named_site, some_of},
};

/// Maximum number of findings that a card and a terminal show for a question.
const SHOWN: usize = 7;

/// Maximum number of characters of a finding's line.
const LONGEST_LINE: usize = 100;

/// Number of cases of a finding that its row names.
const NAMED: usize = 8;

/// A change that users of the client meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The family of the differences.
    #[schemars(extend("x-key" = "item"))]
    pub family: String,
    /// The effect on a user.
    #[schemars(extend("x-key" = "other"))]
    pub severity: Severity,
    /// The number of those who meet it.
    pub share: Share,
    /// The users who meet it.
    pub meets: String,
    /// The cases, chains, layouts, sites or features that show it.
    pub evidence: Vec<String>,
    /// The advice in a sentence.
    pub advice: String,
}

/// The effect of a finding on a user.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Hash,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The client crashes or does not end.
    Crashes,
    /// A server is accepted that must be refused to protect the user.
    AcceptsForbidden,
    /// A server is no longer reached.
    DoesNotLoad,
    /// A feature is missing, which a site may or may not need.
    LacksFeature,
    /// A server is no longer reached, and other browsers refuse it too.
    RefusedByBrowsersToo,
}

/// A difference between two stacks.
pub(super) struct Difference<'a> {
    /// The kind of its name.
    pub(super) kind: Member,
    /// The name, by which the catalogue has its family.
    pub(super) name: &'a str,
    /// The description, for a difference that the catalogue does not have.
    pub(super) about: &'a str,
    pub(super) severity: Severity,
    /// The sites of a scan that show it, and the number of all.
    pub(super) scanned: Option<(u64, u64)>,
    pub(super) evidence: Vec<String>,
}

/// Differences that are being collected by family and severity.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<(String, Severity), Finding>);

impl Findings {
    pub(super) fn add(&mut self, difference: Difference<'_>) {
        let family = Families::built_in().of(difference.kind, difference.name);
        let name = family.map_or(difference.name, |family| family.name.as_str());
        let published = family.and_then(|family| family.share.clone());
        let key = (name.to_owned(), difference.severity);
        let finding = self.0.entry(key).or_insert_with(|| Finding {
            family: name.to_owned(),
            severity: difference.severity,
            share: published.map_or(Share::Unknown, Share::Published),
            meets: family
                .map_or(difference.about, |family| family.meets.as_str())
                .to_owned(),
            evidence: Vec::new(),
            advice: family
                .map_or(OTHER_ADVICE, |family| family.advice.as_str())
                .to_owned(),
        });
        if let Some((sites, of)) = difference.scanned {
            let before = match finding.share {
                Share::Scanned { sites, .. } => sites,
                Share::Published(_) | Share::Unknown => 0,
            };
            finding.share = Share::Scanned {
                sites: before + sites,
                of,
            };
        }
        for shown in difference.evidence {
            if !finding.evidence.contains(&shown) {
                finding.evidence.push(shown);
            }
        }
    }

    /// Adds a feature that is missing, as `shown` says.
    pub(super) fn lacks(&mut self, feature: &str, shown: String) {
        self.add(Difference {
            kind: Member::Feature,
            name: feature,
            about: "Users of sites that need the feature.",
            severity: Severity::LacksFeature,
            scanned: None,
            evidence: vec![shown],
        });
    }

    /// Adds a protocol test in which the stack crashes.
    pub(super) fn crash(&mut self, test: &str) {
        self.add(Difference {
            kind: Member::Defect,
            name: test,
            about: "",
            severity: Severity::Crashes,
            scanned: None,
            evidence: vec![test.to_owned()],
        });
    }

    /// Adds a site of a scan, of `compared`, that is lost or that is wrongly accepted.
    pub(super) fn site(
        &mut self,
        site: &LostSite,
        severity: Severity,
        compared: u64,
        target: Target,
    ) {
        self.add(Difference {
            kind: Member::Loss,
            name: &site.reason,
            about: &site.detail,
            severity,
            scanned: Some((1, compared)),
            evidence: vec![named_site(target, &site.site)],
        });
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

impl Finding {
    /// Returns the finding in a line of at most 100 characters.
    pub fn line(&self) -> String {
        let rest = format!(": {} ({})", self.severity.words(), self.share.words());
        let longest = LONGEST_LINE.saturating_sub(rest.chars().count());
        let mut family: String = self.family.chars().take(longest).collect();
        if family.len() < self.family.len() {
            family.pop();
            family.push('…');
        }
        let mut letters = family.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        format!("{}{}{rest}", first.unwrap_or_default(), letters.as_str())
    }

    /// Returns the rank: severity, then the share, and then the number of cases. The family's name makes the order independent of
    /// that of the catalogue.
    fn rank(&self, client: ClientUse) -> (u8, ShareRank, Reverse<usize>, String) {
        (
            self.severity.rank(client),
            self.share.rank(),
            Reverse(self.evidence.len()),
            self.family.clone(),
        )
    }
}

impl Severity {
    /// Returns the severity of an effect that a client's user meets.
    pub(super) fn of(effect: SwitchEffect, weight: Weight) -> Self {
        match (effect, weight) {
            (_, Weight::Listed) => Self::RefusedByBrowsersToo,
            (SwitchEffect::LossInSecurity, _) => Self::AcceptsForbidden,
            _ => Self::DoesNotLoad,
        }
    }

    /// Returns the effect in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Crashes => "the client crashes",
            Self::AcceptsForbidden => "wrongly accepted",
            Self::DoesNotLoad => "do not load",
            Self::LacksFeature => "a feature is missing",
            Self::RefusedByBrowsersToo => "browsers refuse it too",
        }
    }

    fn rank(self, client: ClientUse) -> u8 {
        match (self, client.first_loss()) {
            (Self::Crashes, _) => 0,
            (Self::AcceptsForbidden, SwitchEffect::LossInSecurity)
            | (Self::DoesNotLoad, SwitchEffect::LossOfReach) => 1,
            (Self::AcceptsForbidden | Self::DoesNotLoad, _) => 2,
            (Self::LacksFeature, _) => 3,
            (Self::RefusedByBrowsersToo, _) => 4,
        }
    }
}

/// The heading of losses in security.
const UNDUE: &str = "What it would accept and must refuse:";

/// The heading of all other changes for the worse.
const WORSE: &str = "What would change for the worse:";

impl Question {
    /// Returns the lines for a card and a terminal, at most seven: the worst findings with their advice, and the other
    /// breakages. Losses in security are apart from the others, and have three places where both need more than there are.
    pub(crate) fn worst(&self) -> Vec<(&'static str, Vec<String>)> {
        let (undue, other): (Vec<_>, Vec<_>) = self
            .findings
            .iter()
            .partition(|finding| finding.severity == Severity::AcceptsForbidden);
        let others = other.len() + self.breaks.len();
        let undue_shown = undue.len().min(SHOWN.saturating_sub(others).max(SHOWN / 2));
        let room = SHOWN - undue_shown;
        let breaks_shown = self
            .breaks
            .len()
            .min(room.saturating_sub(other.len()).max(room / 2));
        let other_shown = other.len().min(room - breaks_shown);
        let mut worse = self.breaks[..breaks_shown].to_vec();
        worse.extend(other[..other_shown].iter().map(with_advice));
        let hidden = self.findings.len() + self.breaks.len() - worse.len() - undue_shown;
        let undue = undue[..undue_shown].iter().map(with_advice).collect();
        let mut groups = vec![(WORSE, worse), (UNDUE, undue)];
        let first = self.findings.first().map(|finding| finding.severity);
        if first == Some(Severity::AcceptsForbidden) && self.breaks.is_empty() {
            groups.reverse();
        }
        groups.retain(|(_, lines)| !lines.is_empty());
        if let Some((_, last)) = groups.last_mut().filter(|_| hidden > 0) {
            last.push(format!("and {hidden} more: see the table"));
        }
        groups
    }

    /// Returns the section with all changes for the worse, or `None` if there is no more than the card shows.
    pub(super) fn all_changes(&self, id: &str) -> Option<Section> {
        if self.findings.is_empty() {
            return None;
        }
        let table = Table::of(&self.findings)
            .col("what changes", 0, |finding| Cell::text(&finding.family))
            .col("effect", 0, |finding| Cell::text(finding.severity.words()))
            .col("share", 0, |finding| Cell::text(finding.share.words()))
            .col("who meets it", 2, |finding| Cell::text(&finding.meets))
            .col("shown by", 1, |finding| {
                Cell::text(some_of(NAMED, &finding.evidence))
            })
            .col("what to do", 0, |finding| Cell::text(&finding.advice))
            .col("source of the share", 3, |finding| {
                Cell::text(finding.share.source())
            });
        let mut items = vec![table.item()];
        items.extend(
            self.breaks
                .iter()
                .skip(SHOWN / 2)
                .map(|line| Item::Text(line.clone())),
        );
        let heading = format!("Everything that would be worse: {}", self.question);
        Some(Section::new(id, heading, items).explained(
            "Ranked by severity, then by the upper end of the share. Shares of sites, connections and certificates are compared as \
             they are; findings of which only a larger set was counted (≤) follow, and then those of an unknown share.",
        ))
    }
}

fn with_advice(finding: &&Finding) -> String {
    format!("{}. {}", finding.line(), finding.advice)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{Counted, PublishedShare, ShareOf},
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
