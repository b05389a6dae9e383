use netbench_model::{
    ConnectManifest, EvaluationManifest, Sample, ScanManifest, SuiteManifest, SuiteSample,
    coverage::{Coverage, Difference},
    scan::{AgainstRecord, SiteScan},
};
use netbench_protocol::{Request, Response};
use schemars::schema_for;

use crate::{
    CompareSummary, ConnectSummary, Evaluation, ExplainSummary, HelloReport, RunsSummary,
    ScanSummary, SuiteSummary,
};

/// A JSON Schema, by the name of its file under `netbench/schemas/`.
pub struct Schema {
    /// The file's name.
    pub file: &'static str,
    /// The schema, with a last line end.
    pub text: String,
}

/// The schemas of everything that netbench publishes, made from its types.
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
        schema("bogo-difference.json", schema_for!(Difference)),
        schema("compare-summary.json", schema_for!(CompareSummary)),
        schema("connect-summary.json", schema_for!(ConnectSummary)),
        schema("evaluation.json", schema_for!(Evaluation)),
        schema("evaluation-run.json", schema_for!(EvaluationManifest)),
        schema("explain-summary.json", schema_for!(ExplainSummary)),
        schema("hello.json", schema_for!(HelloReport)),
        schema("run.json", schema_for!(ConnectManifest)),
        schema("sample.json", schema_for!(Sample)),
        schema("runs.json", schema_for!(RunsSummary)),
        schema("scan-against.json", schema_for!(AgainstRecord)),
        schema("scan-run.json", schema_for!(ScanManifest)),
        schema("scan-site.json", schema_for!(SiteScan)),
        schema("scan-summary.json", schema_for!(ScanSummary)),
        schema("suite-run.json", schema_for!(SuiteManifest)),
        schema("suite-sample.json", schema_for!(SuiteSample)),
        schema("suite-summary.json", schema_for!(SuiteSummary)),
        schema("worker-request.json", schema_for!(Request)),
        schema("worker-response.json", schema_for!(Response)),
    ]
}
