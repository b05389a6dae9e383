use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::options::Output;

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench runs explain runs/…                   each stack against the first
  netbench runs explain runs/… --from openssl --to rustls-ring
  netbench runs explain runs/… --json | jq '.explanations[].sentences'
  netbench suite handshake crypto && netbench runs explain runs/…
                                                 what of a handshake is cryptography";

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Folder of a run of connect, or of suite with the parts handshake and crypto
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) run: PathBuf,
    /// Stack to compare with
    #[arg(long, value_name = "STACK", requires = "to")]
    pub(crate) from: Option<String>,
    /// Stack to compare
    #[arg(long, value_name = "STACK", requires = "from")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
