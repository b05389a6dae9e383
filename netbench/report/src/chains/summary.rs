use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
};

use netbench_model::{
    Accepts, StackName, Standing, SwitchEffect,
    chains::{
        ChainCase, ChainOutcome, ChainSample, ChainsManifest, Disagreement, Due, ReasonSpec,
        SuiteOfChains,
    },
    compat::Judgement,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    matrix::{ComparedStack, Judgements, Matrix, MatrixCase, Switch, of_second},
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
    /// The judgements of each stack's verdicts on the chains of each kind.
    #[serde(flatten)]
    pub matrix: Matrix<ChainKind, StackName, Judgements>,
    /// The chains that a stack judges wrongly, grouped.
    pub wrong: Vec<WrongVerdicts>,
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
    pub stacks: Vec<ComparedStack>,
}

/// Chains that a stack judges differently from the first stack, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainDifference {
    /// The stack's verdict compared with the correct one.
    #[schemars(extend("x-key" = "item"))]
    pub judgement: Judgement,
    /// The change for a user; without an effect if another step of the connection decides.
    #[serde(flatten)]
    pub switch: Switch,
    /// The correct verdict of a verifier.
    pub due: Due,
    /// The reason's name; absent if no reason is known.
    #[schemars(extend("x-key" = "item"))]
    pub reason: Option<String>,
    /// The reason for the disagreement.
    pub why: String,
    /// The faults that the rejecting stack reports, in words that all stacks share, with their frequency.
    pub faults: BTreeMap<String, u32>,
    /// The chains.
    pub cases: Vec<String>,
}

impl AsRef<Switch> for ChainDifference {
    fn as_ref(&self) -> &Switch {
        &self.switch
    }
}

/// Chains of one kind with the same correct verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainKind {
    /// The kind.
    #[schemars(extend("x-key" = "item"))]
    pub kind: String,
    /// The correct verdict of a verifier.
    pub due: Due,
    /// Number of chains.
    pub chains: u32,
}

/// Chains that a stack judges wrongly in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrongVerdicts {
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

impl ChainsSummary {
    /// Returns the losses of the second stack; the worst comes first.
    pub fn worse(&self) -> Vec<&ChainDifference> {
        of_second(&self.differences, &self.run.stacks, SwitchEffect::is_loss)
    }

    /// Returns the number of chains in which the second stack gains.
    pub fn gains(&self, effect: SwitchEffect) -> usize {
        let gains = of_second(&self.differences, &self.run.stacks, |it| it == effect);
        gains.iter().map(|group| group.cases.len()).sum()
    }

    /// Returns the chains that the second stack's verifier crashes on or does not finish, and the first stack's
    /// does.
    pub fn ended(&self) -> Vec<&BrokenChain> {
        let [first, second, ..] = self.matrix.clients.as_slice() else {
            return Vec::new();
        };
        let before = self.broken.iter().filter(|chain| chain.stack == *first);
        let before: HashSet<&str> = before.map(|chain| chain.case.as_str()).collect();
        let after = self.broken.iter().filter(|chain| chain.stack == *second);
        after
            .filter(|chain| !before.contains(chain.case.as_str()))
            .collect()
    }

    /// Returns the number of chains with results of both the first and the second stack.
    pub fn told_of_both(&self) -> u64 {
        let pairs = self.matrix.beside_first(2);
        pairs
            .map(|(.., [first, second])| u64::from(first.reported().min(second.reported())))
            .sum()
    }
}

impl ChainDifference {
    /// Returns the stack's verdict and whether it is correct, in words.
    pub fn verdict(&self) -> &'static str {
        match (self.judgement, self.due.accepts()) {
            (Judgement::Right, true) => "accepted rightly",
            (Judgement::Right, false) => "rejected rightly",
            (judgement, _) => judgement.name(),
        }
    }
}

/// Summarizes a run. If a chain was verified twice, the last result counts.
pub fn summarize_chains(
    manifest: &ChainsManifest,
    samples: Vec<ChainSample>,
    reasons: &[ReasonSpec],
) -> ChainsSummary {
    let plan = &manifest.plan;
    let verdicts = Matrix::of(
        &plan.cases,
        &plan.stacks,
        samples
            .iter()
            .map(|it| (it.case.as_str(), &it.stack, &it.outcome)),
        |case| &case.name,
        |_, _, outcome| *outcome,
    );
    let differences = differences(&verdicts, reasons);
    let mut warnings = manifest.warnings.clone();
    warnings.extend(plan.suites.iter().filter_map(|suite| suite.missing.clone()));
    let without = differences.iter().filter(|found| found.reason.is_none());
    let without: usize = without.map(|found| found.cases.len()).sum();
    if without > 0 {
        let chains = count(without, "difference is", "differences are");
        warnings.push(format!("{chains} without a known reason"));
    }
    warnings.extend(verdicts.ended_early("chain was", "chains were", "verified"));
    ChainsSummary {
        head: SummaryHead::of(manifest),
        run: ChainsHead {
            head: RunHead::of(manifest),
            suites: plan.suites.clone(),
            chains: plan.cases.len() as u64,
            stacks: ComparedStack::all(&plan.stacks, manifest),
        },
        differences,
        matrix: kinds(&verdicts),
        wrong: wrong(&verdicts),
        broken: broken(&verdicts),
        warnings,
    }
}

