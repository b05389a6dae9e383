use std::{
    io::{IsTerminal, stdout},
    path::{Path, PathBuf},
};

use clap::{Args, ValueHint};
use netbench_report::{Document, FORMATS, Format, Goes, Takes};
use netbench_stacks::cache_folder;

use crate::{
    exit::{Ended, WrongInput, bail_input},
    format::{format, named},
    kinds, output, show,
};

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

/// Makes the reports of stored runs again from their samples, without changing any stored file.
pub(crate) fn report(options: &Report) -> anyhow::Result<Ended> {
    check(options)?;
    let runs = options.runs.iter().map(|path| kinds::read(path));
    let runs = runs.collect::<anyhow::Result<Vec<_>>>()?;
    let format = options.format();
    let documents = runs.iter().map(|run| run.document(format.extent));
    let document = Document::side_by_side(documents.collect());
    if let Some(why) = format.unsupported(&document) {
        bail_input!("{why}");
    }
    let bytes = (format.render)(
        &document,
        &match options.output {
            None => output::options(),
            Some(_) => output::options_of_file(),
        },
    );
    let path = match &options.output {
        Some(file) if !to_stdout(options) => Some(output::write_file(file, &bytes)?),
        None if options.open => Some(output::write_file(&opened_page(&options.runs)?, &bytes)?),
        _ => None,
    };
    match path {
        None => output::write(&bytes)?,
        Some(path) if matches!(format.goes, Goes::Folder(_)) => {
            if !options.quiet {
                note!("netbench: the page is {}", path.display());
            }
            if options.open {
                show::open(&path);
            }
        }
        Some(_) => {}
    }
    let ends = runs.iter().map(|run| output::ended(&**run));
    Ok(ends.max().unwrap_or(Ended::Well))
}

/// Refuses contradictory options before any file is read.
fn check(options: &Report) -> Result<(), WrongInput> {
    let several = options.runs.len() > 1;
    let format = options.format();
    let is_page = matches!(format.goes, Goes::Folder(_));
    if options.open && !is_page {
        bail_input!("--open needs --format html");
    }
    if options.open && to_stdout(options) {
        bail_input!("--open needs a file, not stdout");
    }
    if several && options.open && options.output.is_none() {
        bail_input!("--open of several runs needs --output FILE");
    }
    if is_page && !options.open && options.output.is_none() && stdout().is_terminal() {
        bail_input!(
            "--format html writes a page to stdout: redirect it, or give --output FILE or --open"
        );
    }
    if several && format.takes == Takes::OneRun {
        bail_input!("--format {} takes one run", format.name);
    }
    Ok(())
}

/// Returns the path of a page that is opened. It is in the cache folder, because reading a run changes no file in it.
fn opened_page(runs: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let run = runs.first().and_then(|run| run.canonicalize().ok());
    let name = run.as_deref().and_then(Path::file_name);
    let name = name.map_or_else(|| "report".into(), |name| name.to_string_lossy());
    Ok(cache_folder("reports")?.join(format!("{name}.html")))
}

fn to_stdout(options: &Report) -> bool {
    options.output.as_deref() == Some(Path::new("-"))
}
