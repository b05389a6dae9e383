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
mod features;
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
pub use browser::*;
pub use chains::*;
pub use compat::*;
pub use connect::*;
pub use differences::{Compared, Difference};
pub use document::{Document, Extent, Report, Section};
pub use evaluation::*;
pub use explain::*;
pub use features::*;
pub use formats::{FORMATS, Format, Goes, Needs, Options, Style, Takes, format};
pub use gate::*;
pub use matrix::*;
pub use netbench_stats::MIN_ROUNDS as FEWEST_ROUNDS;
pub use roots::*;
pub use row::Row;
pub use run::{RunHead, SummaryHead};
pub use runs::{RunRow, RunsSummary};
pub use scan::*;
pub use ship::*;
pub use stacks::*;
pub use suite::*;
pub use text::{count, whole, wrap};

use netbench_model::{
    ConnectManifest, EvaluationManifest, Sample, ScanManifest, SuiteManifest, SuiteSample,
    browser::{BrowserManifest, VisitSample},
    chains::{ChainSample, ChainsManifest},
    compat::{CompatManifest, CompatSample},
    coverage::{Coverage, Defects, Difference as CoverageDifference, Matrix as SupportMatrix},
    features::{FeatureSample, FeaturesManifest},
    roots::{RootsManifest, RootsSample},
    scan::{AgainstRecord, SiteScan},
    ship::{ShipManifest, ShipSample},
};
use netbench_protocol::{Request, Response};
use schemars::{JsonSchema, schema_for};

/// A JSON Schema, by the name of its file under `netbench/schemas/`.
pub struct Schema {
    /// The file's name.
    pub file: &'static str,
    /// The schema, with a last line end.
    pub text: String,
}

/// Returns the schemas of everything that netbench publishes, made from its types.
pub fn schemas() -> Vec<Schema> {
    vec![
        schema::<Coverage>("bogo-coverage.json"),
        schema::<SupportMatrix>("bogo-matrix.json"),
        schema::<Defects>("bogo-defects.json"),
        schema::<CoverageDifference>("bogo-difference.json"),
        schema::<BreakagesReport>("breakages.json"),
        schema::<BrowserManifest>("browser-run.json"),
        schema::<VisitSample>("browser-sample.json"),
        schema::<BrowserSummary>("browser-summary.json"),
        schema::<ChainsManifest>("chains-run.json"),
        schema::<ChainSample>("chains-sample.json"),
        schema::<ChainsSummary>("chains-summary.json"),
        schema::<CompareSummary>("compare-summary.json"),
        schema::<CompatManifest>("compat-run.json"),
        schema::<CompatSample>("compat-sample.json"),
        schema::<CompatSummary>("compat-summary.json"),
        schema::<ShipManifest>("ship-run.json"),
        schema::<ShipSample>("ship-sample.json"),
        schema::<ShipSummary>("ship-summary.json"),
        schema::<ConnectComparison>("connect-compare.json"),
        schema::<ConnectSummary>("connect-summary.json"),
        schema::<Evaluation>("evaluation.json"),
        schema::<EvaluationManifest>("evaluation-run.json"),
        schema::<ExplainSummary>("explain-summary.json"),
        schema::<FeaturesManifest>("features-run.json"),
        schema::<FeatureSample>("features-sample.json"),
        schema::<FeaturesSummary>("features-summary.json"),
        schema::<HelloReport>("hello.json"),
        schema::<SuiteHistory>("suite-history.json"),
        schema::<JoinedSummary>("joined-summary.json"),
        schema::<JoinedEvaluations>("joined-evaluations.json"),
        schema::<RootsManifest>("roots-run.json"),
        schema::<RootsSample>("roots-sample.json"),
        schema::<RootsSummary>("roots-summary.json"),
        schema::<ConnectManifest>("run.json"),
        schema::<Sample>("sample.json"),
        schema::<RunsSummary>("runs.json"),
        schema::<AgainstRecord>("scan-against.json"),
        schema::<ScanDiff>("scan-diff.json"),
        schema::<ScanManifest>("scan-run.json"),
        schema::<SiteScan>("scan-site.json"),
        schema::<ScanSummary>("scan-summary.json"),
        schema::<StacksReport>("stacks.json"),
        schema::<SuiteManifest>("suite-run.json"),
        schema::<SuiteSample>("suite-sample.json"),
        schema::<SuiteSummary>("suite-summary.json"),
        schema::<Request>("worker-request.json"),
        schema::<Response>("worker-response.json"),
    ]
}

fn schema<T: JsonSchema>(file: &'static str) -> Schema {
    let schema = serde_json::to_string_pretty(&schema_for!(T)).unwrap_or_default();
    Schema {
        file,
        text: format!("{schema}\n"),
    }
}
