use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{
    Condition, EarlyDataStatus, EchStatus, FailureClass, LinkKind, LinkRecord, Origin, Phase,
    Profile, StackName, Target,
};
use netbench_stats::Figures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ColdRow, EarlyDataRow, EchRow, LossSummary, SweepSummary};
use crate::{
    Row, RunHead, SummaryHead,
    text::{count, places, site_words},
};

/// The summary of a `connect` run. Every ratio is the other stack's time over the first one's: under 1, the other
/// is faster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run.
    pub run: Head,
    /// One for each condition and each stack except the first.
    pub comparisons: Vec<Comparison>,
    /// The results of a sweep; absent if the run is not a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepSummary>,
    /// Each stack's cost of the first connection of a process beyond a later one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cold: Vec<ColdRow>,
    /// Each stack's saving by early data, beside resumed connections to the same sites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early_data: Vec<EarlyDataRow>,
    /// Each stack's cost of Encrypted ClientHello, beside ordinary hellos to equal sites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ech: Vec<EchRow>,
    /// The sites that failed on each stack, and the reasons.
    pub failures: Vec<FailureRow>,
    /// Connections that were not attempted, and the reasons.
    pub unsupported: Vec<UnsupportedRow>,
    /// Pairs that were left out because the two sides did different work.
    pub left_out: Vec<Exclusion>,
    /// Negotiated parameters.
    pub negotiated: Vec<NegotiatedRow>,
    /// The path between client and sites.
    pub link: LinkRecord,
    /// The losses of the links, if they lose packets by the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossSummary>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
    /// The machine.
    pub environment: BTreeMap<String, String>,
}

/// The run that a summary is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The target of the sites.
    pub target: Target,
    /// Number of sites. A swept site counts once.
    pub sites: u64,
    /// Number of points at which each site was measured, in a sweep. Absent in summaries of earlier versions, in
    /// which `sites` counts sites at points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u64>,
    /// Number of planned rounds.
    pub rounds: u32,
    /// The configuration profile of the connectors. Absent in summaries of earlier versions.
    #[serde(default)]
    pub client_profile: Option<Profile>,
    /// The stacks, with library, provider and connector.
    pub stacks: BTreeMap<StackName, String>,
    /// Number of measured samples, out of those planned.
    pub samples: u64,
    /// Number of planned samples.
    pub planned: u64,
    /// Vantage point, shard, and the runs from which it was merged.
    #[serde(default)]
    pub origin: Origin,
}

/// One stack compared with the first, under one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The condition.
    pub condition: Condition,
    /// The first stack.
    pub first: StackName,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other: StackName,
    /// Each phase that both have.
    pub phases: Vec<PhaseRow>,
    /// The sites, by total time.
    pub sites: SiteTally,
    /// The sites, by the phases that both have: the connector, the handshake and the verification. Absent in summaries
    /// of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_phases: Vec<SitePhase>,
    /// The shares of the total time, by class of round-trip time.
    pub shares: Vec<ShareRow>,
}

/// One phase of two stacks, with the times of the compared pairs.
pub type PhaseRow = Row<PhaseOf, Figures>;

/// The phase of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseOf {
    /// The phase.
    pub phase: Phase,
}

/// The sites by the time of one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SitePhase {
    /// The phase.
    pub phase: Phase,
    /// The sites. Wall clock of the connector has no verdicts, but intervals.
    #[serde(flatten)]
    pub sites: SiteTally,
}

/// The number of sites on which each stack is faster by total time, or by that of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiteTally {
    /// Number of sites on which the other stack is faster.
    pub other_faster: u64,
    /// Number of sites on which the first stack is faster.
    pub first_faster: u64,
    /// Number of sites on which both are the same.
    pub same: u64,
    /// Number of sites whose interval contains the limit.
    pub undecided: u64,
    /// Number of sites with too few rounds for an interval. Earlier versions counted them as undecided.
    #[serde(default)]
    pub not_judged: u64,
    /// Number of sites with no pair that could be compared.
    pub not_compared: u64,
    /// Expected number of sites on which one of two equal stacks, either of them, would be called faster by chance.
    pub expected_by_chance: f64,
    /// Each site, beginning with the one on which the other stack gains most.
    pub rows: Vec<SiteRow>,
}

