//! What an evaluation says: three questions, and a fourth where browsers were asked, each with a verdict, the figures that carry it, and
//! what would break.
//!
//! Start reading at [`evaluation`]; each question is answered in a file of its own, from the parts that
//! there are.

mod advice;
mod basis;
mod browsers;
mod catalogues;
mod counts;
mod document;
pub(crate) mod fast;
mod losses;
mod means;
mod sentence;
mod settle;
pub(crate) mod supports;
pub(crate) mod works;

use std::sync::Arc;

use itertools::Itertools;
use netbench_interop::WebLoss;
use netbench_model::{
    ClientUse, EvaluationManifest, Losses, PartRecord, PartState, SCHEMA_VERSION, StackName,
    Target,
    coverage::{Coverage, Defects, Difference, Matrix},
};
use netbench_stats::PairedRatio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BrowserSummary, CaseRow, ChainsSummary, CompatSummary, ConnectSummary, RootsSummary,
    SuiteSummary,
    cell::Cell,
    connect::other_work,
    document::{Report, Table},
};

pub use document::EvaluationReport;
pub use losses::{losses, web_loss};

/// What an evaluation says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// The schema's version.
    pub schema: u32,
    /// Always `evaluation`.
    pub kind: String,
    /// What was evaluated, and how far each part came.
    pub run: EvaluationManifest,
    /// All answers in one sentence.
    #[serde(default)]
    pub sentence: String,
    /// The three questions, and a fourth where browsers were asked.
    pub questions: Vec<Question>,
    /// What the parts found.
    pub found: Found,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// What the parts found, as far as they were done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// What each stack has, by BoringSSL's protocol tests: the stack in use is the first column.
    #[serde(default)]
    pub matrix: Option<Matrix>,
    /// What each does that it must not: the stack in use is the first.
    #[serde(default)]
    pub defects: Option<Defects>,
    /// How those tests went, counted: the stack in use is the first column.
    pub coverage: Option<Coverage>,
    /// What one passes and the other does not; the stack in use is the first.
    pub difference: Option<Difference>,
    /// Sites that only one of the two can agree with.
    pub losses: Option<Losses>,
    /// The expected loss among the sites of the web, by the population model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<WebLoss>,
    /// Connections; the stack in use is the first.
    pub connections: Option<Arc<ConnectSummary>>,
    /// Connections with the same settings for both, where with their own they did different work with most sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_settings: Option<Arc<ConnectSummary>>,
    /// What they do with the servers of a catalogue; the stack in use is the first.
    #[serde(default)]
    pub compat: Option<Arc<CompatSummary>>,
    /// What their verifiers say of certificate chains; the stack in use is the first.
    #[serde(default)]
    pub chains: Option<Arc<ChainsSummary>>,
    /// What they trust by themselves, with the trust stores of many systems.
    #[serde(default)]
    pub roots: Option<Arc<RootsSummary>>,
    /// What browsers do on the sites, and both stacks beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visits: Option<Arc<BrowserSummary>>,
    /// What browsers do with the servers of a catalogue, and both stacks beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Arc<CompatSummary>>,
    /// The in-memory suite, in one or more runs.
    pub suites: Vec<Arc<SuiteSummary>>,
}

/// A question, answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// What would become better, one thing a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gains: Vec<String>,
    /// What was not tested, and why.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes.
    Yes,
    /// Yes, but something is lost.
    WithLosses,
    /// No.
    No,
    /// What there is does not answer it.
    #[default]
    Open,
}

impl Answer {
    /// The one of two answers that is worse for who would switch; what is open is no worse than anything.
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

    /// A yes becomes a yes with losses; what is open stays so.
    fn at_best_with_losses(self) -> Self {
        match self {
            Self::Yes => Self::WithLosses,
            answer => answer,
        }
    }

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

impl Evaluation {
    /// Whether any question has an answer, or any part compared something: an answer stays open where another part was
    /// not tested.
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

/// Answers the questions from what the parts found.
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
        ..Evidence::of(&plan.from, &plan.to, plan.target)
    };
    let mut questions = vec![
        supports::without_cause(&evidence),
        works::answer(&evidence),
        fast::answer(&evidence),
    ];
    basis::cap(&mut questions, &evidence);
    supports::name_cause(&mut questions[0], &evidence);
    // What browsers do decides nothing.
    let sentence = sentence::sentence(&evidence, &questions);
    if !plan.browsers.is_empty() {
        let (visits, clients) = (found.visits.as_deref(), found.clients.as_deref());
        questions.push(browsers::answer(&evidence, visits, clients));
    }
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
    warnings.extend(settled);
    let connections = found.connections.iter().chain(&found.same_settings);
    // The advice to connect with the same settings has been taken where there is such a run.
    let heeded = match (&found.connections, &found.same_settings) {
        (Some(own), Some(_)) => other_work(own, &[run.plan.from.clone(), run.plan.to.clone()]),
        _ => Vec::new(),
    };
    let connections = connections.flat_map(|run| &run.warnings).unique();
    let connections = connections.filter(|warning| !heeded.contains(warning));
    let suites = found.suites.iter().flat_map(|run| &run.warnings);
    warnings.extend(connections.chain(suites).cloned());
    Evaluation {
        schema: SCHEMA_VERSION,
        kind: "evaluation".to_owned(),
        sentence,
        questions,
        found,
        warnings,
        run,
    }
}

