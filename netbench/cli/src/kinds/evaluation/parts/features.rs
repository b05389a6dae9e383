use std::{path::Path, time::Duration};

use netbench_bogo::KnownShim;
use netbench_model::{Depth, EvaluationPlan, StackName};

use super::part::{Load, Needs, Part, Results, Step, Steps, Work, printed};
use crate::{
    client::Unstored,
    commands::bogo::cost::time_of_all,
    cost::cores,
    workers::{SourceTree, in_path},
};

pub(super) const PART: Part = Part {
    name: "features",
    needs: Needs::Nothing,
    load: Load::Untimed,
    steps,
    collect,
};

const MATRIX: &str = "matrix.json";
const DEFECTS: &str = "defects.json";
const COVERAGE: &str = "coverage.json";
const DIFFERENCE: &str = "difference.json";

/// Returns the note on stored outcomes, or `None` if the tests are run.
fn note(plan: &EvaluationPlan) -> Option<&'static str> {
    match plan.depth {
        Depth::Quick => {
            Some("the stored outcomes of results/bogo are shown, not those of a run of today")
        }
        Depth::Full if SourceTree::find().is_none() => Some(
            "the stored outcomes of results/bogo are shown, because a run of the protocol tests needs netbench's source",
        ),
        Depth::Full if in_path("go").is_none() => Some(
            "the stored outcomes of results/bogo are shown, because a run of the protocol tests needs Go (https://go.dev/dl)",
        ),
        Depth::Full => None,
    }
}

fn steps<'a>(plan: &'a EvaluationPlan, _: &'a Unstored) -> Result<Steps<'a>, String> {
    let (from, to) = (shim(&plan.from)?, shim(&plan.to)?);
    if from == to {
        let why = format!(
            "{} and {} have the same shim for the protocol tests",
            plan.from, plan.to
        );
        return Err(why);
    }
    let note = note(plan);
    let time = match note {
        None => time_of_all(2, cores().into()),
        Some(_) => Duration::ZERO,
    };
    let stored = note.map(|_| "--stored");
    let shims = format!("--shim={from},{to}");
    // The first step runs the tests; the others find the cached results.
    let steps = [
        (vec!["bogo", &shims], COVERAGE, time),
        (vec!["bogo", &shims, "--matrix"], MATRIX, Duration::ZERO),
        (vec!["bogo", "defects", from, to], DEFECTS, Duration::ZERO),
        (vec!["bogo", "diff", from, to], DIFFERENCE, Duration::ZERO),
    ];
    let steps = steps.map(|(command, file, time)| {
        let arguments = command.into_iter().chain(["--json"]).chain(stored);
        Step {
            work: Work::Printed {
                arguments: arguments.map(str::to_owned).collect(),
                file,
                time,
            },
            only_if: None,
        }
    });
    Ok(Steps {
        steps: steps.into(),
        notes: note.map(str::to_owned).into_iter().collect(),
    })
}

/// Returns the shim of a stack. Copies of a stack and builds of one library share a shim.
fn shim(stack: &StackName) -> Result<&'static str, String> {
    let stack = stack.stack();
    let shim = KnownShim::of_stack(stack).ok_or_else(|| {
        let shown = stack.escape_debug();
        format!("there is no shim of {shown} for the protocol tests")
    })?;
    Ok(shim.name)
}

fn collect(folder: &Path, _: &EvaluationPlan, results: &mut Results) -> anyhow::Result<()> {
    let found = &mut results.found;
    found.matrix = printed(&folder.join(MATRIX))?;
    found.defects = printed(&folder.join(DEFECTS))?;
    found.coverage = printed(&folder.join(COVERAGE))?;
    found.difference = printed(&folder.join(DIFFERENCE))?;
    Ok(())
}