/// One site, with the median times of both stacks.
pub type SiteRow = Row<SiteOf>;

/// The site of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteOf {
    /// Its name.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The emulated round-trip time, or the smallest seen on the real network, in nanoseconds; 0 over loopback,
    /// which has none.
    pub rtt_ns: u64,
}

/// The shares of the total time, for the sites of one class of round-trip time. Means, so that they add up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareRow {
    /// The class, such as `10–30 ms`; a dash over loopback, which has none.
    #[schemars(extend("x-key" = "item"))]
    pub class: String,
    /// The stack.
    #[schemars(extend("x-key" = "item"))]
    pub stack: StackName,
    /// Number of samples.
    pub samples: u64,
    /// Mean total.
    pub total_ns: f64,
    /// Mean CPU time of the client, mostly of its stack.
    pub client_ns: f64,
    /// Mean time of the server's computation in its handshake, as the server reports; 0 if it does not report it.
    pub server_ns: f64,
    /// The rest: the network, the kernels, and waiting for a core.
    pub network_ns: f64,
}

/// A site that failed on a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureRow {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The stack.
    pub stack: StackName,
    /// The condition.
    pub condition: Condition,
    /// The class.
    pub class: FailureClass,
    /// The short reason.
    pub reason: String,
    /// The stack's own words for the first failure.
    pub detail: String,
    /// Number of failed trials.
    pub failed: u64,
    /// Number of trials.
    pub trials: u64,
}

/// Connections that were not attempted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnsupportedRow {
    /// The condition.
    pub condition: Condition,
    /// The stack.
    pub stack: StackName,
    /// The reason.
    pub reason: String,
    /// The sites.
    pub sites: Vec<String>,
    /// Number of connections that were not made.
    #[serde(default)]
    pub samples: u64,
}

/// Pairs of one site that were left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exclusion {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The condition.
    pub condition: Condition,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other: StackName,
    /// The difference.
    pub why: String,
    /// Number of pairs.
    pub pairs: u64,
}

/// Negotiated parameters, with their frequency.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NegotiatedRow {
    /// The condition.
    pub condition: Condition,
    /// The stack.
    pub stack: StackName,
    /// The TLS version.
    pub version: String,
    /// The cipher suite.
    pub suite: String,
    /// The group.
    pub group: Option<String>,
    /// The application protocol.
    pub alpn: Option<String>,
    /// Whether sessions were resumed.
    pub resumed: bool,
    /// The outcome of early data, if it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_data: Option<EarlyDataStatus>,
    /// The outcome of Encrypted ClientHello according to the server, if it was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ech: Option<EchStatus>,
    /// Number of connections.
    pub connections: u64,
}

impl ConnectSummary {
    /// Returns whether the sites were emulated without a network: times are then those of loopback, without any
    /// waiting.
    pub fn is_loopback(&self) -> bool {
        self.run.target == Target::Lab && self.link.kind == LinkKind::None
    }

