use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use netbench_model::{
    Accepts, Profile, StackName, Standing, SwitchEffect,
    compat::{
        CompatCase, CompatManifest, CompatOutcome, CompatSample, EmbedderView, Expected, Judgement,
        OutsideClient,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    cause::cause,
    outside::{self, CompatDisagreement},
};
use crate::{
    run::{RunHead, SummaryHead},
    text::count,
};

/// The findings of a run of `compat`: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run's settings.
    pub run: CompatHead,
    /// The differences of each stack from the first one, the worst first.
    pub differences: Vec<CompatDifference>,
    /// Servers that a stack accepts and an external client refuses, or vice versa.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<CompatDisagreement>,
    /// The number of cases that each stack and each external client handles correctly.
    pub totals: Vec<CompatTotals>,
    /// Every case, in the catalogue's order.
    pub cases: Vec<CompatRow>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The catalogue.
    pub catalogue: String,
    /// The configuration profile of the connectors.
    pub client_profile: Profile,
    /// The stacks, in the order of the command line, each with its library.
    pub stacks: Vec<CompatStack>,
    /// Browsers and other programs that were tested in addition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<OutsideClient>,
}

/// A stack and its library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatStack {
    /// The stack.
    pub stack: StackName,
    /// Its library.
    pub library: String,
}

/// A case that a stack handles differently from the first stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatDifference {
    /// The case.
    #[schemars(extend("x-key" = "item"))]
    pub case: String,
    /// The server's behaviour.
    pub about: String,
    /// The correct behaviour of a client.
    pub expected: Expected,
    /// The stack.
    #[schemars(extend("x-key" = "other"))]
    pub stack: StackName,
    /// The stack's behaviour.
    pub does: String,
    /// The stack's behaviour compared with the correct one.
    pub judgement: Judgement,
    /// The first stack.
    pub in_place_of: StackName,
    /// The first stack's behaviour.
    pub did: String,
    /// The effect of using the stack in place of the first; absent if both reach the server or neither does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<SwitchEffect>,
    /// The effect of a refusal.
    #[serde(default = "sound")]
    pub standing: Standing,
    /// The effect of the change that the client's user sees.
    pub seen: String,
    /// The advice; absent if the change is an improvement.
    pub advice: Option<String>,
}

fn sound() -> Standing {
    Standing::Sound
}

/// A stack's number of cases with each judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatTotals {
    /// The stack.
    pub stack: StackName,
    /// Number of cases by judgement.
    pub cases: BTreeMap<Judgement, u32>,
}

/// A case, with every stack's behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatRow {
    /// The case.
    #[serde(flatten)]
    pub case: CompatCase,
    /// One cell for each stack, then one for each external client; absent if the client was not tested.
    pub cells: Vec<Option<CompatCell>>,
}

/// A stack's behaviour in a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatCell {
    /// The stack.
    pub stack: StackName,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: CompatOutcome,
    /// The outcome compared with the correct one.
    pub judgement: Judgement,
    /// Further information that the network stack of a browser engine gives its embedder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedder: Option<EmbedderView>,
}

impl fmt::Display for CompatCell {
    /// Formats the outcome in words that every stack shares.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            CompatOutcome::Accepted { .. } => f.pad("accepted"),
            CompatOutcome::Rejected {
                http_status: Some(status),
                ..
            } => write!(f, "rejected: status {status}"),
            CompatOutcome::Rejected { reason, .. } => write!(f, "rejected: {reason}"),
            CompatOutcome::Hang { .. } => f.pad("hang"),
            CompatOutcome::Crash { .. } => f.pad("crash"),
            CompatOutcome::Unsupported { .. } => f.pad("unsupported"),
        }
    }
}

impl CompatSummary {
    /// Returns the losses of the second stack: it crashes, hangs, does not reach a server that the first reaches,
    /// or accepts one that it should refuse. The worst comes first.
    pub fn worse(&self) -> Vec<&CompatDifference> {
        let worse = self.of_second();
        worse
            .filter(|found| found.effect.is_some_and(SwitchEffect::is_loss))
            .collect()
    }

