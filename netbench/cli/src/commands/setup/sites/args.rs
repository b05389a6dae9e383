use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct Sites {
    #[command(subcommand)]
    pub(crate) command: SitesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SitesCommand {
    /// Check a sites file and list every line that is wrong
    Check {
        /// File to check [default: the built-in one]
        #[arg(value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
    /// Print the built-in sites file
    Print,
    /// Print a sites file that emulates the servers of a scan
    Record {
        /// Folder of the scan
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
    },
}
