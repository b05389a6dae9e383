use std::{
    fs::{self, OpenOptions},
    io::{IsTerminal, Write, stderr, stdin, stdout},
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_model::suggestion;
use netbench_report::{Extent, Goes, Options, Report, Style, wrap};
use netbench_store::RunFolder;
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};

use crate::{
    exit::{Ended, WrongInput, bail_input},
    format,
    options::{Output, Page},
    show,
};

/// Prints a line to stderr. A closed stderr never ends a command.
macro_rules! note {
    ($($words:tt)*) => {
        $crate::output::to_stderr(format_args!($($words)*))
    };
}

/// Prints the line of [`note!`].
pub(crate) fn to_stderr(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(stderr(), "{}", for_stderr(&line.to_string()));
}

/// Formats a line for stderr: on a terminal, the line is broken between words.
pub(crate) fn for_stderr(line: &str) -> String {
    match terminal_size_of(stderr()) {
        Some((Width(width), _)) => wrap(line, width.into()).join("\n"),
        None => line.to_owned(),
    }
}

/// Formats a word of the user for a message: escaped, and truncated if it is long.
pub(crate) fn shown(word: &str) -> String {
    const LONGEST: usize = 60;
    let start: String = word.chars().take(LONGEST).collect();
    let cut = if start.len() < word.len() { "…" } else { "" };
    format!("{}{cut}", start.escape_debug())
}

/// Returns the suggestion of a similar name, or `hint` if there is none.
pub(crate) fn meant_or(given: &str, names: &[impl AsRef<str>], hint: &str) -> String {
    match suggestion(given, names) {
        meant if meant.starts_with("did you mean") => meant,
        _ => hint.to_owned(),
    }
}

/// Returns the error for a name that is not among the known ones, after the words `what`.
pub(crate) fn unknown(what: &str, given: &str, names: &[impl AsRef<str>]) -> WrongInput {
    let (shown, suggestion) = (shown(given), suggestion(given, names));
    WrongInput(format!("{what} \"{shown}\"; {suggestion}"))
}

/// Asks a question on the terminal. The answers `y` and `yes` mean yes, and all others no.
pub(crate) fn agrees(question: &str) -> anyhow::Result<bool> {
    stderr()
        .write_all(format!("netbench: {question} [y/N] ").as_bytes())
        .context("cannot ask")?;
    let mut answer = String::new();
    stdin()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// The reports in every run's folder: the names of their files and formats.
const IN_FOLDER: [(&str, &str); 3] = [
    ("summary.md", "markdown"),
    ("summary.csv", "csv"),
    ("summary.json", "json"),
];

/// The picture of a report's charts, beside its page.
const PICTURE: &str = "report.svg";

/// Makes the reports of a run in its folder and on stdout. The returned end shows whether the report has any figure.
pub(crate) fn publish(
    report: &dyn Report,
    folder: &RunFolder,
    output: &Output,
    page: Page,
) -> anyhow::Result<Ended> {
    print(report, output)?;
    let document = report.document(Extent::Brief);
    for (file, name) in IN_FOLDER {
        let format = format::named(name);
        folder.write_file(file, &(format.render)(&document, &Options::default()))?;
    }
    if !output.quiet {
        note!("netbench: the run is in {}", folder.path().display());
    }
    if page != Page::None {
        let path = renew_page(folder, report)?;
        if !output.quiet {
            note!("netbench: the page is {}", path.display());
        }
        if page == Page::Opened {
            show::open(&path);
        }
    }
    Ok(ended(report))
}

/// Returns how a command ends after this report.
pub(crate) fn ended(report: &dyn Report) -> Ended {
    match (report.tells(), report.passes()) {
        (false, _) => Ended::NothingToCompare,
        (true, false) => Ended::CheckFailed,
        (true, true) => Ended::Well,
    }
}

/// Makes the HTML page of a report in a run's folder, in place of the one that is there, and the picture of its charts.
pub(crate) fn renew_page(folder: &RunFolder, report: &dyn Report) -> anyhow::Result<PathBuf> {
    let format = format::named("html");
    let name = match format.goes {
        Goes::Folder(name) => name,
        Goes::Stdout => "report.html",
    };
    let document = report.document(format.extent);
    let picture = format::named("svg");
    if picture.unsupported(&document).is_none() {
        folder.write_file(PICTURE, &(picture.render)(&document, &Options::default()))?;
    }
    Ok(folder.write_file(name, &(format.render)(&document, &Options::default()))?)
}

/// Writes a report to a file outside the run's folder, and returns its path.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_owned())
}

