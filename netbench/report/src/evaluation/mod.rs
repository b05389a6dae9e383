//! Reports of an evaluation: three questions, and a fourth if browsers were tested, each with a verdict, the
//! figures that carry it, and the breakages.
//!
//! Start reading at [`evaluation`]; each question is answered in a separate file, from the parts that exist.

mod advice;
mod basis;
mod browsers;
mod catalogues;
mod counts;
mod document;
mod evidence;
mod failures;
mod families;
pub(crate) mod fast;
mod finding;
mod findings;
mod joined;
mod limits;
mod losses;
mod means;
pub(crate) mod question;
mod sentence;
mod settle;
mod share;
pub(crate) mod supports;
pub(crate) mod works;

use itertools::Itertools;
use netbench_model::{EvaluationManifest, PartState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SummaryHead, connect::other_work, document::Report};

pub use document::EvaluationReport;
pub(crate) use evidence::Evidence;
pub use evidence::Found;
pub use families::{Counted, Families, Family, FamilyError, Member, PublishedShare, ShareOf};
pub use finding::{Finding, Severity};
pub use joined::{
    JoinedEvaluation, JoinedEvaluations, JoinedMean, JoinedQuestion, JoinedTime, join_evaluations,
};
pub use losses::{losses, web_loss};
pub(crate) use question::none_is_no;
pub use question::{Answer, Asked, KeyFigure, Question, Subject};
pub use share::Share;

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The settings of the evaluation, and the state of each part.
    pub run: EvaluationManifest,
    /// All answers in one sentence.
    #[serde(default)]
    pub sentence: String,
    /// The three questions, and a fourth if browsers were tested.
    pub questions: Vec<Question>,
    /// The findings of the parts.
    pub found: Found,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

impl Evaluation {
    /// Returns whether any question has an answer, or any part compared something: an answer stays open if another
    /// part was not tested.
    pub fn tells(&self) -> bool {
        let found = &self.found;
        let mut questions = self.questions.iter();
        questions.any(|question| question.answer != Answer::Open)
            || found
                .losses
                .as_ref()
                .is_some_and(|losses| losses.scanned > 0)
            || found.connections.as_ref().is_some_and(|run| run.compares())
            || found
                .compat
                .as_ref()
                .is_some_and(|run| Report::tells(run.as_ref()))
            || found.suites.iter().any(|suite| suite.compares())
    }
}

fn of_part(part: &str, warning: &str) -> String {
    format!("{part}: {warning}")
}

/// Answers the questions from the findings of the parts.
pub fn evaluation(run: EvaluationManifest, mut found: Found) -> Evaluation {
    let plan = &run.plan;
    let settled = settle::settle(&mut found, plan);
    let evidence = Evidence::of_evaluation(&run, &found);
    let mut questions = vec![
        supports::without_cause(&evidence),
        works::answer(&evidence),
        fast::answer(&evidence),
    ];
    basis::cap(&mut questions, &evidence);
    supports::name_cause(&mut questions[0], &evidence);
    // The behaviour of browsers decides no question.
    let sentence = sentence::sentence(&evidence, &questions);
    if !plan.browsers.is_empty() {
        questions.push(browsers::answer(&evidence));
    }
    let mut warnings = Vec::new();
    if run.finished.is_none() {
        warnings.push("The evaluation was not finished: `netbench run` continues it.".to_owned());
    }
    for part in &run.plan.parts {
        if let PartState::Failed { why } = &part.state {
            warnings.push(format!("The part {} failed: {why}", part.part));
        }
        warnings.extend(part.notes.iter().map(|note| of_part(&part.part, note)));
    }
    warnings.extend(settled);
    let connections = found.connections.iter().chain(&found.same_settings);
    // The advice to connect with the same settings was followed if there is such a run.
    let heeded = match (&found.connections, &found.same_settings) {
        (Some(own), Some(_)) => other_work(own, &[run.plan.from.clone(), run.plan.to.clone()]),
        _ => Vec::new(),
    };
    let connections = connections.flat_map(|run| &run.warnings).unique();
    let connections = connections.filter(|warning| !heeded.contains(warning));
    warnings.extend(connections.map(|warning| of_part("connections", warning)));
    for suite in &found.suites {
        let parts = suite.cases.iter().map(|case| case.part).unique();
        let name = format!("suite ({})", parts.format(", "));
        warnings.extend(suite.warnings.iter().map(|warning| of_part(&name, warning)));
    }
    Evaluation {
        head: SummaryHead::of(&run),
        sentence,
        questions,
        found,
        warnings,
        run,
    }
}
