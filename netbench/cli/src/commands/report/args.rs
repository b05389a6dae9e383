use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::{format::Format, options::Output};

/// For the end of `--help`.
pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench report runs/2026-…                          the tables, on the terminal
  netbench report runs/2026-… --format html --open     one page with charts, in the browser
  netbench report runs/a runs/b --output both.html     two runs side by side, on one page
  netbench report runs/2026-… --format junit --output junit.xml";

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders of runs; several go side by side
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) runs: Vec<PathBuf>,
    /// Form of the report; html if the name of --output says so, or with --open
    #[arg(long, value_enum, help_heading = "Results")]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format", help_heading = "Results")]
    json: bool,
    /// Write to FILE (- is stdout). Without it html goes to report.html in the run's folder, all else to stdout
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Results")]
    pub(crate) output: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long, help_heading = "Results")]
    pub(crate) open: bool,
    /// Say nothing of where things are
    #[arg(long, short, help_heading = "Results")]
    pub(crate) quiet: bool,
}

impl Report {
    pub(crate) fn format(&self) -> Format {
        let ending = self.output.as_deref().and_then(Path::extension);
        let page = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("html"));
        match self.format {
            Some(format) => format,
            None if self.json => Format::named("json"),
            None if page || self.open => Format::named("html"),
            None => Format::default(),
        }
    }

    /// As other commands are asked for a form.
    pub(crate) fn as_output(&self) -> Output {
        Output {
            format: self.format(),
            json: false,
            quiet: self.quiet,
            github_summary: false,
        }
    }
}
