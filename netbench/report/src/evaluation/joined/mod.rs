//! Several evaluations of one switch, joined into an article.
//!
//! An answer stands if all evaluations that give one agree. Start reading at [`join_evaluations`]; the document is made
//! in `document`, and `questions` joins the answers.

mod document;
mod figures;
mod questions;

use itertools::Itertools;
use netbench_model::{Condition, EvaluationManifest, Measure, Part, Phase, StackName};
use netbench_stats::JoinedRatio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Evaluation, Question};
use crate::{
    JoinedCase, RunHead, SummaryHead,
    differences::{Difference, Fact, differing, of_machine},
};

/// Several evaluations of a switch from one stack to another, performed at different times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedEvaluations {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The stack in use, with its library.
    pub from: (StackName, String),
    /// The stack that would take its place, with its library.
    pub to: (StackName, String),
    /// The evaluations, in the order of their dates.
    pub runs: Vec<JoinedEvaluation>,
    /// All answers in one sentence.
    pub sentence: String,
    /// The questions, with the answer of each evaluation.
    pub questions: Vec<JoinedQuestion>,
    /// Parts of the suite in memory, by the mean over the cases that two evaluations or more have.
    pub means: Vec<JoinedMean>,
    /// Times of whole connections.
    pub connections: Vec<JoinedTime>,
    /// Every case of the suite for which two evaluations or more have a ratio.
    pub cases: Vec<JoinedCase>,
    /// The questions that an evaluation left open although another answered them, with the reasons.
    pub left_open: Vec<String>,
    /// The differences in settings, machine and programs from the first evaluation.
    pub differences: Vec<Difference>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// One of the evaluations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedEvaluation {
    /// Its name.
    #[schemars(extend("x-key" = "item"))]
    pub evaluation: String,
    /// The run.
    pub run: RunHead,
    /// The seed of every random choice.
    pub seed: u64,
    /// The processor.
    pub processor: String,
    /// All answers of this evaluation in one sentence.
    pub sentence: String,
}

/// A question, with the answer of each evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedQuestion {
    /// The question with the joint answer, and the findings of all evaluations.
    #[serde(flatten)]
    pub question: Question,
    /// The answer of each evaluation, in their order; absent if it did not ask the question.
    #[schemars(extend("x-names" = "/runs"))]
    pub answers: Vec<Option<Answer>>,
    /// The number of evaluations that show each finding, in the order of the findings.
    #[schemars(extend("x-names" = "/findings"))]
    pub shown_by: Vec<u64>,
}

/// The cost of a part of the suite in several evaluations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-unit" = "other/first"))]
pub struct JoinedMean {
    /// The subject: `client's side of a handshake in memory`.
    #[schemars(extend("x-key" = "item"))]
    pub label: String,
    /// The part of the suite.
    pub part: Part,
    /// The measured side, or quantity.
    pub measure: Measure,
    /// Number of cases that the mean is over: those with a ratio in each evaluation that has the part.
    #[schemars(extend("x-unit" = "cases"))]
    pub cases: u64,
    /// The geometric mean of each evaluation; absent if it has too few of the cases.
    #[schemars(extend("x-names" = "/runs"))]
    pub runs: Vec<Option<f64>>,
    /// The geometric mean of the cases' joint ratios.
    pub ratio: f64,
}

/// The time of whole connections in several evaluations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JoinedTime {
    /// The condition.
    #[schemars(extend("x-key" = "item"))]
    pub condition: Condition,
    /// The phase.
    pub phase: Phase,
    /// The ratio of each evaluation; absent without one.
    #[schemars(extend("x-names" = "/runs", "x-unit" = "other/first"))]
    pub runs: Vec<Option<f64>>,
    /// The joint ratio.
    pub joined: JoinedRatio,
}

/// Joins evaluations of the same switch. The first two stacks of the first evaluation are those of all.
pub fn join_evaluations(mut evaluations: Vec<Evaluation>) -> JoinedEvaluations {
    evaluations.sort_by(|a, b| a.run.started.cmp(&b.run.started));
    let runs: Vec<&Evaluation> = evaluations.iter().collect();
    let first = &runs[0].run;
    let cases = figures::cases(&runs);
    let means = figures::means(&runs, &cases);
    let connections = figures::connections(&runs);
    let questions = questions::questions(&runs, &means, &connections);
    let names = [&first.plan.from, &first.plan.to];
    let [from, to] = names.map(|stack| (stack.clone(), figures::library(&runs, stack)));
    let others = runs.iter().skip(1);
    JoinedEvaluations {
        head: SummaryHead::new("joined-evaluations"),
        sentence: questions::sentence(&runs, &questions, &means, &connections),
        left_open: questions::left_open(&runs, &questions),
        runs: runs.iter().map(|run| JoinedEvaluation::of(run)).collect(),
        differences: others
            .flat_map(|other| differing(facts(first), &facts(&other.run)))
            .unique()
            .collect(),
        warnings: runs.iter().flat_map(|run| warnings(run)).collect(),
        cases: cases.into_iter().map(|(_, case)| case).collect(),
        from,
        to,
        questions,
        means,
        connections,
    }
}

impl JoinedEvaluation {
    fn of(evaluation: &Evaluation) -> Self {
        let run = &evaluation.run;
        let processor = run.environment.facts.get("cpu_model");
        Self {
            evaluation: run.name.clone(),
            run: RunHead::of(run),
            seed: run.plan.seed,
            processor: processor.cloned().unwrap_or_default(),
            sentence: evaluation.sentence.clone(),
        }
    }

    fn date(&self) -> &str {
        date(&self.run.started)
    }
}

/// Returns the date of a time by RFC 3339.
fn date(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

fn warnings(evaluation: &Evaluation) -> Vec<String> {
    let date = date(&evaluation.run.started);
    let warnings = evaluation.warnings.iter();
    warnings
        .map(|warning| format!("{date}: {warning}"))
        .collect()
}

fn facts(run: &EvaluationManifest) -> Vec<Fact> {
    let plan = &run.plan;
    let decisive = [
        ("sites are", format!("{:?}", plan.target)),
        ("number of sites", plan.sites.to_string()),
        ("--client-profile", format!("{:?}", plan.client_profile)),
        ("--for", format!("{:?}", plan.client_use)),
        ("settings of connections", format!("{:?}", plan.connections)),
        ("limits", format!("{:?}", run.thresholds)),
    ];
    let harmless = [("depth", format!("{:?}", plan.depth).to_lowercase())];
    let settings = Fact::list(decisive, harmless);
    // The machine is one of the things that several evaluations are made to vary.
    let machine = of_machine(run).into_iter().map(Fact::made_harmless);
    settings.chain(machine).collect()
}
