use std::{
    fs::OpenOptions,
    io::{IsTerminal, Write, stdout},
    path::PathBuf,
};

use anyhow::Context;
use netbench_report::{Document, csv, json, markdown, terminal};
use netbench_store::RunFolder;

use crate::{
    exit::WrongInput,
    options::{Format, Output},
};

/// Where there is no terminal to ask.
const WIDTH: usize = 100;

/// Makes the reports in a run's folder.
pub(crate) fn store(
    folder: &RunFolder,
    report: &impl Document,
    output: &Output,
) -> anyhow::Result<()> {
    let files = [
        ("summary.md", markdown::render(report)),
        ("summary.csv", csv::render(report)),
        ("summary.json", json::render(report)),
    ];
    for (name, bytes) in &files {
        folder.write_file(name, bytes)?;
    }
    if !output.quiet {
        eprintln!("netbench: the run is in {}", folder.path().display());
    }
    Ok(())
}

/// Prints a report to stdout in the form that was asked for.
pub(crate) fn print(report: &impl Document, output: &Output) -> anyhow::Result<()> {
    if output.github_summary {
        append_to_step_summary(report)?;
    }
    write(&match output.format() {
        Format::Terminal => terminal(report),
        Format::Markdown => markdown::render(report),
        Format::Csv => csv::render(report),
        Format::Json => json::render(report),
    })
}

/// The report for this terminal.
pub(crate) fn terminal(report: &impl Document) -> Vec<u8> {
    terminal::render(report, width(), style())
}

/// The report as on a terminal, for a file.
pub(crate) fn plain_terminal(report: &impl Document) -> Vec<u8> {
    terminal::render(report, width(), terminal::Style::Plain)
}

/// The file that a step of GitHub Actions has for its summary. Asked before anything is measured, so that
/// the answer does not come too late.
///
/// # Errors
/// Where there is none.
pub(crate) fn step_summary() -> anyhow::Result<PathBuf> {
    const NAME: &str = "GITHUB_STEP_SUMMARY";
    match std::env::var_os(NAME).filter(|path| !path.is_empty()) {
        Some(path) => Ok(path.into()),
        None => {
            let why = "names no file; is this a step of GitHub Actions?";
            Err(WrongInput(format!("--github-summary: {NAME} {why}")).into())
        }
    }
}

/// Appends a report to that file, as Markdown.
pub(crate) fn append_to_step_summary(report: &impl Document) -> anyhow::Result<()> {
    let path = step_summary()?;
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    file.write_all(&markdown::render(report))
        .with_context(|| format!("cannot write to {}", path.display()))
}

/// Writes to stdout.
pub(crate) fn write(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // `netbench … | head`
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot print the report"),
    }
}

fn width() -> usize {
    let asked = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    asked
        .or_else(|| Some(usize::from(terminal_size::terminal_size()?.0.0)))
        .unwrap_or(WIDTH)
}

fn style() -> terminal::Style {
    let colourless = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if stdout().is_terminal() && !colourless {
        terminal::Style::Color
    } else {
        terminal::Style::Plain
    }
}
