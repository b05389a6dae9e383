//! The options of `netbench runs compare`, and the end of a comparison.

use std::{collections::BTreeSet, path::PathBuf};

use clap::{Args, ValueHint};
use netbench_report::{Difference, Gate, Report};

use crate::{
    exit::{Ended, bail_input},
    options::Output,
    output,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench runs compare runs/before runs/after --fail-on-regression 2%
  netbench runs compare runs/before runs/after --stack openssl,rustls-aws-lc
  netbench runs compare runs/one --stack openssl,rustls-aws-lc
  netbench runs compare runs/before runs/after --format junit > compare.xml
  netbench runs compare runs/monday runs/tuesday runs/wednesday
  netbench runs compare runs/*-evaluate --format html > switch.html

--fail-on-regression has three outcomes, each with an exit code:
  passed       0  of every case the whole confidence interval is within the
                  threshold
  regressed    4  of a case the whole confidence interval is beyond it
  cannot tell  6  of a case the interval contains the threshold, or there is
                  none: too few rounds, or a machine that was never quiet
Cases that cannot be told are named, with the number of rounds that would tell.
The report also gives the power of the rounds: how often they would find a
change of twice the threshold.

Of runs of connect, every site that both have is compared by its total time, with
each condition and stack that both have. A site that fails in every trial, and
did not before, has regressed too.

Joined runs are of the same stacks and cases, measured at different times. The
confidence interval then includes what differs between runs. Of evaluations, two
or more of the same switch are joined; an answer stands if all that give one
agree.";

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Two runs of suite or connect to compare; one run of the suite to compare two of its stacks, three or more to join; two evaluations or more to join
    #[arg(value_name = "RUN", required = true, value_hint = ValueHint::DirPath)]
    pub(crate) runs: Vec<PathBuf>,
    /// Join two runs instead of comparing them
    #[arg(long, conflicts_with = "fail_on_regression")]
    pub(crate) join: bool,
    /// Stack of the first run and stack of the second [default: the first ones]
    #[arg(long, short, value_name = "A,B", value_delimiter = ',')]
    pub(crate) stack: Vec<String>,
    /// Exit with code 4 if a case got worse by more than this, such as 2%, and with 6 if that cannot be told
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    pub(crate) fail_on_regression: Option<f64>,
    /// Compare runs even if their settings or machines differ
    #[arg(long)]
    pub(crate) allow_different_settings: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Parses a percentage of at most 1000. Without its sign, both `2` and `0.02` could mean 2 %.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage with its sign, such as 2%".to_owned()),
    }
}

/// Prints a comparison, and returns how the command ends.
pub(crate) fn conclude(
    comparison: &impl Report,
    differences: &[Difference],
    gate: Option<Gate>,
    options: &Compare,
) -> anyhow::Result<Ended> {
    refuse(differences, options)?;
    output::print(comparison, &options.output)?;
    Ok(ended(comparison.tells(), gate))
}

/// Refuses runs that are joined with themselves, which would make intervals too narrow.
pub(crate) fn all_differ(runs: &[PathBuf]) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for run in runs {
        let place = run.canonicalize().unwrap_or_else(|_| run.clone());
        if !seen.insert(place) {
            bail_input!(
                "{}: given twice; a run is not joined with itself",
                run.display()
            );
        }
    }
    Ok(())
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
pub(crate) fn refuse(differences: &[Difference], options: &Compare) -> anyhow::Result<()> {
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
