//! Reports of runs: a summary computed from a run's manifest and samples, the document made from it, and the
//! formats of that document.
//!
//! Each kind of run has a module with its summary and its [`Report`]; [`Document`] is a report independent of its
//! format, and [`FORMATS`] are the formats, each a function from a document to bytes. No format reads the output of
//! another.
//!
//! This crate must never touch a file or a terminal. Start reading at [`Document`], then [`summarize`] and
//! [`ConnectReport`].

mod bogo;
mod breakages;
mod browser;
mod cell;
mod chains;
mod compat;
mod connect;
mod differences;
mod document;
mod evaluation;
mod explain;
mod formats;
mod gate;
mod matrix;
mod roots;
mod row;
mod run;
mod runs;
mod scan;
mod ship;
mod stacks;
mod suite;
mod text;

pub use breakages::BreakagesReport;
pub use browser::{
    AttemptRow, BrowserHead, BrowserSummary, ClientRow, FarVisit, ObjectsRow, PacketsRow,
    VisitComparison, VisitFailure, VisitNegotiated, VisitPhase, VisitPhaseRow, VisitUnsupported,
    VisitsOf, summarize_browser,
};
pub use chains::{
    BrokenChain, ChainDifference, ChainKind, ChainsHead, ChainsSummary, WrongVerdicts,
    summarize_chains,
};
pub use compat::{
    CompatCell, CompatDifference, CompatDisagreement, CompatHead, CompatResult, CompatSummary,
    Stance, summarize_compat,
};
pub use connect::{
    ChangedSite, ColdAgainst, ColdCauses, ColdRow, ColdStep, Comparison, ConnectComparison,
    ConnectReport, ConnectSummary, DifferenceParts, Exclusion, FailureRow, Fit, Head, LossSummary,
    NegotiatedRow, OnceCost, OnceInterval, PhaseChange, PhaseOf, PhaseOfRuns, PhaseRow, PointOf,
    Predicted, ReachChange, ShareRow, SiteOf, SiteOfRuns, SiteRow, SiteTally, StacksOfRuns, StepOf,
    SweepDifference, SweepStep, SweepSummary, SweepTime, SweepTurn, UnsupportedRow,
    compare_runs_of_connect, summarize,
};
pub use document::{Document, Extent, Report, Section};
pub use evaluation::{
    Answer, Asked, Counted, Evaluation, EvaluationReport, Families, Family, FamilyError, Finding,
    Found, KeyFigure, Member, PublishedShare, Question, Severity, Share, ShareOf, Subject,
    evaluation, losses, web_loss,
};
pub use explain::{
    AgainstRow, BimodalRow, CharacteristicRow, ConditionRow, ExplainSummary, Explanation,
    ModeCause, SharedRow, explain,
};
pub use formats::{FORMATS, Format, Goes, Needs, Options, Style, Takes, format};
pub use gate::{Gate, Judged, Power, Regression};
pub use matrix::{Attempt, ComparedStack, Judgements, Matrix, MatrixCase, Switch};
pub use netbench_stats::MIN_ROUNDS as FEWEST_ROUNDS;
pub use roots::{RootsCell, RootsHead, RootsSummary, WrongTrust, summarize_roots};
pub use row::Row;
pub use run::{RunHead, SummaryHead};
pub use runs::{RunRow, RunsSummary};
pub use scan::{
    AlikeSites, ChangedScan, HelloReport, ManySites, PartialSites, ScanDiff, ScanHead, ScanOfDiff,
    ScanSummary, Support, diff_scans, summarize_scan,
};
pub use ship::{ShipHead, ShipRow, ShipSummary, summarize_ship};
pub use stacks::{BuildTime, LicenceRow, StackRow, StacksReport, VariantRow, WorkerState};
pub use suite::{
    Agreement, CaseOfSides, CaseRow, CaseVerdict, CompareSummary, Compared, ComparedCase,
    Difference, HandshakeBreakdown, JoinedCase, JoinedRun, JoinedSummary, PublishedRow,
    PublishedTable, RunSays, StackFigures, SuiteExplained, SuiteFailure, SuiteHead, SuiteReport,
    SuiteSummary, Today, compare_runs_of_suite, compare_stacks_of_suite, decided, idle_reference,
    join_runs_of_suite, summarize_suite,
};
pub use text::{count, wrap};

