//! What an evaluation says: three questions, each with a verdict, the figures that carry it, and
//! what would break.
//!
//! Start reading at [`evaluation`]; each question is answered in a file of its own, from the parts that
//! there are.

pub(crate) mod document;
mod fast;
mod features;
mod losses;
mod rows;
mod supports;
mod works;

use std::sync::Arc;

use netbench_model::coverage::{Coverage, Difference};
use netbench_model::{EvaluationManifest, Losses, PartRecord, PartState, SCHEMA_VERSION};
use netbench_stats::PairedRatio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ConnectSummary, SuiteSummary};

pub use features::lacking;
pub use losses::losses;

/// What an evaluation says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// The schema's version.
    pub schema: u32,
    /// Always `evaluation`.
    pub kind: String,
    /// What was evaluated, and how far each part came.
    pub run: EvaluationManifest,
    /// The three questions.
    pub questions: Vec<Question>,
    /// What the parts found.
    pub found: Found,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// What the parts found, as far as they were done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// Features, by BoringSSL's protocol tests: the stack in use is the first column.
    pub coverage: Option<Coverage>,
    /// What one passes and the other does not; the stack in use is the first.
    pub difference: Option<Difference>,
    /// Sites that only one of the two can agree with.
    pub losses: Option<Losses>,
    /// Connections; the stack in use is the first.
    pub connections: Option<Arc<ConnectSummary>>,
    /// The in-memory suite, in one or more runs.
    pub suites: Vec<Arc<SuiteSummary>>,
}

/// A question, answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The verdict.
    pub answer: Answer,
    /// The verdict in a sentence.
    pub because: String,
    /// The figures that carry it, the strongest first.
    pub figures: Vec<KeyFigure>,
    /// What would break or become worse, one thing a line.
    pub breaks: Vec<String>,
    /// What was not looked at, and why.
    pub missing: Vec<String>,
}

/// A figure that carries a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyFigure {
    /// With its unit: `3 of 101`, `−0.2 %`.
    pub value: String,
    /// Of what.
    pub label: String,
}

/// A verdict on a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// Yes, but something is lost.
    WithLosses,
    /// No.
    No,
    /// What there is does not answer it.
    Open,
}

impl Answer {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::WithLosses => "yes, with losses",
            Self::No => "no",
            Self::Open => "open",
        }
    }
}

/// Answers the questions from what the parts found.
pub fn evaluation(run: EvaluationManifest, found: Found) -> Evaluation {
    let plan = &run.plan;
    let parts = Parts(&run.plan.parts);
    let questions = vec![
        supports::answer(plan, &parts, &found),
        works::answer(plan, &parts, &found),
        fast::answer(plan, &parts, &found),
    ];
    let mut warnings = Vec::new();
    if run.finished.is_none() {
        warnings.push(
            "The evaluation was not finished: `netbench evaluate --resume` goes on with it."
                .to_owned(),
        );
    }
    for part in &run.plan.parts {
        if let PartState::Failed { why } = &part.state {
            warnings.push(format!("The part {} failed: {why}", part.part));
        }
        warnings.extend(part.notes.iter().cloned());
    }
    if let Some(connections) = &found.connections {
        warnings.extend(connections.warnings.iter().cloned());
    }
    for suite in &found.suites {
        warnings.extend(suite.warnings.iter().cloned());
    }
    Evaluation {
        schema: SCHEMA_VERSION,
        kind: "evaluation".to_owned(),
        questions,
        found,
        warnings,
        run,
    }
}

/// The parts, by name.
struct Parts<'a>(&'a [PartRecord]);

impl Parts<'_> {
    /// Why a part has found nothing.
    fn why_missing(&self, name: &str, what: &str) -> String {
        let state = self.0.iter().find(|part| part.part == name);
        let why = match state.map(|part| &part.state) {
            None | Some(PartState::LeftOut) => "it was left out".to_owned(),
            Some(PartState::Pending) => "it was not reached".to_owned(),
            Some(PartState::Interrupted) => "it was interrupted".to_owned(),
            Some(PartState::Done) => "it found nothing that can be compared".to_owned(),
            Some(PartState::Failed { why } | PartState::Unsupported { why }) => why.clone(),
        };
        format!("{what}: {why}")
    }
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A switch that loses this share of the sites, or more, is no replacement.
pub(crate) const LOST_SHARE: f64 = 0.05;

/// A connection that takes this much longer is still fast enough: less than what one lost packet in
/// a few hundred connections does to the mean, and than any user sees.
pub(crate) const NO_MORE_THAN: f64 = 1.05;

/// How many sites may be lost before the answer is no.
pub(crate) fn of_lost(lost: u64, of: u64) -> Answer {
    match lost {
        0 => Answer::Yes,
        lost if lost as f64 >= LOST_SHARE * of as f64 => Answer::No,
        _ => Answer::WithLosses,
    }
}

/// Whether it is fast enough by the total time in each condition: no interval reaches beyond
/// [`NO_MORE_THAN`], or it is not in those whose whole interval lies beyond.
pub(crate) fn of_totals<'a>(totals: impl IntoIterator<Item = &'a PairedRatio>) -> Answer {
    let (mut enough, mut slower, mut all) = (0, 0, 0);
    for paired in totals {
        all += 1;
        enough += usize::from(paired.interval.is_some_and(|i| i.high <= NO_MORE_THAN));
        slower += usize::from(paired.interval.is_some_and(|i| i.low > NO_MORE_THAN));
    }
    match (slower, enough) {
        (_, _) if all == 0 => Answer::Open,
        (slower, _) if slower == all => Answer::No,
        (0, enough) if enough == all => Answer::Yes,
        (0, _) => Answer::Open,
        _ => Answer::WithLosses,
    }
}
