//! A finding: a difference between two stacks that users of the client meet.

use std::cmp::Reverse;

use netbench_model::{ClientUse, SwitchEffect, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::share::{Share, ShareRank};
use crate::text::capital;

/// Maximum number of characters of a finding's line.
pub(super) const LONGEST_LINE: usize = 100;

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
        format!("{}{rest}", capital(&family))
    }

    /// Returns the rank: severity, then the share, and then the number of cases. The family's name makes the order independent of
    /// that of the catalogue.
    pub(super) fn rank(&self, client: ClientUse) -> (u8, ShareRank, Reverse<usize>, String) {
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

    pub(super) fn rank(self, client: ClientUse) -> u8 {
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