use netbench_model::{
    ConnectManifest, EvaluationManifest, Sample, ScanManifest, SuiteManifest, SuiteSample,
    browser::{BrowserManifest, VisitSample},
    chains::{ChainSample, ChainsManifest},
    compat::{CompatManifest, CompatSample},
    coverage::{Coverage, Defects, Difference as CoverageDifference, Matrix as SupportMatrix},
    roots::{RootsManifest, RootsSample},
    scan::{AgainstRecord, SiteScan},
    ship::{ShipManifest, ShipSample},
};
use netbench_protocol::{Request, Response};
use schemars::schema_for;

/// A JSON Schema, by the name of its file under `netbench/schemas/`.
pub struct Schema {
    /// The file's name.
    pub file: &'static str,
    /// The schema, with a last line end.
    pub text: String,
}

/// Returns the schemas of everything that netbench publishes, made from its types.
pub fn schemas() -> Vec<Schema> {
    let schema = |file, schema: schemars::Schema| Schema {
        file,
        text: format!(
            "{}\n",
            serde_json::to_string_pretty(&schema).unwrap_or_default()
        ),
    };
    vec![
        schema("bogo-coverage.json", schema_for!(Coverage)),
        schema("bogo-matrix.json", schema_for!(SupportMatrix)),
        schema("bogo-defects.json", schema_for!(Defects)),
        schema("bogo-difference.json", schema_for!(CoverageDifference)),
        schema("breakages.json", schema_for!(BreakagesReport)),
        schema("browser-run.json", schema_for!(BrowserManifest)),
        schema("browser-sample.json", schema_for!(VisitSample)),
        schema("browser-summary.json", schema_for!(BrowserSummary)),
        schema("chains-run.json", schema_for!(ChainsManifest)),
        schema("chains-sample.json", schema_for!(ChainSample)),
        schema("chains-summary.json", schema_for!(ChainsSummary)),
        schema("compare-summary.json", schema_for!(CompareSummary)),
        schema("compat-run.json", schema_for!(CompatManifest)),
        schema("compat-sample.json", schema_for!(CompatSample)),
        schema("compat-summary.json", schema_for!(CompatSummary)),
        schema("ship-run.json", schema_for!(ShipManifest)),
        schema("ship-sample.json", schema_for!(ShipSample)),
        schema("ship-summary.json", schema_for!(ShipSummary)),
        schema("connect-compare.json", schema_for!(ConnectComparison)),
        schema("connect-summary.json", schema_for!(ConnectSummary)),
        schema("evaluation.json", schema_for!(Evaluation)),
        schema("evaluation-run.json", schema_for!(EvaluationManifest)),
        schema("explain-summary.json", schema_for!(ExplainSummary)),
        schema("hello.json", schema_for!(HelloReport)),
        schema("joined-summary.json", schema_for!(JoinedSummary)),
        schema("roots-run.json", schema_for!(RootsManifest)),
        schema("roots-sample.json", schema_for!(RootsSample)),
        schema("roots-summary.json", schema_for!(RootsSummary)),
        schema("run.json", schema_for!(ConnectManifest)),
        schema("sample.json", schema_for!(Sample)),
        schema("runs.json", schema_for!(RunsSummary)),
        schema("scan-against.json", schema_for!(AgainstRecord)),
        schema("scan-diff.json", schema_for!(ScanDiff)),
        schema("scan-run.json", schema_for!(ScanManifest)),
        schema("scan-site.json", schema_for!(SiteScan)),
        schema("scan-summary.json", schema_for!(ScanSummary)),
        schema("stacks.json", schema_for!(StacksReport)),
        schema("suite-run.json", schema_for!(SuiteManifest)),
        schema("suite-sample.json", schema_for!(SuiteSample)),
        schema("suite-summary.json", schema_for!(SuiteSummary)),
        schema("worker-request.json", schema_for!(Request)),
        schema("worker-response.json", schema_for!(Response)),
    ]
}
