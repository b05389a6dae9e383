use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use crate::options::{Format, Output};

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
    format: Option<ReportFormat>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Tables for a terminal
    Terminal,
    Markdown,
    Csv,
    Json,
    /// Tests that fail, for test services
    Junit,
    /// One page with charts that needs nothing from anywhere
    Html,
}

impl Report {
    pub(crate) fn format(&self) -> ReportFormat {
        let page = self.output.as_ref().is_some_and(|file| {
            file.extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("html"))
        });
        match self.format {
            Some(format) => format,
            None if self.json => ReportFormat::Json,
            None if page || self.open => ReportFormat::Html,
            None => ReportFormat::Terminal,
        }
    }

    /// As other commands are asked for a form.
    pub(crate) fn output_as(&self, format: Format) -> Output {
        Output {
            format,
            json: false,
            quiet: self.quiet,
            github_summary: false,
        }
    }
}