    /// Returns the gains of one kind of the second stack.
    pub fn gains(&self, effect: SwitchEffect) -> Vec<&CompatDifference> {
        let gains = self.of_second();
        gains
            .filter(|found| !effect.is_loss() && found.effect == Some(effect))
            .collect()
    }

    fn of_second(&self) -> impl Iterator<Item = &CompatDifference> {
        let second = self.run.stacks.get(1).map(|of| &of.stack);
        let differences = self.differences.iter();
        differences.filter(move |difference| Some(&difference.stack) == second)
    }

    /// Returns the number of cases with results of both the first and the second stack.
    pub fn told_of_both(&self) -> usize {
        let told = |cell: Option<&Option<CompatCell>>| {
            let cell = cell.and_then(Option::as_ref);
            cell.is_some_and(|cell| cell.judgement != Judgement::Unsupported)
        };
        let of_both = |row: &&CompatRow| told(row.cells.first()) && told(row.cells.get(1));
        self.cases.iter().filter(of_both).count()
    }
}

/// Summarizes a run. If a case was tested twice, the last result counts.
pub fn summarize_compat(manifest: &CompatManifest, samples: Vec<CompatSample>) -> CompatSummary {
    let plan = &manifest.plan;
    let mut found = HashMap::new();
    for sample in samples {
        let told = (sample.outcome, sample.embedder);
        found.insert((sample.case, sample.stack), told);
    }
    let cell = |case: &CompatCase, stack: &StackName| {
        let (outcome, embedder) = found.get(&(case.name.clone(), stack.clone()))?.clone();
        let judgement = Judgement::of(&case.expected, &outcome);
        Some(CompatCell {
            stack: stack.clone(),
            outcome,
            judgement,
            embedder,
        })
    };
    let cases: Vec<CompatRow> = plan
        .cases
        .iter()
        .map(|case| CompatRow {
            cells: plan.tried().map(|stack| cell(case, stack)).collect(),
            case: case.clone(),
        })
        .collect();
    let mut warnings = manifest.warnings.clone();
    warnings.extend(plan.clients.iter().filter_map(outside::warning));
    let missing = cases.iter().flat_map(|row| &row.cells);
    let missing = missing.filter(|cell| cell.is_none()).count();
    if missing > 0 {
        warnings.push(format!(
            "{} not made: the run was ended early",
            count(missing, "try was", "tries were")
        ));
    }
    let library = |stack: &StackName| {
        let mut workers = manifest.workers.iter();
        let worker = workers.find(|worker| worker.stack == stack.stack());
        worker
            .map(|worker| worker.library.clone())
            .unwrap_or_default()
    };
    CompatSummary {
        head: SummaryHead::of(manifest),
        run: CompatHead {
            head: RunHead::of(manifest),
            catalogue: plan.catalogue.clone(),
            client_profile: plan.client_profile,
            stacks: plan
                .stacks
                .iter()
                .map(|stack| CompatStack {
                    stack: stack.clone(),
                    library: library(stack),
                })
                .collect(),
            clients: plan.clients.clone(),
        },
        differences: differences(&plan.stacks, &cases),
        disagreements: outside::disagreements(&plan.stacks, &plan.clients, &cases),
        totals: totals(plan.tried(), &cases),
        cases,
        warnings,
    }
}

fn totals<'a>(
    stacks: impl Iterator<Item = &'a StackName>,
    cases: &[CompatRow],
) -> Vec<CompatTotals> {
    let of = |(number, stack): (usize, &StackName)| {
        let mut totals = BTreeMap::new();
        for row in cases {
            if let Some(Some(cell)) = row.cells.get(number) {
                *totals.entry(cell.judgement).or_default() += 1;
            }
        }
        CompatTotals {
            stack: stack.clone(),
            cases: totals,
        }
    };
    stacks.enumerate().map(of).collect()
}

