use std::io::{IsTerminal, Write, stdout};

use anyhow::Context;
use netbench_model::Manifest;
use netbench_report::{ConnectSummary, bogo, csv, json, markdown, summarize, terminal};
use netbench_store::RunFolder;

use crate::args::{Format, Output};

/// Where there is no terminal to ask.
const WIDTH: usize = 100;

/// Makes the reports of a run, in its folder and on stdout. True if anything could be compared.
pub(crate) fn publish(
    folder: &RunFolder,
    manifest: &Manifest,
    output: &Output,
) -> anyhow::Result<bool> {
    let summary = summarize(manifest, &folder.samples()?);
    print(&summary, output)?;
    let files = [
        ("summary.md", markdown::render(&summary)),
        ("summary.csv", csv::render(&summary)),
        ("summary.json", json::render(&summary)),
    ];
    for (name, bytes) in &files {
        folder.write_file(name, bytes)?;
    }
    if !output.quiet {
        eprintln!("netbench: the run is in {}", folder.path().display());
    }
    Ok(summary
        .comparisons
        .iter()
        .any(|comparison| !comparison.phases.is_empty()))
}

/// Prints a summary to stdout in the form that was asked for.
pub(crate) fn print(summary: &ConnectSummary, output: &Output) -> anyhow::Result<()> {
    let bytes = match output.format() {
        Format::Terminal => terminal::render(summary, width(), style()),
        Format::Markdown => markdown::render(summary),
        Format::Csv => csv::render(summary),
        Format::Json => json::render(summary),
    };
    write(&bytes)
}

/// Prints what shows one thing of BoGo in the form that was asked for.
pub(crate) fn print_bogo(
    output: &Output,
    render: impl FnOnce(bogo::Form) -> Vec<u8>,
) -> anyhow::Result<()> {
    write(&render(match output.format() {
        Format::Terminal => bogo::Form::Terminal(width(), style()),
        Format::Markdown => bogo::Form::Markdown,
        Format::Csv => bogo::Form::Csv,
        Format::Json => bogo::Form::Json,
    }))
}

fn write(bytes: &[u8]) -> anyhow::Result<()> {
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
