use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use netbench_report::{FORMATS, Format};

use crate::format::{format, named};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench runs report runs/2026-…                        tables, on the terminal
  netbench runs report runs/2026-… --open                 charts, in the browser
  netbench runs report runs/a runs/b --output both.html   two runs side by side
  netbench runs report runs/2026-… --format junit --output junit.xml";

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders of runs; several are shown side by side
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) runs: Vec<PathBuf>,
    /// Format of the report [default: terminal; html with --open, or if FILE ends in .html]
    #[arg(long, value_parser = format())]
    format: Option<&'static Format>,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to FILE, - for stdout [default: stdout; with --open, a file in the cache folder]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Open the HTML report in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Do not print where files are
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Report {
    pub(crate) fn format(&self) -> &'static Format {
        let ending = self.output.as_deref().and_then(Path::extension);
        let page = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("html"));
        match self.format {
            Some(format) => format,
            None if self.json => named("json"),
            None if page || self.open => named("html"),
            None => &FORMATS[0],
        }
    }
}
