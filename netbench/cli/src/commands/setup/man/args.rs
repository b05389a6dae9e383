use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write a page for each command to [default: the main page, to stdout]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}
