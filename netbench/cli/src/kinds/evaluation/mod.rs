//! Evaluations: their parts, which are runs of other kinds or the output of other commands. A new
//! part is a file here and a line in [`PARTS`].

pub(crate) mod browsers;
mod compat;
mod connections;
mod features;
pub(crate) mod parts;
mod sites;
mod suite;

use netbench_model::{EvaluationManifest, EvaluationPlan, Plan};
use netbench_report::{EvaluationReport, Found, RunRow, evaluation};
use netbench_store::{RunFolder, StoreError};

use self::parts::Part;
use super::{Holds, KindOfRun};
use crate::{commands::evaluate::go_on, exit::in_a_line, stored::wrong};

pub(super) const KIND: KindOfRun = KindOfRun {
    kind: EvaluationPlan::KIND,
    read: |folder| Ok(Box::new(read(folder)?)),
    list,
    run: go_on,
    merge: None,
    compare: None,
    holds: Holds::Runs,
};

/// All parts, in the order in which they run: quick parts, and those that least need an idle
/// machine, come first.
pub(crate) const PARTS: [Part; 6] = [
    features::PART,
    compat::PART,
    browsers::PART,
    sites::PART,
    connections::PART,
    suite::PART,
];

/// Reads an evaluation and the results of its parts.
pub(crate) fn read(folder: &RunFolder) -> anyhow::Result<EvaluationReport> {
    let manifest: EvaluationManifest = folder.manifest().map_err(wrong)?;
    let mut found = Found::default();
    let mut parts = Vec::new();
    let mut unread = Vec::new();
    for record in &manifest.plan.parts {
        let Some(part) = PARTS.iter().find(|part| part.name == record.part) else {
            continue;
        };
        let place = folder.path().join(part.name);
        if let Err(error) = (part.collect)(&place, &manifest.plan, &mut found, &mut parts) {
            unread.push(format!(
                "The results of the part {} cannot be read: {}",
                part.name,
                in_a_line(&error)
            ));
        }
    }
    let mut evaluation = evaluation(manifest, found);
    evaluation.warnings.extend(unread);
    Ok(EvaluationReport { evaluation, parts })
}

fn list(folder: &RunFolder) -> Result<RunRow, StoreError> {
    let manifest: EvaluationManifest = folder.manifest()?;
    let plan = manifest.plan;
    Ok(RunRow {
        kind: manifest.kind.to_string(),
        stacks: [plan.from, plan.to]
            .iter()
            .map(ToString::to_string)
            .collect(),
        sites: plan.sites.into(),
        started: manifest.started,
        finished: manifest.finished,
        ..RunRow::default()
    })
}
