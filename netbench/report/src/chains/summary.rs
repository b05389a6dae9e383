use std::collections::{BTreeMap, HashMap, HashSet};

use netbench_model::{
    Accepts, StackName, Standing, SwitchEffect,
    chains::{
        ChainCase, ChainOutcome, ChainSample, ChainsManifest, Disagreement, Due, ReasonSpec,
        SuiteOfChains,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    compat::CompatStack,
    run::{RunHead, SummaryHead},
    text::count,
};

/// The findings of a run of `compat chains`: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainsSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run's settings.
    pub run: ChainsHead,
    /// The chains that one stack accepts and the first one rejects, or vice versa, grouped by reason; the worst
    /// first.
    pub differences: Vec<ChainDifference>,
    /// The number of chains of each kind that each stack judges correctly.
    pub kinds: Vec<ChainKind>,
    /// The chains that a stack judges wrongly, grouped.
    pub astray: Vec<ChainsAstray>,
    /// The chains that crashed a verifier or that it did not finish.
    pub broken: Vec<BrokenChain>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainsHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The sources of the chains.
    pub suites: Vec<SuiteOfChains>,
    /// Number of chains.
    pub chains: u64,
    /// The stacks, in the order of the command line, each with its library.
    pub stacks: Vec<CompatStack>,
}

/// The change for a chain. The worst comes first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-key" = "item"))]
pub enum ChainChange {
    /// The chain is rejected and should not be: pages no longer load.
    Lost,
    /// The chain is accepted and should not be: a warning is gone.
    Unwarned,
    /// The chain is now accepted, as it should be.
    Gained,
    /// The chain is now rejected, as it should be.
    Refused,
}

impl ChainsSummary {
    /// Returns the losses of the second stack; the worst comes first.
    pub fn worse(&self) -> Vec<&ChainDifference> {
        let worse = self.of_second();
        worse
            .filter(|group| group.effect.is_some_and(SwitchEffect::is_loss))
            .collect()
    }

    /// Returns the number of chains in which the second stack gains.
    pub fn gains(&self, effect: SwitchEffect) -> usize {
        let gains = self.of_second();
        let gains = gains.filter(|group| !effect.is_loss() && group.effect == Some(effect));
        gains.map(|group| group.cases.len()).sum()
    }

    fn of_second(&self) -> impl Iterator<Item = &ChainDifference> {
        let second = self.run.stacks.get(1).map(|of| &of.stack);
        let differences = self.differences.iter();
        differences.filter(move |group| Some(&group.stack) == second)
    }

    /// Returns the chains that the second stack's verifier crashes on or does not finish, and the first stack's
    /// does.
    pub fn ended(&self) -> Vec<&BrokenChain> {
        let stack = |number: usize| self.run.stacks.get(number).map(|of| &of.stack);
        let before: HashSet<&str> = self
            .broken
            .iter()
            .filter(|chain| Some(&chain.stack) == stack(0))
            .map(|chain| chain.case.as_str())
            .collect();
        let is_new = |chain: &&BrokenChain| {
            Some(&chain.stack) == stack(1) && !before.contains(chain.case.as_str())
        };
        self.broken.iter().filter(is_new).collect()
    }

    /// Returns the number of chains with results of both the first and the second stack.
    pub fn told_of_both(&self) -> u64 {
        let told = |kind: &ChainKind, stack: usize| {
            let tally = kind.stacks.get(stack);
            tally.map_or(0, |of| of.right + of.wrong + of.hang + of.crash)
        };
        let kinds = self.kinds.iter();
        kinds
            .map(|kind| u64::from(told(kind, 0).min(told(kind, 1))))
            .sum()
    }
}

impl ChainChange {
    fn of(due: Due, accepts: bool) -> Self {
        match (accepts, due.accepts()) {
            (false, true) => Self::Lost,
            (true, false) => Self::Unwarned,
            (true, true) => Self::Gained,
            (false, false) => Self::Refused,
        }
    }

