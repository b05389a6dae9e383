//! Characteristics of sites that go with one stack being faster. Start reading at [`explain`].

mod bimodal;
mod characteristics;
mod document;
mod sentences;
mod shared;

use std::{cmp::Ordering, collections::BTreeMap};

use itertools::Itertools;
use netbench_model::{Condition, ConnectManifest, Phase, Sample, StackName};
use netbench_stats::{Change, Contrast, Pair, Resampling, compare as paired, contrast};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ColdRow, Comparison, Head, SummaryHead,
    connect::{Matched, cold, compare, head, latest, match_up, median_of, rtts},
    differences::against_first,
    document::Section,
    row::differs,
};

use self::characteristics::Traits;

/// The characteristics that go with one stack being faster. Every ratio is the other stack's total time over the
/// first one's: under 1, the other is faster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run.
    pub run: Head,
    /// One for each condition and each stack except the first.
    pub explanations: Vec<Explanation>,
    /// Each condition compared with the others, if there are several: one row for each.
    pub conditions: Vec<ConditionRow>,
    /// Totals that come in two modes, a round trip or a timer of TCP apart.
    pub bimodal: Vec<BimodalRow>,
    /// Each stack's cost of the first connection of a process beyond a later one, by cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cold: Vec<ColdRow>,
}

/// One stack compared with another under one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The condition.
    pub condition: Condition,
    /// The first stack.
    pub first: StackName,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other: StackName,
    /// The ratio over all sites; absent if no pair could be compared.
    pub overall: Option<Change>,
    /// The strongest few findings, a sentence each.
    pub sentences: Vec<String>,
    /// Every value of every characteristic that some sites have and others do not.
    pub characteristics: Vec<CharacteristicRow>,
    /// The sites on which the stack that is slower overall wins, and the difference.
    pub against: Vec<AgainstRow>,
    /// The common characteristics of those sites.
    pub shared: Vec<SharedRow>,
}

/// The sites that have one value of a characteristic, and their difference from the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CharacteristicRow {
    /// The characteristic, such as `key`.
    #[schemars(extend("x-key" = "item"))]
    pub characteristic: String,
    /// Its value, such as `ecdsa-p256`.
    #[schemars(extend("x-key" = "item"))]
    pub value: String,
    /// Number of sites with the value.
    pub sites: u64,
    /// The ratio on these sites.
    #[serde(alias = "paired")]
    pub change: Change,
    /// The median of the other's total less the first's on these sites, in nanoseconds: unlike the ratio, it does
    /// not shrink with a long round trip.
    pub difference_ns: f64,
    /// The ratio on these sites over that on all other sites.
    pub contrast: Contrast,
}

/// A condition compared with all others of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionRow {
    /// The first stack.
    pub first: StackName,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other: StackName,
    /// The condition as the value of a characteristic.
    #[serde(flatten)]
    pub row: CharacteristicRow,
}

/// A site on which the stack that is slower overall is faster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgainstRow {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The ratio on the site.
    #[schemars(extend("x-unit" = "other/first"))]
    pub ratio: f64,
    /// The median of the other's total less the first's, in nanoseconds.
    pub difference_ns: f64,
    /// Its characteristics, by name.
    pub characteristics: BTreeMap<String, String>,
}

/// A value that the listed sites have more often than the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedRow {
    /// The characteristic.
    #[schemars(extend("x-key" = "item"))]
    pub characteristic: String,
    /// The value.
    #[schemars(extend("x-key" = "item"))]
    pub value: String,
    /// Number of listed sites with the value.
    pub listed_with: u64,
    /// Number of listed sites.
    pub listed: u64,
    /// Number of other sites with the value.
    pub others_with: u64,
    /// Number of other sites.
    pub others: u64,
    /// The chance that as many of the listed sites would have the value if they were a random sample (Fisher's
    /// exact test, one-sided), times the number of values tested.
    pub chance: f64,
}

/// Totals of one stack on one site that come in two modes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BimodalRow {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The stack.
    pub stack: StackName,
    /// The condition.
    pub condition: Condition,
    /// The median of the faster mode, in nanoseconds.
    pub lower_ns: f64,
    /// The median of the slower mode, in nanoseconds.
    pub upper_ns: f64,
    /// The distance of the modes, in round trips of the site.
    pub round_trips: f64,
    /// The cause of the slower mode, if the packets of its connections confirm one and those of the faster mode
    /// lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<ModeCause>,
    /// The part of the connection in which the slower mode loses that time: `TCP connect`, `TLS handshake`, `first
    /// byte`, or `body`.
    #[schemars(extend("x-key" = "item"))]
    pub part: String,
    /// Number of connections in the slower mode.
    pub slower: u64,
    /// Number of connections.
    pub connections: u64,
}

/// The cause of a slower mode, as packets confirm it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModeCause {
    /// A SYN was retransmitted.
    LostSyn,
    /// A segment with data was retransmitted.
    LostData,
    /// Data waited for an acknowledgement that its receiver delayed by the timer of RFC 1122 section 4.2.3.2, which is 40 ms in Linux.
    DelayedAck,
    /// Data waited for an acknowledgement that was sent at once: the congestion window was full, or Nagle's algorithm held it back.
    AckWait,
}

impl ModeCause {
    /// Returns the cause in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::LostSyn => "a lost SYN",
            Self::LostData => "lost data",
            Self::DelayedAck => "a delayed ACK",
            Self::AckWait => "a wait for an ACK",
        }
    }
}

