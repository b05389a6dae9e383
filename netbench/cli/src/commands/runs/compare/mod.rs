//! `netbench runs compare`: compares runs of one kind.

pub(crate) mod args;
pub(crate) mod connect;
pub(crate) mod suite;

use std::collections::BTreeSet;

use netbench_model::StackName;
use netbench_report::{Difference, Gate, Report};
use netbench_store::RunFolder;

use self::args::Compare;
use crate::{
    exit::{Ended, bail_input},
    kinds, output,
    stored::wrong,
};

pub(crate) fn compare(options: &Compare) -> anyhow::Result<Ended> {
    let chosen: Vec<StackName> = options.stack.iter().map(StackName::new).collect();
    let chosen = match chosen.as_slice() {
        [] => None,
        [a, b] => Some((a, b)),
        _ => bail_input!("--stack takes two stacks"),
    };
    let mut kinds = Vec::new();
    for run in &options.runs {
        kinds.push(kinds::of(&RunFolder::open(run).map_err(wrong)?)?);
    }
    for (run, kind) in options.runs.iter().zip(&kinds) {
        if kind.kind != kinds[0].kind {
            bail_input!(
                "{}: a run of {}, where {} is one of {}: only runs of one kind are compared",
                run.display(),
                kind.kind,
                options.runs[0].display(),
                kinds[0].kind
            );
        }
    }
    let Some(kind) = kinds.first() else {
        return Ok(Ended::NothingToCompare);
    };
    match kind.compare {
        Some(compare) => compare(options, chosen),
        None => bail_input!("runs of {} cannot be compared", kind.kind),
    }
}

/// Prints a comparison, and returns how the command ends.
fn conclude(
    comparison: &impl Report,
    differences: &[Difference],
    gate: Option<Gate>,
    options: &Compare,
) -> anyhow::Result<Ended> {
    refuse(differences, options)?;
    output::print(comparison, &options.output)?;
    Ok(ended(comparison.tells(), gate))
}

/// Returns how a comparison ends. `tells` is whether the comparison has anything to compare.
fn ended(tells: bool, gate: Option<Gate>) -> Ended {
    match (tells, gate) {
        (false, _) => Ended::NothingToCompare,
        (true, None | Some(Gate::Passed)) => Ended::Well,
        (true, Some(Gate::Regressed)) => Ended::CheckFailed,
        (true, Some(Gate::CannotTell)) => Ended::CannotTell,
    }
}

/// Refuses runs whose figures cannot be compared, unless the user allows it.
fn refuse(differences: &[Difference], options: &Compare) -> anyhow::Result<()> {
    let refused = differences.iter().filter(|difference| !difference.harmless);
    let refused: BTreeSet<&str> = refused.map(|difference| difference.what.as_str()).collect();
    if !refused.is_empty() && !options.allow_different_settings {
        let refused: Vec<&str> = refused.into_iter().collect();
        bail_input!(
            "the runs differ in {}, so that their figures cannot be compared; \
             --allow-different-settings compares them all the same",
            refused.join(", ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    use super::*;
    use crate::exit::code;

    #[test]
    fn each_outcome_has_its_exit_code() {
        for (tells, gate, expected) in [
            (true, None, 0),
            (true, Some(Gate::Passed), 0),
            (true, Some(Gate::Regressed), 4),
            (true, Some(Gate::CannotTell), 6),
            (false, None, 3),
            (false, Some(Gate::Passed), 3),
        ] {
            let found = code(Ok(ended(tells, gate)));
            assert_eq!(found, ExitCode::from(expected), "{tells}, {gate:?}");
        }
    }
}
