//! Evaluations: their parts, which are runs of other kinds or the output of other commands. A new
//! part is a file here and a line in [`PARTS`].

mod browsers;
mod compat;
mod connections;
mod features;
mod part;
mod sites;
mod suite;

use netbench_model::EvaluationManifest;
use netbench_report::{EvaluationReport, evaluation};
use netbench_store::RunFolder;

pub(super) use self::{
    browsers::NAME as BROWSERS,
    part::{Needs, Part, Results, Step, Steps, Work, run_in},
};
use crate::{exit::in_a_line, stored::wrong};

/// All parts, in the order in which they run: quick parts, and those that measure no time, come first.
pub(crate) const PARTS: [Part; 6] = [
    features::PART,
    compat::PART,
    sites::PART,
    browsers::PART,
    connections::PART,
    suite::PART,
];

pub(super) fn named(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

/// Reads an evaluation and the results of its parts.
pub(super) fn read(folder: &RunFolder) -> anyhow::Result<EvaluationReport> {
    let manifest: EvaluationManifest = folder.manifest().map_err(wrong)?;
    let mut results = Results::default();
    let mut unread = Vec::new();
    for record in &manifest.plan.parts {
        let Some(part) = named(&record.part) else {
            continue;
        };
        let place = folder.path().join(part.name);
        if let Err(error) = (part.collect)(&place, &manifest.plan, &mut results) {
            unread.push(format!(
                "The results of the part {} cannot be read: {}",
                part.name,
                in_a_line(&error)
            ));
        }
    }
    let mut evaluation = evaluation(manifest, results.found);
    evaluation.warnings.extend(unread);
    Ok(EvaluationReport {
        evaluation,
        parts: results.runs,
    })
}
