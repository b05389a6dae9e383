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
mod families;
pub(crate) mod fast;
mod finding;
mod limits;
mod losses;
mod means;
mod sentence;
mod settle;
mod share;
pub(crate) mod supports;
pub(crate) mod works;

use std::sync::Arc;

use itertools::Itertools;
use netbench_interop::WebLoss;
use netbench_model::{
    ClientUse, EvaluationManifest, Losses, PartRecord, PartState, Quantity, StackName, Target,
    Thresholds,
    coverage::{Coverage, Defects, Difference, Matrix},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BrowserSummary, CaseRow, ChainsSummary, CompatSummary, ConnectSummary, RootsSummary,
    SuiteSummary, SummaryHead,
    cell::Cell,
    connect::other_work,
    document::{Report, Table},
};

pub use document::EvaluationReport;
pub use families::{Counted, Families, Family, FamilyError, Member, PublishedShare, ShareOf};
pub use finding::{Finding, Severity};
pub use losses::{losses, web_loss};
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

/// The findings of the parts, as far as they were performed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The features of each stack, by BoringSSL's protocol tests: the stack in use is the first column.
    #[serde(default)]
    pub matrix: Option<Matrix>,
    /// The defects of each stack; the stack in use is the first.
    #[serde(default)]
    pub defects: Option<Defects>,
    /// The results of those tests, counted: the stack in use is the first column.
    pub coverage: Option<Coverage>,
    /// The tests that one stack passes and the other does not; the stack in use is the first.
    pub difference: Option<Difference>,
    /// Sites that only one of the two stacks can agree with.
    pub losses: Option<Losses>,
    /// The expected loss among the sites of the web, by the population model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<WebLoss>,
    /// Connections; the stack in use is the first.
    pub connections: Option<Arc<ConnectSummary>>,
    /// Connections with the same settings for both, if they did different work with most sites with their own
    /// settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_settings: Option<Arc<ConnectSummary>>,
    /// The stacks' behaviour towards the servers of a catalogue; the stack in use is the first.
    #[serde(default)]
    pub compat: Option<Arc<CompatSummary>>,
    /// The verdicts of the stacks' verifiers on certificate chains; the stack in use is the first.
    #[serde(default)]
    pub chains: Option<Arc<ChainsSummary>>,
    /// The CAs that the stacks trust by default, with the trust stores of many systems.
    #[serde(default)]
    pub roots: Option<Arc<RootsSummary>>,
    /// Visits of browsers, and of both stacks, to the sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visits: Option<Arc<BrowserSummary>>,
    /// The behaviour of browsers, and of both stacks, towards the servers of a catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Arc<CompatSummary>>,
    /// The in-memory suite, in one or more runs.
    pub suites: Vec<Arc<SuiteSummary>>,
}

/// A question with its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    #[schemars(extend("x-key" = "item"))]
    pub question: String,
    /// The verdict.
    pub answer: Answer,
    /// The verdict in a sentence.
    pub because: String,
    /// The figures that carry it, the strongest first.
    pub figures: Vec<KeyFigure>,
    /// The findings; the most severe ones come first, and among those the ones that most users meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Breakages and deteriorations that no family has, one a line.
    pub breaks: Vec<String>,
    /// Improvements, one a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<String>,
    /// Subjects that were not tested, with the reasons.
    pub missing: Vec<String>,
}

/// A figure that carries a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyFigure {
    /// The value with its unit: `3 of 101`, `−0.2 %`.
    pub value: String,
    /// The subject of the figure.
    #[schemars(extend("x-key" = "item"))]
    pub label: String,
}

/// A verdict on a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// Yes, but with losses.
    WithLosses,
    /// No.
    No,
    /// The data does not answer the question.
    #[default]
    Open,
}

impl Answer {
    /// Returns the answer that is worse for someone who would switch; an open answer is never the worse one.
    fn worse_of(self, other: Self) -> Self {
        let rank = |answer| match answer {
            Self::Open => 0,
            Self::Yes => 1,
            Self::WithLosses => 2,
            Self::No => 3,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }

    /// Returns the answer after a finding that alone would give `other`: an open answer becomes a no or stays open.
    fn worsened_by(self, other: Self) -> Self {
        match other {
            Self::Yes | Self::Open => self,
            Self::WithLosses => self.at_best_with_losses(),
            Self::No => Self::No,
        }
    }

    /// Turns a yes into a yes with losses; an open answer stays open.
    fn at_best_with_losses(self) -> Self {
        match self {
            Self::Yes => Self::WithLosses,
            answer => answer,
        }
    }

    /// Returns the answer in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::WithLosses => "yes, with losses",
            Self::No => "no",
            Self::Open => "open",
        }
    }
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

