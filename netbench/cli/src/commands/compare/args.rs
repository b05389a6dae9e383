use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::options::Output;

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench compare runs/before runs/after --fail-on-regression 2%
  netbench compare runs/one --stack openssl,rustls-aws-lc
  netbench compare runs/before runs/after --format junit > compare.xml

A case has regressed when its change is over the threshold and its interval excludes no change at all.";

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The run that is compared with
    #[arg(value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) first: PathBuf,
    /// The run that is compared; without it, two stacks of the first
    #[arg(value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) other: Option<PathBuf>,
    /// A stack of each; of one run, without it, its first two
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) stack: Vec<String>,
    /// Exit with 4 if any case is worse by more than this, such as 2%
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    pub(crate) fail_on_regression: Option<f64>,
    /// Compare runs whose settings or machines differ
    #[arg(long)]
    pub(crate) allow_different_settings: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A percentage of at most 1000. Without its sign, `2` could be meant as 2 % and `0.02` too.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage with its sign, such as 2%".to_owned()),
    }
}