/// Prints a report to stdout in the format of the options.
pub(crate) fn print(report: &dyn Report, output: &Output) -> anyhow::Result<()> {
    if output.github_summary {
        append_to_step_summary(report)?;
    }
    write(&output.format().of(report, &options()))
}

/// Returns the properties of this terminal.
pub(crate) fn options() -> Options {
    Options {
        width: width(),
        style: style(),
    }
}

/// Returns the same properties for a file.
pub(crate) fn options_of_file() -> Options {
    Options {
        width: columns().unwrap_or(usize::MAX),
        style: Style::Plain,
    }
}

/// Returns the file to which a step of GitHub Actions writes its summary. The check happens before anything is
/// measured, so that an error does not come too late.
pub(crate) fn step_summary() -> anyhow::Result<PathBuf> {
    const NAME: &str = "GITHUB_STEP_SUMMARY";
    match std::env::var_os(NAME).filter(|path| !path.is_empty()) {
        Some(path) => Ok(path.into()),
        None => {
            let why = "names no file; is this a step of GitHub Actions?";
            bail_input!("--github-summary: {NAME} {why}");
        }
    }
}

/// Appends a report to the file of [`step_summary`], as Markdown.
pub(crate) fn append_to_step_summary(report: &dyn Report) -> anyhow::Result<()> {
    let path = step_summary()?;
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    let markdown = format::named("markdown").of(report, &Options::default());
    file.write_all(&markdown)
        .with_context(|| format!("cannot write to {}", path.display()))
}

pub(crate) fn write(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // `netbench … | head`
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to stdout"),
    }
}

/// Writes lines to stdout.
pub(crate) fn write_lines(lines: &[String]) -> anyhow::Result<()> {
    write(format!("{}\n", lines.join("\n")).as_bytes())
}

/// Writes a value to stdout, as JSON.
pub(crate) fn write_json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(value)?;
    write(format!("{json}\n").as_bytes())
}

/// Returns the width of the output. Without a terminal, the output is as wide as its widest line.
fn width() -> usize {
    columns()
        .or_else(|| terminal_size_of(stdout()).map(|(Width(width), _)| usize::from(width)))
        .unwrap_or(usize::MAX)
}

/// Returns the width that the user asks for; 0 is what shells without a terminal say.
fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok()?;
    (columns > 0).then_some(columns)
}

fn style() -> Style {
    style_of(stdout().is_terminal(), |name| {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    })
}

/// Returns the style for stdout by the usual variables: `NO_COLOR` comes first, then `CLICOLOR_FORCE`; `CLICOLOR=0` and
/// `TERM=dumb` are for terminals.
fn style_of(is_terminal: bool, set: impl Fn(&str) -> Option<String>) -> Style {
    let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let can = is_terminal
        && set("TERM").as_deref() != Some("dumb")
        && set("CLICOLOR").as_deref() != Some("0");
    if set("NO_COLOR").is_none() && (forced || can) {
        Style::Color
    } else {
        Style::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_have_them() {
        type Set = &'static [(&'static str, &'static str)];
        let cases: [(bool, Set, Style); 11] = [
            (true, &[("TERM", "xterm")], Style::Color),
            (true, &[], Style::Color),
            (false, &[("TERM", "xterm")], Style::Plain),
            (true, &[("TERM", "dumb")], Style::Plain),
            (true, &[("NO_COLOR", "1")], Style::Plain),
            (
                true,
                &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
                Style::Plain,
            ),
            (false, &[("CLICOLOR_FORCE", "1")], Style::Color),
            (
                true,
                &[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")],
                Style::Color,
            ),
            (false, &[("CLICOLOR_FORCE", "0")], Style::Plain),
            (true, &[("CLICOLOR", "0")], Style::Plain),
            (true, &[("CLICOLOR", "1")], Style::Color),
        ];
        for (is_terminal, variables, style) in cases {
            let found = style_of(is_terminal, |name| {
                let mut variables = variables.iter();
                let found = variables.find(|(variable, _)| *variable == name);
                found.map(|(_, value)| (*value).to_owned())
            });
            assert_eq!(found, style, "{is_terminal} {variables:?}");
        }
    }
}