/// Returns the differences of each stack from the first. Deteriorations come first, the worst before the rest; then
/// wrong reasons, and last improvements.
fn differences(stacks: &[StackName], cases: &[CompatRow]) -> Vec<CompatDifference> {
    let mut found = Vec::new();
    let Some((first, others)) = stacks.split_first() else {
        return found;
    };
    for row in cases {
        let Some(Some(before)) = row.cells.first() else {
            continue;
        };
        for (stack, cell) in others.iter().zip(&row.cells[1..]) {
            let Some(now) = cell else { continue };
            let (did, does) = (before.to_string(), now.to_string());
            // Without a common cause, the words of two failures of a protocol may differ by chance.
            if did == does {
                continue;
            }
            let case = &row.case;
            let effect = effect(case.standing(), &before.outcome, &now.outcome);
            let is_loss = effect.is_some_and(SwitchEffect::is_loss);
            let is_no_better =
                now.judgement <= before.judgement && now.judgement != Judgement::Right;
            found.push(CompatDifference {
                case: case.name.clone(),
                about: case.about.clone(),
                expected: case.expected.clone(),
                stack: stack.clone(),
                judgement: now.judgement,
                in_place_of: first.clone(),
                effect,
                standing: case.standing(),
                seen: seen(case, before, now),
                advice: (is_loss || effect.is_none() && is_no_better)
                    .then(|| case.advice_for(stack).to_owned()),
                did,
                does,
            });
        }
    }
    found.sort_by_key(|found| {
        let ends = found.judgement <= Judgement::Hung;
        let effect = (found.effect.is_none(), found.effect);
        (found.advice.is_none(), !ends, effect, found.judgement)
    });
    found
}

/// Returns the effect of using the stack with the outcome `now` in place of the one with `before`. A process that
/// crashes or hangs reaches no server, whatever the correct behaviour is.
fn effect(standing: Standing, before: &CompatOutcome, now: &CompatOutcome) -> Option<SwitchEffect> {
    use CompatOutcome as O;
    let accepts = |outcome: &O| Accepts::from(matches!(outcome, O::Accepted { .. }));
    let ends = |outcome: &O| matches!(outcome, O::Crash { .. } | O::Hang { .. });
    match (before, now) {
        (O::Unsupported { .. }, _) | (_, O::Unsupported { .. }) => None,
        (_, O::Crash { .. }) if !matches!(before, O::Crash { .. }) => {
            Some(SwitchEffect::LossOfReach)
        }
        _ if ends(now) && !ends(before) => Some(SwitchEffect::LossOfReach),
        _ => SwitchEffect::of(standing, accepts(before), accepts(now)),
    }
}

/// Returns the words for the browsers that do not load the page of a dated server: all of them, unless one was observed
/// to load it.
fn browsers(case: &CompatCase) -> &'static str {
    if case.observed.values().any(|does| does == "accepted") {
        "some browsers"
    } else {
        "browsers"
    }
}

/// Describes a change as the client's user sees it.
fn seen(case: &CompatCase, before: &CompatCell, now: &CompatCell) -> String {
    use CompatOutcome as O;
    let should_load = case.expected == Expected::Accepted;
    let is_dated = case.standing() == Standing::Dated;
    match (&before.outcome, &now.outcome) {
        (_, O::Crash { .. }) => "The client ends.".to_owned(),
        (_, O::Hang { .. }) => "The page loads until a time limit ends it.".to_owned(),
        (_, O::Unsupported { reason }) => format!("Not known: {reason}."),
        (O::Unsupported { reason }, O::Accepted { .. }) if should_load => {
            format!(
                "The page loads; of {} it is not known: {reason}.",
                before.stack
            )
        }
        (O::Rejected { .. }, O::Rejected { .. }) => {
            format!("The error names another cause: {}.", cause(now))
        }
        (_, O::Rejected { .. }) if should_load => {
            format!("The page does not load any more: {}.", cause(now))
        }
        (O::Accepted { .. }, O::Rejected { .. }) if is_dated => {
            format!(
                "The page does not load any more, as in {}: {}.",
                browsers(case),
                cause(now)
            )
        }
        (_, O::Rejected { .. }) => {
            format!("The page is refused, as it should be: {}.", cause(now))
        }
        (_, O::Accepted { .. }) if should_load => {
            "The page loads, which it did not before.".to_owned()
        }
        (_, O::Accepted { .. }) if is_dated => {
            format!(
                "The page loads, which it did not before; {} do not load it.",
                browsers(case)
            )
        }
        (_, O::Accepted { .. }) => "The page loads without a warning.".to_owned(),
    }
}