    /// Returns the name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "rejected wrongly",
            Self::Unwarned => "accepted wrongly",
            Self::Gained => "accepted rightly",
            Self::Refused => "rejected rightly",
        }
    }
}

/// Chains that a stack judges differently from the first stack, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainDifference {
    /// The stack.
    #[schemars(extend("x-key" = "other"))]
    pub stack: StackName,
    /// The first stack.
    pub in_place_of: StackName,
    /// The change.
    pub change: ChainChange,
    /// The effect on a user; absent if another step of the connection decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<SwitchEffect>,
    /// The effect of a refusal.
    #[serde(default = "sound")]
    pub standing: Standing,
    /// The correct verdict of a verifier.
    pub due: Due,
    /// The reason's name; absent if no reason is known.
    #[schemars(extend("x-key" = "item"))]
    pub reason: Option<String>,
    /// The reason for the disagreement.
    pub why: String,
    /// The effect that the client's user sees.
    pub seen: String,
    /// The advice; absent if the change is an improvement.
    pub advice: Option<String>,
    /// The faults that the rejecting stack reports, in words that all stacks share, with their frequency.
    pub faults: BTreeMap<String, u32>,
    /// The chains.
    pub cases: Vec<String>,
}

fn sound() -> Standing {
    Standing::Sound
}

/// The stacks' judgements of chains of one kind with the same correct verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainKind {
    /// The kind.
    #[schemars(extend("x-key" = "item"))]
    pub kind: String,
    /// The correct verdict of a verifier.
    pub due: Due,
    /// Number of chains.
    pub chains: u32,
    /// One tally for each stack, in their order.
    #[schemars(extend("x-names" = "/run/stacks"))]
    pub stacks: Vec<ChainTally>,
}

/// A stack's judgements of chains.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainTally {
    /// Number of chains judged correctly.
    pub right: u32,
    /// Number of chains judged wrongly.
    pub wrong: u32,
    /// Number of chains that the stack did not finish.
    pub hang: u32,
    /// Number of chains on which its process ended.
    pub crash: u32,
    /// Number of chains that cannot be tested with the stack.
    pub unsupported: u32,
}

/// Chains that a stack judges wrongly in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainsAstray {
    /// The stack.
    pub stack: StackName,
    /// The kind.
    #[schemars(extend("x-key" = "item"))]
    pub kind: String,
    /// The correct verdict.
    pub due: Due,
    /// The stack's verdict.
    #[schemars(extend("x-key" = "item"))]
    pub says: String,
    /// Number of chains.
    pub chains: u32,
    /// One of the chains.
    pub example: String,
}

/// A chain that crashed a verifier or that it did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenChain {
    /// The stack.
    pub stack: StackName,
    /// The chain.
    #[schemars(extend("x-key" = "item"))]
    pub case: String,
    /// `crash` or `hang`.
    pub outcome: String,
    /// The process's last output, or the time limit.
    pub detail: String,
}