    /// Returns ` over loopback` if that is so; every time is followed by it.
    pub(crate) fn over(&self) -> &'static str {
        if self.is_loopback() {
            " over loopback"
        } else {
            ""
        }
    }

    /// Returns the site of a name in samples; in a sweep, a point follows the site in the name.
    pub(crate) fn site_of<'a>(&self, name: &'a str) -> &'a str {
        match self.run.points {
            Some(_) => name.rsplit_once('@').map_or(name, |(site, _)| site),
            None => name,
        }
    }

    /// Counts rows, which are of sites, or in a sweep of sites at points.
    pub(crate) fn count_rows(&self, rows: impl TryInto<u64>) -> String {
        match self.run.points {
            Some(_) => combinations(self.run.target, rows),
            None => count(rows, "site", "sites"),
        }
    }

    /// Returns the sites in words: `2 emulated sites at 3 points each`.
    pub(super) fn places(&self) -> String {
        let places = places(self.run.target, self.run.sites);
        match self.run.points {
            Some(points) => format!("{places} at {} each", count(points, "point", "points")),
            None => places,
        }
    }

    /// Returns each two stacks that were compared.
    pub(super) fn switches(&self) -> impl Iterator<Item = (&StackName, &StackName)> {
        let comparisons = self.comparisons.iter();
        let switches = comparisons.map(|comparison| (&comparison.first, &comparison.other));
        switches.unique()
    }

    /// Returns whether any two stacks could be compared.
    pub fn compares(&self) -> bool {
        let mut comparisons = self.comparisons.iter();
        comparisons.any(|comparison| !comparison.phases.is_empty())
    }

    /// Returns the difference for which most pairs of the first stack and `other` were left out; of first connections
    /// only if there are no others.
    pub(crate) fn most_different(&self, other: &StackName) -> Option<&str> {
        let left_out = self.left_out.iter().filter(|row| row.other == *other);
        let usual = left_out.max_by_key(|row| (row.condition != Condition::Cold, row.pairs))?;
        Some(&usual.why)
    }

    /// Returns whether `from` and `to` did different work with more sites than could be compared, first connections
    /// aside.
    pub fn did_other_work(&self, from: &StackName, to: &StackName) -> bool {
        let left_out = self.left_out.iter();
        let left_out = left_out.filter(|row| row.other == *to && row.condition != Condition::Cold);
        let other: BTreeSet<&str> = left_out.map(|row| row.site.as_str()).collect();
        let comparisons = self.comparisons.iter();
        let comparisons = comparisons.filter(|comparison| {
            comparison.first == *from
                && comparison.other == *to
                && comparison.condition != Condition::Cold
        });
        let same: BTreeSet<&str> = comparisons
            .flat_map(|comparison| &comparison.sites.rows)
            .map(|row| row.key.site.as_str())
            .collect();
        other.difference(&same).count() > same.len()
    }
}

impl Comparison {
    /// Returns a phase, if both stacks have it.
    pub(crate) fn phase(&self, phase: Phase) -> Option<&PhaseRow> {
        self.phases.iter().find(|row| row.key.phase == phase)
    }

    /// Returns the subject: `clean connections, rustls-ring against openssl`.
    pub(super) fn about(&self) -> String {
        format!(
            "{} connections, {} against {}",
            self.condition, self.other, self.first
        )
    }
}

impl SiteTally {
    /// Returns the number of sites with each verdict in words; `faster` counts those on which the other stack is faster.
    pub(super) fn in_words(&self, other: &StackName, faster: &str) -> String {
        let not_judged = match self.not_judged {
            0 => String::new(),
            sites => format!(", not judged on {sites}"),
        };
        format!(
            "{other} is faster on {faster}, slower on {}, the same on {}, undecided on {}{not_judged}.",
            self.first_faster, self.same, self.undecided
        )
    }

    /// Returns whether any site has enough rounds for an interval.
    pub(super) fn has_intervals(&self) -> bool {
        self.rows.iter().any(|row| row.change.interval.is_some())
    }
}

impl PhaseRow {
    pub(super) fn words(&self) -> &'static str {
        phase_words(self.key.phase)
    }
}

/// Counts the sites of a sweep once at each point.
pub(super) fn combinations(target: Target, rows: impl TryInto<u64>) -> String {
    let [site, _] = site_words(target);
    count(
        rows,
        &format!("combination of {site} and point"),
        &format!("combinations of {site} and point"),
    )
}

/// Returns a phase in words for a reader who has not read the manual.
pub(super) fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Connector => "connector set-up, CPU",
        Phase::ConnectorWall => "connector set-up, wall clock",
        Phase::Dns => "name lookup",
        Phase::Tcp => "TCP connect",
        Phase::Tls => "TLS handshake",
        Phase::Verify => "chain verification",
        Phase::FirstByte => "first byte",
        Phase::Total => "total",
        Phase::Cpu => "client CPU",
    }
}
