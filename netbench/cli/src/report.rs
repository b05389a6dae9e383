use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_model::{Manifest, Sample, SuiteManifest};
use netbench_report::{
    ConnectSummary, Document, SuiteSummary, csv, json, junit, markdown,
    page::{self, KeptRun, page_of_runs},
    summarize, summarize_suite,
};
use netbench_store::{RunFolder, RunKind, StoreError};

use crate::{
    args::Format,
    browser,
    exit::{Ended, WrongInput},
    output,
    report_args::{Report, ReportFormat},
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
    let kept: Vec<KeptRun<'_>> = runs.iter().map(Kept::of_page).collect();
    let bytes = page::html(&page_of_runs(&kept));
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
            (Kept::Connect { summary, .. }, _) => text(options, &**summary, format),
            (Kept::Suite { summary, .. }, _) => text(options, &**summary, format),
        };
        all.extend(bytes);
        let output = options.output_as(Format::Terminal);
        match run {
            Kept::Connect { summary, .. } => output::keep(run.folder(), &**summary, &output)?,
            Kept::Suite { summary, .. } => output::keep(run.folder(), &**summary, &output)?,
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

/// A run that was read, with what it says.
enum Kept {
    Connect {
        folder: RunFolder,
        manifest: Box<Manifest>,
        samples: Vec<Sample>,
        summary: Box<ConnectSummary>,
    },
    Suite {
        folder: RunFolder,
        manifest: Box<SuiteManifest>,
        summary: Box<SuiteSummary>,
    },
}

impl Kept {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let wrong = |error: StoreError| WrongInput(error.to_string());
        let folder = RunFolder::open(path).map_err(wrong)?;
        Ok(match folder.kind().map_err(wrong)? {
            RunKind::Connect => {
                let manifest: Manifest = folder.manifest().map_err(wrong)?;
                let samples: Vec<Sample> = folder.samples()?;
                Self::Connect {
                    summary: Box::new(summarize(&manifest, &samples)),
                    manifest: Box::new(manifest),
                    samples,
                    folder,
                }
            }
            RunKind::Suite => {
                let manifest: SuiteManifest = folder.manifest().map_err(wrong)?;
                Self::Suite {
                    summary: Box::new(summarize_suite(&manifest, &folder.samples()?)),
                    manifest: Box::new(manifest),
                    folder,
                }
            }
        })
    }

    fn folder(&self) -> &RunFolder {
        match self {
            Self::Connect { folder, .. } | Self::Suite { folder, .. } => folder,
        }
    }

    fn of_page(&self) -> KeptRun<'_> {
        match self {
            Self::Connect {
                manifest,
                samples,
                summary,
                ..
            } => KeptRun::Connect {
                summary,
                manifest,
                samples,
            },
            Self::Suite {
                manifest, summary, ..
            } => KeptRun::Suite { summary, manifest },
        }
    }

    /// Whether there is a figure to read, as `connect` and `suite` end with it.
    fn compares(&self) -> bool {
        match self {
            Self::Connect { summary, .. } => {
                let mut comparisons = summary.comparisons.iter();
                comparisons.any(|comparison| !comparison.phases.is_empty())
            }
            Self::Suite {
                manifest, summary, ..
            } => {
                let alone = manifest.suite.stacks.len() == 1;
                summary.compares() || alone && summary.measures()
            }
        }
    }
}