/// Summarizes a run. If a chain was verified twice, the last result counts.
pub fn summarize_chains(
    manifest: &ChainsManifest,
    samples: Vec<ChainSample>,
    reasons: &[ReasonSpec],
) -> ChainsSummary {
    let plan = &manifest.plan;
    let mut by_stack: HashMap<StackName, HashMap<String, ChainOutcome>> = HashMap::new();
    for sample in samples {
        let of_stack = by_stack.entry(sample.stack).or_default();
        of_stack.insert(sample.case, sample.outcome);
    }
    let found = Found {
        cases: &plan.cases,
        stacks: &plan.stacks,
        outcomes: plan
            .stacks
            .iter()
            .map(|stack| by_stack.get(stack).cloned().unwrap_or_default())
            .collect(),
    };
    let differences = found.differences(reasons);
    let mut warnings = manifest.warnings.clone();
    warnings.extend(plan.suites.iter().filter_map(|suite| suite.missing.clone()));
    let without = differences.iter().filter(|found| found.reason.is_none());
    let without: usize = without.map(|found| found.cases.len()).sum();
    if without > 0 {
        let chains = count(without, "difference is", "differences are");
        warnings.push(format!("{chains} without a known reason"));
    }
    let taken: usize = found.outcomes.iter().map(HashMap::len).sum();
    let missing = (plan.cases.len() * plan.stacks.len()).saturating_sub(taken);
    if missing > 0 {
        let verified = count(missing, "chain was", "chains were");
        warnings.push(format!("{verified} not verified: the run was ended early"));
    }
    let library = |stack: &StackName| {
        let mut workers = manifest.workers.iter();
        let worker = workers.find(|worker| worker.stack == stack.stack());
        worker
            .map(|worker| worker.library.clone())
            .unwrap_or_default()
    };
    ChainsSummary {
        head: SummaryHead::of(manifest),
        run: ChainsHead {
            head: RunHead::of(manifest),
            suites: plan.suites.clone(),
            chains: plan.cases.len() as u64,
            stacks: plan
                .stacks
                .iter()
                .map(|stack| CompatStack {
                    stack: stack.clone(),
                    library: library(stack),
                })
                .collect(),
        },
        differences,
        kinds: found.kinds(),
        astray: found.astray(),
        broken: found.broken(),
        warnings,
    }
}

/// Cases, with each stack's verdicts on them.
struct Found<'a> {
    cases: &'a [ChainCase],
    stacks: &'a [StackName],
    outcomes: Vec<HashMap<String, ChainOutcome>>,
}