/// Answers the questions from the findings of the parts.
pub fn evaluation(run: EvaluationManifest, mut found: Found) -> Evaluation {
    let plan = &run.plan;
    let settled = settle::settle(&mut found, plan);
    let evidence = Evidence {
        matrix: found.matrix.as_ref(),
        defects: found.defects.as_ref(),
        losses: found.losses.as_ref(),
        web: found.web.as_ref(),
        built_in_sites: plan.sites_file.is_none() && plan.urls.is_empty(),
        connections: found.connections.as_deref(),
        same_settings: found.same_settings.as_deref(),
        older_features: found.coverage.as_ref().filter(|_| found.matrix.is_none()),
        compat: found.compat.as_deref(),
        chains: found.chains.as_deref(),
        roots: found.roots.as_deref(),
        suites: found.suites.iter().map(AsRef::as_ref).collect(),
        parts: Some(&run.plan.parts),
        client_use: plan.client_use,
        ..Evidence::of([&plan.from, &plan.to], plan.target, &run.thresholds)
    };
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
        let (visits, clients) = (found.visits.as_deref(), found.clients.as_deref());
        questions.push(browsers::answer(&evidence, visits, clients));
    }
    let mut warnings = Vec::new();
    if run.finished.is_none() {
        warnings.push("The evaluation was not finished: `netbench run` continues it.".to_owned());
    }
    for part in &run.plan.parts {
        if let PartState::Failed { why } = &part.state {
            warnings.push(format!("The part {} failed: {why}", part.part));
        }
        warnings.extend(part.notes.iter().cloned());
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
    let suites = found.suites.iter().flat_map(|run| &run.warnings);
    warnings.extend(connections.chain(suites).cloned());
    Evaluation {
        head: SummaryHead::of(&run),
        sentence,
        questions,
        found,
        warnings,
        run,
    }
}

/// The subject of a question, in the order of the questions of an evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The features that the sites need.
    Supports,
    /// Failures and defects.
    #[default]
    Works,
    /// The speed.
    Fast,
    /// The behaviour of browsers.
    Browsers,
}

impl Subject {
    /// Every subject.
    const ALL: [Self; 4] = [Self::Supports, Self::Works, Self::Fast, Self::Browsers];
}

/// A question of a document, and the section with its figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The subject of the question.
    pub subject: Subject,
    /// The question with its answer.
    pub question: Question,
    /// The compared stacks: `rustls-aws-lc in place of openssl`.
    pub about: String,
    /// The id of the section with the details.
    pub section: Option<String>,
    /// The id of the section with the advice, if there is any.
    pub act: Option<String>,
    /// Warnings that a reader must know before quoting its figures.
    pub warnings: Vec<String>,
}

impl Question {
    /// Returns a question without an answer.
    fn open(question: String) -> Self {
        Self {
            question,
            ..Self::default()
        }
    }

    fn figure(&mut self, value: impl ToString, label: impl Into<String>) {
        self.figures.push(KeyFigure {
            value: value.to_string(),
            label: label.into(),
        });
    }

    /// Returns the answer with its reason.
    pub(crate) fn in_a_sentence(&self) -> String {
        let (initial, rest) = self.answer.words().split_at(1);
        format!("{}{rest}. {}", initial.to_uppercase(), self.because)
    }

    /// Returns the table of the figures that carry the answer.
    pub(crate) fn table(&self) -> Table {
        let table = Table::of(&self.figures)
            .col("figure", 0, |figure| Cell::text(&figure.value))
            .col("of what", 0, |figure| Cell::text(&figure.label));
        table.table()
    }
}

