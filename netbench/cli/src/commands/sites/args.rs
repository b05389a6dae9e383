use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct Sites {
    #[command(subcommand)]
    pub(crate) command: SitesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SitesCommand {
    /// Say whether a sites file is right, and if not, every line that is wrong
    Check {
        /// The file; without it, the built-in one
        #[arg(value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
    /// Print the built-in sites file, to begin one's own from
    Print,
    /// Print a sites file that emulates the sites of a scan, with their measured round-trip times
    Record {
        /// The scan's folder
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
    },
}