/// A question of a document, and where on it the figures are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The question, answered.
    pub question: Question,
    /// Of what with what: `rustls-aws-lc in place of openssl`.
    pub about: String,
    /// The id of the section that has the rest.
    pub section: Option<String>,
    /// The id of the section that says what to do, where something is to be done.
    pub act: Option<String>,
    /// What a reader must know before quoting its figures.
    pub warnings: Vec<String>,
}

impl Question {
    /// A question without an answer.
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

    /// The answer and why.
    pub(crate) fn in_a_sentence(&self) -> String {
        let (initial, rest) = self.answer.words().split_at(1);
        format!("{}{rest}. {}", initial.to_uppercase(), self.because)
    }

    /// The figures that carry the answer.
    pub(crate) fn table(&self) -> Table {
        let table = Table::of(&self.figures)
            .col("figure", 0, |figure| Cell::text(&figure.value))
            .col("of what", 0, |figure| Cell::text(&figure.label));
        table.table()
    }
}

/// What there is to answer the questions about a switch: an evaluation has most of it, a single run
/// some.
pub(crate) struct Evidence<'a> {
    /// The stack in use.
    pub(crate) from: &'a StackName,
    /// The stack that would take its place.
    pub(crate) to: &'a StackName,
    /// Where the sites are.
    pub(crate) target: Target,
    /// What the client is for.
    pub(crate) client_use: ClientUse,
    /// Features; the stack in use is the first column.
    pub(crate) matrix: Option<&'a Matrix>,
    /// The counts of the protocol tests, where an earlier version stored them without the matrix.
    pub(crate) older_features: Option<&'a Coverage>,
    /// What each does that it must not; the stack in use is the first.
    pub(crate) defects: Option<&'a Defects>,
    /// Sites that only one of the two can agree with.
    pub(crate) losses: Option<&'a Losses>,
    /// The expected loss among the sites of the web.
    pub(crate) web: Option<&'a WebLoss>,
    /// Whether the user gave no sites, so that the built-in list took their place.
    pub(crate) built_in_sites: bool,
    /// Connections.
    pub(crate) connections: Option<&'a ConnectSummary>,
    /// Connections with the same settings for both, where these had to be made as well.
    pub(crate) same_settings: Option<&'a ConnectSummary>,
    /// What both do with the servers of a catalogue; the stack in use is the first.
    pub(crate) compat: Option<&'a CompatSummary>,
    /// What both say of certificate chains; the stack in use is the first.
    pub(crate) chains: Option<&'a ChainsSummary>,
    /// What both trust by themselves.
    pub(crate) roots: Option<&'a RootsSummary>,
    /// Runs of the in-memory suite.
    pub(crate) suites: Vec<&'a SuiteSummary>,
    /// The parts of an evaluation, which should have found all of this; none of a single run.
    pub(crate) parts: Option<&'a [PartRecord]>,
}

impl<'a> Evidence<'a> {
    /// Nothing yet.
    pub(crate) fn of(from: &'a StackName, to: &'a StackName, target: Target) -> Self {
        Self {
            from,
            to,
            target,
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

    /// The connections that are compared by their times.
    pub(crate) fn timed(&self) -> Option<&'a ConnectSummary> {
        let pinned = self.same_settings.filter(|pinned| pinned.compares());
        pinned.or(self.connections)
    }

    /// The cases of the suites, in the order of the runs.
    fn cases(&self) -> impl Iterator<Item = &'a CaseRow> + use<'a> {
        self.suites
            .clone()
            .into_iter()
            .flat_map(|suite| &suite.cases)
    }

    /// What is missing for want of a part of the evaluation, and why.
    fn missing(&self, part: &str, what: &str) -> Option<String> {
        let why = self.why_missing(part)?;
        Some(format!("{what}: {why}"))
    }

    /// Why a part of the evaluation has found nothing. A single run has no parts that could be missing.
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

    /// `: it was left out` after what a part should have found; a full stop where it is not missing.
    fn because_of(&self, part: &str) -> String {
        match self.why_missing(part) {
            Some(why) => format!(": {}.", why.trim_end_matches('.')),
            None => ".".to_owned(),
        }
    }
}

/// A switch that loses this share of the sites, or more, is no replacement.
pub(crate) const LOST_SHARE: f64 = 0.05;

/// How the expected loss among the sites of the web answers: by its whole interval, which contains the limit if the sources do not decide.
fn of_web(loss: &WebLoss) -> Answer {
    let limit = LOST_SHARE * 1e6;
    if loss.low >= limit {
        Answer::No
    } else if loss.high >= limit {
        Answer::Open
    } else if loss.high > 0.0 {
        Answer::WithLosses
    } else {
        Answer::Yes
    }
}

/// A connection that takes this much longer is still fast enough: less than what one lost packet in
/// a few hundred connections does to the mean, and than any user sees.
pub(crate) const NO_MORE_THAN: f64 = 1.05;

/// How many sites may be lost before the answer is no.
fn of_lost(lost: u64, of: u64) -> Answer {
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
