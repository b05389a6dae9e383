pub(crate) mod args;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_report::page::{self, page_of_runs};

use self::args::{Report, ReportFormat};
use crate::{
    browser,
    exit::{Ended, WrongInput},
    kinds::{StoredRun, ended},
    options::Format,
    output,
};

/// Makes the reports of stored runs again, from their samples.
pub(crate) fn report(options: &Report) -> anyhow::Result<Ended> {
    let format = options.format();
    check(options, format)?;
    let runs = options.runs.iter().map(|path| StoredRun::read(path));
    let runs = runs.collect::<anyhow::Result<Vec<_>>>()?;
    if format == ReportFormat::Html {
        page_of(options, &runs)?;
    } else {
        others(options, format, &runs)?;
    }
    let ends = runs.iter().map(|run| ended(&*run.report));
    Ok(ends.max().unwrap_or(Ended::Well))
}

/// Finds what is wrong before anything is read.
fn check(options: &Report, format: ReportFormat) -> Result<(), WrongInput> {
    let several = options.runs.len() > 1;
    if options.open && format != ReportFormat::Html {
        return Err(WrongInput("--open is for --format html".to_owned()));
    }
    if options.open && to_stdout(options) {
        return Err(WrongInput("--open needs a file".to_owned()));
    }
    if several && format == ReportFormat::Html && options.output.is_none() {
        return Err(WrongInput(
            "several runs have no folder in common: --output says where the page goes".to_owned(),
        ));
    }
    let one_alone = matches!(
        format,
        ReportFormat::Csv | ReportFormat::Json | ReportFormat::Junit
    );
    if several && one_alone {
        return Err(WrongInput(
            "csv, json and junit are of one run: several go into html, markdown or terminal"
                .to_owned(),
        ));
    }
    Ok(())
}

fn to_stdout(options: &Report) -> bool {
    options
        .output
        .as_deref()
        .is_some_and(|file| file == Path::new("-"))
}

/// Writes the page, and opens it where that is asked for.
fn page_of(options: &Report, runs: &[StoredRun]) -> anyhow::Result<()> {
    let page = match runs {
        [run] => run.report.page(),
        runs => page_of_runs(
            &runs
                .iter()
                .flat_map(|run| run.report.runs())
                .collect::<Vec<_>>(),
        ),
    };
    let bytes = page::html(&page);
    let path = match (&options.output, runs) {
        _ if to_stdout(options) => return output::write(&bytes),
        (Some(file), _) => write_file(file, &bytes)?,
        (None, [run, ..]) => run.folder.write_file("report.html", &bytes)?,
        (None, []) => return Ok(()),
    };
    if !options.quiet {
        eprintln!("netbench: the page is {}", path.display());
    }
    if options.open {
        browser::open(&path)?;
    }
    Ok(())
}

/// Every form but the page. The summaries in a run's folder are made again too.
fn others(options: &Report, format: ReportFormat, runs: &[StoredRun]) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for run in runs {
        let plain = options.output.is_some();
        let bytes = run.report.bytes(format, plain).ok_or_else(|| {
            let why = "junit is of a run of connect or of the suite: those of an evaluation are in its folder";
            WrongInput(why.to_owned())
        })?;
        all.extend(bytes);
        run.report
            .store(&run.folder, &options.output_as(Format::Terminal))?;
    }
    match &options.output {
        Some(file) if !to_stdout(options) => write_file(file, &all).map(drop),
        _ => output::write(&all),
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_owned())
}
