pub(crate) mod args;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_report::{
    Document, csv, json, junit, markdown,
    page::{self, page_of_runs},
};

use self::args::{Report, ReportFormat};
use crate::{
    browser,
    exit::{Ended, WrongInput},
    kept::Kept,
    options::Format,
    output,
};

/// Makes the reports of kept runs again, from their samples.
pub(crate) fn report(options: &Report) -> anyhow::Result<Ended> {
    let format = options.format();
    check(options, format)?;
    let runs = options.runs.iter().map(|path| Kept::read(path));
    let runs = runs.collect::<anyhow::Result<Vec<_>>>()?;
    if format == ReportFormat::Html {
        page_of(options, &runs)?;
    } else {
        others(options, format, &runs)?;
    }
    Ok(if runs.iter().all(Kept::compares) {
        Ended::Well
    } else {
        Ended::NothingToCompare
    })
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
fn page_of(options: &Report, runs: &[Kept]) -> anyhow::Result<()> {
    let page = match runs {
        [run] => run.page(),
        runs => page_of_runs(&runs.iter().flat_map(Kept::of_page).collect::<Vec<_>>()),
    };
    let bytes = page::html(&page);
    let path = match (&options.output, runs) {
        _ if to_stdout(options) => return output::write(&bytes),
        (Some(file), _) => write_file(file, &bytes)?,
        (None, [run, ..]) => run.folder().write_file("report.html", &bytes)?,
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
fn others(options: &Report, format: ReportFormat, runs: &[Kept]) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for run in runs {
        let bytes = match (run, format) {
            (Kept::Connect { summary, .. }, ReportFormat::Junit) => junit::connect(summary),
            (Kept::Suite { summary, .. }, ReportFormat::Junit) => junit::suite(summary),
            (Kept::Evaluate { .. } | Kept::Scan { .. }, ReportFormat::Junit) => {
                return Err(WrongInput(
                    "junit is of a run of connect or of the suite: those of an evaluation are in its folder"
                        .to_owned(),
                )
                .into());
            }
            (Kept::Scan { summary, .. }, _) => text(options, &**summary, format),
            (Kept::Evaluate { evaluation, .. }, _) => text(options, &**evaluation, format),
            (Kept::Connect { summary, .. }, _) => text(options, &**summary, format),
            (Kept::Suite { summary, .. }, _) => text(options, &**summary, format),
        };
        all.extend(bytes);
        let output = options.output_as(Format::Terminal);
        match run {
            Kept::Connect { summary, .. } => output::keep(run.folder(), &**summary, &output)?,
            Kept::Suite { summary, .. } => output::keep(run.folder(), &**summary, &output)?,
            Kept::Scan { summary, .. } => output::keep(run.folder(), &**summary, &output)?,
            Kept::Evaluate { evaluation, .. } => {
                output::keep(run.folder(), &**evaluation, &output)?;
            }
        }
    }
    match &options.output {
        Some(file) if !to_stdout(options) => write_file(file, &all).map(drop),
        _ => output::write(&all),
    }
}

fn text(options: &Report, report: &impl Document, format: ReportFormat) -> Vec<u8> {
    match format {
        ReportFormat::Markdown => markdown::render(report),
        ReportFormat::Csv => csv::render(report),
        ReportFormat::Json => json::render(report),
        _ if options.output.is_some() => output::plain_terminal(report),
        _ => output::terminal(report),
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_owned())
}
