use std::{ffi::OsString, path::Path, sync::Arc};

use netbench_model::{
    EvaluationPlan,
    compat::{CompatManifest, CompatSample},
};
use netbench_report::{Found, Report, summarize_compat};

use super::parts::{Part, RUN, Steps, Unsupported, run_in, words, worker_arguments};
use crate::stored::wrong;

pub(super) const PART: Part = Part {
    name: "compat",
    steps,
    unstored: |_| Vec::new(),
    collect,
};

fn steps(plan: &EvaluationPlan) -> Result<Steps, Unsupported> {
    let (from, to) = (plan.from.stack(), plan.to.stack());
    let mut arguments = words(&format!("compat --stack {from},{to}"));
    arguments.extend(worker_arguments(plan));
    if let Some(profile) = plan.client_profile {
        arguments.extend([OsString::from("--client-profile"), profile.name().into()]);
    }
    Ok(Steps::runs([(RUN, arguments)]))
}

fn collect(
    folder: &Path,
    _plan: &EvaluationPlan,
    found: &mut Found,
    runs: &mut Vec<Box<dyn Report>>,
) -> anyhow::Result<()> {
    if let Some(run) = run_in(&folder.join(RUN)) {
        let manifest: CompatManifest = run.manifest().map_err(wrong)?;
        let samples: Vec<CompatSample> = run.records().map_err(wrong)?;
        let summary = summarize_compat(&manifest, samples);
        found.compat = Some(Arc::new(summary.clone()));
        runs.push(Box::new(summary));
    }
    Ok(())
}