/// The data for the questions about a switch: an evaluation has most of it, a single run a part.
pub(crate) struct Evidence<'a> {
    /// The stack in use.
    pub(crate) from: &'a StackName,
    /// The stack that would take its place.
    pub(crate) to: &'a StackName,
    /// The target of the sites.
    pub(crate) target: Target,
    /// The limits by which questions are answered.
    pub(crate) thresholds: &'a Thresholds,
    /// The use of the client.
    pub(crate) client_use: ClientUse,
    /// Features; the stack in use is the first column.
    pub(crate) matrix: Option<&'a Matrix>,
    /// The counts of the protocol tests, if an earlier version stored them without the matrix.
    pub(crate) older_features: Option<&'a Coverage>,
    /// The defects of each stack; the stack in use is the first.
    pub(crate) defects: Option<&'a Defects>,
    /// Sites that only one of the two stacks can agree with.
    pub(crate) losses: Option<&'a Losses>,
    /// The expected loss among the sites of the web.
    pub(crate) web: Option<&'a WebLoss>,
    /// Whether the user gave no sites, so that the built-in list is used.
    pub(crate) built_in_sites: bool,
    /// Connections.
    pub(crate) connections: Option<&'a ConnectSummary>,
    /// Connections with the same settings for both, if they had to be made as well.
    pub(crate) same_settings: Option<&'a ConnectSummary>,
    /// The behaviour of both stacks towards the servers of a catalogue; the stack in use is the first.
    pub(crate) compat: Option<&'a CompatSummary>,
    /// The verdicts of both stacks on certificate chains; the stack in use is the first.
    pub(crate) chains: Option<&'a ChainsSummary>,
    /// The CAs that both stacks trust by default.
    pub(crate) roots: Option<&'a RootsSummary>,
    /// Runs of the in-memory suite.
    pub(crate) suites: Vec<&'a SuiteSummary>,
    /// The parts of an evaluation, which should have produced all of this; `None` for a single run.
    pub(crate) parts: Option<&'a [PartRecord]>,
}

impl<'a> Evidence<'a> {
    /// Returns empty evidence.
    pub(crate) fn of(
        [from, to]: [&'a StackName; 2],
        target: Target,
        thresholds: &'a Thresholds,
    ) -> Self {
        Self {
            from,
            to,
            target,
            thresholds,
            client_use: ClientUse::default(),
            matrix: None,
            older_features: None,
            defects: None,
            losses: None,
            web: None,
            built_in_sites: false,
            connections: None,
            same_settings: None,
            compat: None,
            chains: None,
            roots: None,
            suites: Vec::new(),
            parts: None,
        }
    }

    /// Returns the connections that are compared by their times.
    pub(crate) fn timed(&self) -> Option<&'a ConnectSummary> {
        let pinned = self.same_settings.filter(|pinned| pinned.compares());
        pinned.or(self.connections)
    }

    /// Answers by the number of servers, chains and tests that the new stack accepts and must refuse.
    fn of_false_accepts(&self, number: usize) -> Answer {
        limits::by_limit(number as f64, self.thresholds.of(Quantity::FalseAccepts))
    }

    /// The cases of the suites, in the order of the runs.
    fn cases(&self) -> impl Iterator<Item = &'a CaseRow> + use<'a> {
        self.suites
            .clone()
            .into_iter()
            .flat_map(|suite| &suite.cases)
    }

    /// Returns `what` a missing part of the evaluation would have shown, with the reason; `None` if the part was run.
    fn missing(&self, part: &str, what: &str) -> Option<String> {
        let why = self.why_missing(part)?;
        Some(format!("{what}: {why}"))
    }

    /// Returns the reason why a part of the evaluation has no findings. A single run has no parts that could be
    /// missing.
    fn why_missing(&self, part: &str) -> Option<&'a str> {
        let record = self.parts?.iter().find(|record| record.part == part);
        Some(match record.map(|record| &record.state) {
            None | Some(PartState::LeftOut) => "it was left out",
            Some(PartState::Pending) => "it was not reached",
            Some(PartState::Interrupted) => "it was interrupted",
            Some(PartState::Done) => "it found nothing that can be compared",
            Some(PartState::Failed { why } | PartState::Unsupported { why }) => why,
        })
    }

    /// Returns `: it was left out` as the end of a sentence about a part; a full stop if the part is not missing.
    fn because_of(&self, part: &str) -> String {
        match self.why_missing(part) {
            Some(why) => format!(": {}.", why.trim_end_matches('.')),
            None => ".".to_owned(),
        }
    }
}

/// Returns whether no question has the answer *no*. A run of one kind fails by its answers only if the user sets
/// thresholds: without them, it only measures.
pub(crate) fn none_is_no(questions: &[Asked]) -> bool {
    let mut answers = questions.iter().map(|asked| asked.question.answer);
    answers.all(|answer| answer != Answer::No)
}