/// Computes the characteristics that go with one stack being faster, for each stack compared with the first, or for
/// the two named `stacks`. The same manifest and samples give the same summary.
pub fn explain(
    manifest: &ConnectManifest,
    samples: &[Sample],
    stacks: Option<(&StackName, &StackName)>,
) -> ExplainSummary {
    let measured = latest(samples);
    let plan = &manifest.plan;
    let sides: Vec<(&StackName, &StackName)> = match stacks {
        Some(sides) => vec![sides],
        None => against_first(&plan.stacks).collect(),
    };
    let rtts = rtts(manifest, &measured);
    let mut explanations = Vec::new();
    let mut conditions = Vec::new();
    for (first, other) in &sides {
        let matched = plan.conditions.iter().map(|condition| {
            let pairs = match_up(&measured, *condition, first, other);
            (*condition, pairs.matched)
        });
        let matched: Vec<(Condition, Vec<Matched<'_>>)> = matched.collect();
        for (condition, pairs) in &matched {
            let traits = Traits::of(manifest, pairs, &rtts);
            let comparison = compare(manifest, &measured, *condition, first, other).0;
            explanations.push(explanation(manifest, &comparison, pairs, &traits));
        }
        conditions.extend(by_condition(manifest, (first, other), &matched));
    }
    ExplainSummary {
        head: SummaryHead {
            kind: "explain".to_owned(),
            ..SummaryHead::of(manifest)
        },
        run: head(manifest, &measured),
        explanations,
        conditions,
        bimodal: bimodal::bimodal_rows(&measured, &sides, &rtts),
        cold: cold(&plan.stacks, samples),
    }
}

/// Returns the same as a section of a run's report, for formats with room for it; `None` if no pair can be
/// compared.
pub(crate) fn explain_section(manifest: &ConnectManifest, samples: &[Sample]) -> Option<Section> {
    let summary = explain(manifest, samples, None);
    let mut explanations = summary.explanations.iter();
    let any = explanations.any(|explanation| !explanation.characteristics.is_empty());
    any.then(|| Section {
        id: "connect-why".to_owned(),
        heading: "Which sites are faster, and what they have in common".to_owned(),
        ..document::section(&summary)
    })
}

fn explanation(
    manifest: &ConnectManifest,
    comparison: &Comparison,
    pairs: &[Matched<'_>],
    traits: &Traits,
) -> Explanation {
    let seed = manifest.plan.seed;
    // The total's ratio is that of the run's own report: one verdict, wherever it is shown.
    let overall = comparison.phase(Phase::Total).map(|row| row.change);
    let values = traits.values();
    // The rows of the table are read together, so that they form a family.
    let settings = Resampling::for_family(seed, values.len());
    let characteristics = values.iter().filter_map(|(characteristic, value, sites)| {
        let (inside, outside): (Vec<_>, Vec<_>) =
            pairs.iter().partition(|pair| sites.contains(pair.site));
        row((characteristic, value), &inside, &outside, &settings)
    });
    let characteristics = characteristics.sorted_by(by_strength).collect();
    let (against, shared) = shared::against(overall.as_ref(), &comparison.sites, traits);
    let mut explanation = Explanation {
        condition: comparison.condition,
        first: comparison.first.clone(),
        other: comparison.other.clone(),
        overall,
        sentences: Vec::new(),
        characteristics,
        against,
        shared,
    };
    explanation.sentences = sentences::sentences(&explanation);
    explanation
}

fn by_condition(
    manifest: &ConnectManifest,
    (first, other): (&StackName, &StackName),
    matched: &[(Condition, Vec<Matched<'_>>)],
) -> Vec<ConditionRow> {
    let settings = Resampling::for_family(manifest.plan.seed, matched.len());
    let rows = matched.iter().filter_map(|(condition, pairs)| {
        let others = matched.iter().filter(|(other, _)| other != condition);
        let outside = others.flat_map(|(_, pairs)| pairs).collect_vec();
        let inside = pairs.iter().collect_vec();
        let value = ("condition", condition.name());
        Some(ConditionRow {
            first: first.clone(),
            other: other.clone(),
            row: row(value, &inside, &outside, &settings)?,
        })
    });
    rows.collect()
}

/// Compares the pairs of sites that have this value of a characteristic with all others.
fn row(
    (characteristic, value): (&str, &str),
    inside: &[&Matched<'_>],
    outside: &[&Matched<'_>],
    settings: &Resampling,
) -> Option<CharacteristicRow> {
    let [one, rest] = [inside, outside].map(|pairs| {
        let ratios = pairs.iter().map(|pair| pair.totals().ratio());
        ratios.collect::<Vec<Pair>>()
    });
    let sites = inside.iter().map(|pair| pair.site).unique();
    Some(CharacteristicRow {
        characteristic: characteristic.to_owned(),
        value: value.to_owned(),
        sites: sites.count() as u64,
        change: paired(&one, settings)?,
        difference_ns: median_of(inside, |pair| pair.totals().difference_ns())?,
        contrast: contrast(&one, &rest, settings)?,
    })
}

/// Orders decided rows first, and among them those that are furthest from the rest.
fn by_strength(a: &CharacteristicRow, b: &CharacteristicRow) -> Ordering {
    let [of_a, of_b] = [a, b].map(|row| {
        let contrast = &row.contrast;
        (differs(contrast.verdict), contrast.ratio.ln().abs())
    });
    of_b.0
        .cmp(&of_a.0)
        .then(of_b.1.total_cmp(&of_a.1))
        .then_with(|| (&a.characteristic, &a.value).cmp(&(&b.characteristic, &b.value)))
}
