//! The data for the questions about a switch.

use std::sync::{Arc, LazyLock};

use netbench_interop::WebLoss;
use netbench_model::{
    ClientUse, EvaluationManifest, Losses, PartRecord, PartState, Quantity, StackName, Target,
    Thresholds,
    coverage::{Coverage, Defects, Difference, Matrix},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{limits::by_limit, question::Answer};
use crate::{
    BrowserSummary, CaseRow, CaseVerdict, ChainsSummary, CompatSummary, ConnectSummary,
    RootsSummary, SuiteSummary,
};

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

static NOTHING: LazyLock<Found> = LazyLock::new(Found::default);

/// The data for the questions about a switch: an evaluation has most of it, a single run a part.
pub(crate) struct Evidence<'a> {
    /// The stack in use.
    pub(crate) from: &'a StackName,
    /// The stack that would take its place.
    pub(crate) to: &'a StackName,
    pub(crate) target: Target,
    /// The limits by which questions are answered.
    pub(crate) thresholds: &'a Thresholds,
    pub(crate) client_use: ClientUse,
    /// The findings of all parts but the suite's.
    pub(crate) found: &'a Found,
    /// Whether the sites are the built-in list, because the user gave none.
    pub(crate) built_in_sites: bool,
    pub(crate) connections: Option<&'a ConnectSummary>,
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
            found: &NOTHING,
            built_in_sites: false,
            connections: None,
            suites: Vec::new(),
            parts: None,
        }
    }

    pub(super) fn of_evaluation(run: &'a EvaluationManifest, found: &'a Found) -> Self {
        let plan = &run.plan;
        Self {
            found,
            built_in_sites: plan.sites_file.is_none() && plan.urls.is_empty(),
            connections: found.connections.as_deref(),
            suites: found.suites.iter().map(AsRef::as_ref).collect(),
            parts: Some(&plan.parts),
            client_use: plan.client_use,
            ..Self::of([&plan.from, &plan.to], plan.target, &run.thresholds)
        }
    }

    /// Returns the connections that are compared by their times.
    pub(crate) fn timed(&self) -> Option<&'a ConnectSummary> {
        self.pinned().or(self.connections)
    }

    /// Returns the connections with the same settings for both, if they can be compared.
    pub(super) fn pinned(&self) -> Option<&'a ConnectSummary> {
        let pinned = self.found.same_settings.as_deref();
        pinned.filter(|pinned| pinned.compares())
    }

    /// Returns the counts of the protocol tests, if an earlier version stored them without the matrix.
    pub(super) fn older_features(&self) -> Option<&'a Coverage> {
        let found = self.found;
        found.coverage.as_ref().filter(|_| found.matrix.is_none())
    }

    pub(super) fn losses(&self) -> Option<&'a Losses> {
        self.found.losses.as_ref()
    }

    /// Answers by the number of servers, chains and tests that the new stack accepts and must refuse.
    pub(super) fn of_false_accepts(&self, number: usize) -> Answer {
        by_limit(number as f64, self.thresholds.of(Quantity::FalseAccepts))
    }

    pub(super) fn cases(&self) -> impl Iterator<Item = &'a CaseRow> + Clone + use<'a> {
        self.suites.clone().into_iter().flat_map(|it| &it.cases)
    }

    /// Returns the verdicts of the suites on the new stack, each with its case.
    pub(super) fn verdicts(
        &self,
    ) -> impl Iterator<Item = (&'a CaseRow, &'a CaseVerdict)> + use<'a> {
        let to = self.to;
        let verdicts = self.suites.clone().into_iter().flat_map(|it| it.verdicts());
        verdicts.filter(move |(_, verdict)| verdict.other == *to)
    }

    /// Returns `what` a missing part of the evaluation would have shown, with the reason; `None` if the part was run.
    pub(super) fn missing(&self, part: &str, what: &str) -> Option<String> {
        let why = self.why_missing(part)?;
        Some(format!("{what}: {why}"))
    }

    /// Returns the reason why a part of the evaluation has no findings. A single run has no parts that could be
    /// missing.
    pub(super) fn why_missing(&self, part: &str) -> Option<&'a str> {
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
    pub(super) fn because_of(&self, part: &str) -> String {
        match self.why_missing(part) {
            Some(why) => format!(": {}.", why.trim_end_matches('.')),
            None => ".".to_owned(),
        }
    }
}