impl Found<'_> {
    fn differences(&self, reasons: &[ReasonSpec]) -> Vec<ChainDifference> {
        let mut found: Vec<ChainDifference> = Vec::new();
        let mut places: HashMap<(usize, ChainChange, Due, Option<&str>), usize> = HashMap::new();
        let (Some(first), Some(before)) = (self.stacks.first(), self.outcomes.first()) else {
            return found;
        };
        for case in self.cases {
            let Some(then) = before.get(&case.name) else {
                continue;
            };
            for (number, stack) in self.stacks.iter().enumerate().skip(1) {
                let Some(now) = self.outcomes[number].get(&case.name) else {
                    continue;
                };
                let (rejects, accepts, fault) = match (then, now) {
                    (ChainOutcome::Accepted, ChainOutcome::Rejected { reason, .. }) => {
                        (stack, first, *reason)
                    }
                    (ChainOutcome::Rejected { reason, .. }, ChainOutcome::Accepted) => {
                        (first, stack, *reason)
                    }
                    _ => continue,
                };
                let disagreement = Disagreement {
                    case,
                    accepts: accepts.as_str(),
                    rejects: rejects.as_str(),
                    fault,
                };
                let reason = reasons.iter().find(|reason| reason.explains(disagreement));
                let change = ChainChange::of(case.due, accepts == stack);
                let key = (number, change, case.due, reason.map(|it| it.name.as_str()));
                let place = *places.entry(key).or_insert_with(|| {
                    found.push(difference(stack, first, change, case.due, reason));
                    found.len() - 1
                });
                let group = &mut found[place];
                *group.faults.entry(fault.to_string()).or_default() += 1;
                group.cases.push(case.name.clone());
            }
        }
        found.sort_by_key(|group| {
            (
                group.effect.is_none(),
                group.effect,
                group.due,
                std::cmp::Reverse(group.cases.len()),
            )
        });
        found
    }

    fn kinds(&self) -> Vec<ChainKind> {
        let mut kinds: BTreeMap<(&str, Due), ChainKind> = BTreeMap::new();
        for case in self.cases {
            let row = kinds
                .entry((case.kind(), case.due))
                .or_insert_with(|| ChainKind {
                    kind: case.kind().to_owned(),
                    due: case.due,
                    chains: 0,
                    stacks: vec![ChainTally::default(); self.stacks.len()],
                });
            row.chains += 1;
            for (tally, outcomes) in row.stacks.iter_mut().zip(&self.outcomes) {
                match outcomes.get(&case.name) {
                    Some(ChainOutcome::Hang { .. }) => tally.hang += 1,
                    Some(ChainOutcome::Crash { .. }) => tally.crash += 1,
                    Some(ChainOutcome::Unsupported { .. }) => tally.unsupported += 1,
                    Some(said) if said.accepts() == Some(case.due.accepts()) => tally.right += 1,
                    Some(_) => tally.wrong += 1,
                    None => {}
                }
            }
        }
        kinds.into_values().collect()
    }

    fn astray(&self) -> Vec<ChainsAstray> {
        let mut groups: BTreeMap<(Due, usize, &str, String), ChainsAstray> = BTreeMap::new();
        for (number, (stack, outcomes)) in self.stacks.iter().zip(&self.outcomes).enumerate() {
            for case in self.cases {
                let says = match outcomes.get(&case.name) {
                    Some(ChainOutcome::Accepted) if !case.due.accepts() => "accepted".to_owned(),
                    Some(ChainOutcome::Rejected { reason, .. }) if case.due.accepts() => {
                        format!("rejected: {reason}")
                    }
                    _ => continue,
                };
                let key = (case.due, number, case.kind(), says.clone());
                let group = groups.entry(key).or_insert_with(|| ChainsAstray {
                    stack: stack.clone(),
                    kind: case.kind().to_owned(),
                    due: case.due,
                    says,
                    chains: 0,
                    example: case.name.clone(),
                });
                group.chains += 1;
            }
        }
        groups.into_values().collect()
    }

    fn broken(&self) -> Vec<BrokenChain> {
        let mut broken = Vec::new();
        for (stack, outcomes) in self.stacks.iter().zip(&self.outcomes) {
            for case in self.cases {
                let Some(outcome) = outcomes.get(&case.name) else {
                    continue;
                };
                let detail = match outcome {
                    ChainOutcome::Hang { after_ms } => format!("no answer after {after_ms} ms"),
                    ChainOutcome::Crash { detail } => detail.clone(),
                    _ => continue,
                };
                broken.push(BrokenChain {
                    stack: stack.clone(),
                    case: case.name.clone(),
                    outcome: outcome.name().to_owned(),
                    detail,
                });
            }
        }
        broken
    }
}

fn difference(
    stack: &StackName,
    first: &StackName,
    change: ChainChange,
    due: Due,
    reason: Option<&ReasonSpec>,
) -> ChainDifference {
    use ChainChange as C;
    let is_lost = matches!(change, C::Lost | C::Refused);
    let standing = match reason.and_then(|reason| reason.standing) {
        // A reason states the effect of a refusal of chains that are not as they should be.
        Some(Standing::Moot) => Standing::Moot,
        Some(standing) if !due.accepts() => standing,
        _ => due.standing(),
    };
    let effect = SwitchEffect::of(standing, Accepts::from(is_lost), Accepts::from(!is_lost));
    let (why, seen, advice) = match reason {
        Some(reason) => (
            reason.why.clone(),
            if is_lost {
                reason.lost.clone()
            } else {
                reason.gained.clone()
            },
            reason.advice.clone(),
        ),
        None => (
            "Not known.".to_owned(),
            if is_lost {
                "Pages with such chains do not load."
            } else {
                "Pages with such chains load."
            }
            .to_owned(),
            "Look at the chains, and report them.".to_owned(),
        ),
    };
    ChainDifference {
        stack: stack.clone(),
        in_place_of: first.clone(),
        change,
        effect,
        standing,
        due,
        reason: reason.map(|reason| reason.name.clone()),
        why,
        seen,
        advice: effect.is_some_and(SwitchEffect::is_loss).then_some(advice),
        faults: BTreeMap::new(),
        cases: Vec::new(),
    }
}
