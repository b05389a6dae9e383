use std::fmt;

use itertools::Itertools;
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
    matrix::{Attempt, ComparedStack, Judgements, Matrix, MatrixCase, Switch, of_second},
    run::{RunHead, SummaryHead},
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
    /// The number of cases with each judgement, for each stack and each external client.
    #[schemars(extend("x-names" = "/clients"))]
    pub totals: Vec<Judgements>,
    /// Every case, in the catalogue's order. The stacks come first, then the external clients.
    #[serde(flatten)]
    pub matrix: Matrix<CompatCase, StackName, CompatCell>,
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
    pub stacks: Vec<ComparedStack>,
    /// Browsers and other programs that were tested in addition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<OutsideClient>,
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
    /// The stack's behaviour.
    pub does: String,
    /// The stack's behaviour compared with the correct one.
    pub judgement: Judgement,
    /// The first stack's behaviour.
    pub did: String,
    /// The change for a user.
    #[serde(flatten)]
    pub switch: Switch,
}

impl AsRef<Switch> for CompatDifference {
    fn as_ref(&self) -> &Switch {
        &self.switch
    }
}

/// A client's behaviour in a case.
pub type CompatCell = Attempt<CompatResult>;

/// The outcome of a connection to a server of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatResult {
    /// The outcome.
    #[serde(flatten)]
    pub outcome: CompatOutcome,
    /// Further information that the network stack of a browser engine gives its embedder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedder: Option<EmbedderView>,
}

impl fmt::Display for CompatResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome.fmt(f)
    }
}

impl CompatSummary {
    /// Returns the losses of the second stack: it crashes, hangs, does not reach a server that the first reaches,
    /// or accepts one that it should refuse. The worst comes first.
    pub fn worse(&self) -> Vec<&CompatDifference> {
        of_second(&self.differences, &self.run.stacks, SwitchEffect::is_loss)
    }

    /// Returns the gains of one kind of the second stack.
    pub fn gains(&self, effect: SwitchEffect) -> Vec<&CompatDifference> {
        of_second(&self.differences, &self.run.stacks, |it| it == effect)
    }

    /// Returns the number of cases with results of both the first and the second stack.
    pub fn told_of_both(&self) -> usize {
        let pairs = self.matrix.beside_first(2);
        let told = pairs.filter(|(.., cells)| cells.iter().all(|it| it.is_told()));
        told.count()
    }

    /// Returns the number of cases with a result of the first stack, which the second may not support.
    pub fn told_of_first(&self) -> usize {
        let pairs = self.matrix.beside_first(2);
        let told = pairs.filter(|(.., cells)| cells[0].is_told());
        told.count()
    }
}

/// Summarizes a run. If a case was tested twice, the last result counts.
pub fn summarize_compat(manifest: &CompatManifest, samples: Vec<CompatSample>) -> CompatSummary {
    let plan = &manifest.plan;
    let clients: Vec<StackName> = plan.tried().cloned().collect();
    let matrix = Matrix::of(
        plan.cases.iter().cloned(),
        &clients,
        samples.iter().map(|it| (it.case.as_str(), &it.stack, it)),
        |case| &case.name,
        |case, _, sample| Attempt {
            judgement: Judgement::of(&case.expected, &sample.outcome),
            result: CompatResult {
                outcome: sample.outcome.clone(),
                embedder: sample.embedder.clone(),
            },
        },
    );
    let mut warnings = manifest.warnings.clone();
    warnings.extend(plan.clients.iter().filter_map(OutsideClient::warning));
    warnings.extend(matrix.ended_early("try was", "tries were", "made"));
    CompatSummary {
        head: SummaryHead::of(manifest),
        run: CompatHead {
            head: RunHead::of(manifest),
            catalogue: plan.catalogue.clone(),
            client_profile: plan.client_profile,
            stacks: ComparedStack::all(&plan.stacks, manifest),
            clients: plan.clients.clone(),
        },
        differences: differences(plan.stacks.len(), &matrix),
        disagreements: outside::disagreements(&plan.stacks, &plan.clients, &matrix.cases),
        totals: matrix.totals(),
        matrix,
        warnings,
    }
}

pub(super) type CompatRow = MatrixCase<CompatCase, CompatCell>;

/// Returns the differences of each stack from the first. Deteriorations come first, the worst before the rest; then
/// wrong reasons, and last improvements.
fn differences(
    stacks: usize,
    matrix: &Matrix<CompatCase, StackName, CompatCell>,
) -> Vec<CompatDifference> {
    let pairs = matrix.beside_first(stacks);
    let differences = pairs.filter_map(|(case, [first, stack], [before, now])| {
        let (did, does) = (before.to_string(), now.to_string());
        // Without a common cause, the words of two failures of a protocol may differ by chance.
        if did == does {
            return None;
        }
        let outcomes = [before, now].map(|cell| &cell.result.outcome);
        let effect = effect(case.standing(), outcomes);
        let is_loss = effect.is_some_and(SwitchEffect::is_loss);
        let is_no_better = now.judgement <= before.judgement && now.judgement != Judgement::Right;
        Some(CompatDifference {
            case: case.name.clone(),
            about: case.about.clone(),
            expected: case.expected.clone(),
            judgement: now.judgement,
            switch: Switch {
                stack: stack.clone(),
                in_place_of: first.clone(),
                effect,
                standing: case.standing(),
                seen: seen(case, first, outcomes),
                advice: (is_loss || effect.is_none() && is_no_better)
                    .then(|| case.advice_for(stack).to_owned()),
            },
            did,
            does,
        })
    });
    differences
        .sorted_by_key(|found| {
            let ends = found.judgement <= Judgement::Hung;
            let Switch { effect, advice, .. } = &found.switch;
            let effect = (effect.is_none(), *effect);
            (advice.is_none(), !ends, effect, found.judgement)
        })
        .collect()
}

/// Returns the effect of using the stack with the outcome `now` in place of the one with `before`. A process that
/// crashes or hangs reaches no server, whatever the correct behaviour is.
fn effect(standing: Standing, outcomes: [&CompatOutcome; 2]) -> Option<SwitchEffect> {
    use CompatOutcome as O;
    match outcomes {
        [O::Unsupported { .. }, _]
        | [_, O::Unsupported { .. }]
        | [O::Crash { .. }, O::Crash { .. }]
        | [O::Crash { .. } | O::Hang { .. }, O::Hang { .. }] => None,
        [_, O::Crash { .. } | O::Hang { .. }] => Some(SwitchEffect::LossOfReach),
        outcomes => {
            let [before, now] =
                outcomes.map(|outcome| Accepts::from(matches!(outcome, O::Accepted { .. })));
            SwitchEffect::of(standing, before, now)
        }
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
fn seen(case: &CompatCase, first: &StackName, [before, now]: [&CompatOutcome; 2]) -> String {
    use CompatOutcome as O;
    let should_load = case.expected == Expected::Accepted;
    let is_dated = case.standing() == Standing::Dated;
    match (before, now) {
        (_, O::Crash { .. }) => "The client ends.".to_owned(),
        (_, O::Hang { .. }) => "The page loads until a time limit ends it.".to_owned(),
        (_, O::Unsupported { reason }) => format!("Not known: {reason}."),
        (O::Unsupported { reason }, O::Accepted { .. }) if should_load => {
            format!("The page loads; of {first} it is not known: {reason}.")
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
