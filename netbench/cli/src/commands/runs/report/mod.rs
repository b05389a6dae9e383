pub(crate) mod args;

use std::{
    io::{IsTerminal, stdout},
    path::{Path, PathBuf},
};

use netbench_report::{Document, Goes, Takes};

use self::args::Report;
use crate::{
    cache,
    exit::{Ended, WrongInput, bail_input},
    kinds::{self, StoredRun},
    output, show,
};

/// Makes the reports of stored runs again from their samples, without changing any stored file.
pub(crate) fn report(options: &Report) -> anyhow::Result<Ended> {
    check(options)?;
    let runs = options.runs.iter().map(|path| StoredRun::read(path));
    let runs = runs.collect::<anyhow::Result<Vec<_>>>()?;
    let format = options.format();
    let documents = runs.iter().map(|run| run.report.document(format.extent));
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
    Ok(ended(&runs))
}

fn ended(runs: &[StoredRun]) -> Ended {
    let ends = runs.iter().map(|run| kinds::ended(&*run.report));
    ends.max().unwrap_or(Ended::Well)
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
    Ok(cache::folder("reports")?.join(format!("{name}.html")))
}

fn to_stdout(options: &Report) -> bool {
    options
        .output
        .as_deref()
        .is_some_and(|file| file == Path::new("-"))
}