type Verdicts<'a> = Matrix<&'a ChainCase, StackName, &'a ChainOutcome>;

fn differences(verdicts: &Verdicts<'_>, reasons: &[ReasonSpec]) -> Vec<ChainDifference> {
    let mut found: Vec<ChainDifference> = Vec::new();
    let mut places: HashMap<(&StackName, Judgement, Due, Option<&str>), usize> = HashMap::new();
    for (case, [first, stack], [then, now]) in verdicts.beside_first(verdicts.clients.len()) {
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
        let judgement = Judgement::of_chain(case.due, now);
        let name = reason.map(|reason| reason.name.as_str());
        let place = places.entry((stack, judgement, case.due, name));
        let place = *place.or_insert_with(|| {
            found.push(difference([first, stack], judgement, case.due, reason));
            found.len() - 1
        });
        let group = &mut found[place];
        *group.faults.entry(fault.to_string()).or_default() += 1;
        group.cases.push(case.name.clone());
    }
    found.sort_by_key(|group| {
        let effect = group.switch.effect;
        let chains = Reverse(group.cases.len());
        (effect.is_none(), effect, group.due, chains)
    });
    found
}

fn kinds(verdicts: &Verdicts<'_>) -> Matrix<ChainKind, StackName, Judgements> {
    let mut kinds: BTreeMap<(&str, Due), MatrixCase<ChainKind, Judgements>> = BTreeMap::new();
    for row in &verdicts.cases {
        let (kind, due) = (row.case.kind(), row.case.due);
        let found = kinds.entry((kind, due)).or_insert_with(|| MatrixCase {
            case: ChainKind {
                kind: kind.to_owned(),
                due,
                chains: 0,
            },
            cells: vec![Some(Judgements::default()); verdicts.clients.len()],
        });
        found.case.chains += 1;
        for (judgements, outcome) in found.cells.iter_mut().flatten().zip(&row.cells) {
            if let Some(outcome) = outcome {
                judgements.add(Judgement::of_chain(due, outcome));
            }
        }
    }
    Matrix {
        clients: verdicts.clients.clone(),
        cases: kinds.into_values().collect(),
    }
}

fn wrong(verdicts: &Verdicts<'_>) -> Vec<WrongVerdicts> {
    let mut groups: BTreeMap<(Due, usize, &str, String), WrongVerdicts> = BTreeMap::new();
    for (number, stack) in verdicts.clients.iter().enumerate() {
        for (case, outcome) in verdicts.column(number) {
            let judgement = Judgement::of_chain(case.due, outcome);
            if !matches!(judgement, Judgement::FalseAccept | Judgement::FalseReject) {
                continue;
            }
            let says = outcome.to_string();
            let key = (case.due, number, case.kind(), says.clone());
            let group = groups.entry(key).or_insert_with(|| WrongVerdicts {
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

fn broken(verdicts: &Verdicts<'_>) -> Vec<BrokenChain> {
    let mut broken = Vec::new();
    for (number, stack) in verdicts.clients.iter().enumerate() {
        for (case, outcome) in verdicts.column(number) {
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

fn difference(
    [first, stack]: [&StackName; 2],
    judgement: Judgement,
    due: Due,
    reason: Option<&ReasonSpec>,
) -> ChainDifference {
    // A right verdict is the correct one, and any other the opposite.
    let is_lost = due.accepts() != (judgement == Judgement::Right);
    let standing = match reason.and_then(|reason| reason.standing) {
        // A reason states the effect of a refusal of chains that are not as they should be.
        Some(Standing::Moot) => Standing::Moot,
        Some(standing) if !due.accepts() => standing,
        _ => due.standing(),
    };
    let effect = SwitchEffect::of(standing, Accepts::from(is_lost), Accepts::from(!is_lost));
    let [why, lost, gained, advice] = match reason {
        Some(it) => [&it.why, &it.lost, &it.gained, &it.advice].map(String::as_str),
        None => [
            "Not known.",
            "Pages with such chains do not load.",
            "Pages with such chains load.",
            "Look at the chains, and report them.",
        ],
    };
    let is_loss = effect.is_some_and(SwitchEffect::is_loss);
    ChainDifference {
        judgement,
        switch: Switch {
            stack: stack.clone(),
            in_place_of: first.clone(),
            effect,
            standing,
            seen: if is_lost { lost } else { gained }.to_owned(),
            advice: is_loss.then(|| advice.to_owned()),
        },
        due,
        reason: reason.map(|reason| reason.name.clone()),
        why: why.to_owned(),
        faults: BTreeMap::new(),
        cases: Vec::new(),
    }
}
