use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, Command, ValueHint};
use clap_mangen::{
    Man as Page,
    roff::{Roff, roman},
};

use crate::{exit::Ended, output};

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write a page for each command to [default: the main page, to stdout]
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}

pub(crate) fn man(options: &Man, netbench: Command) -> anyhow::Result<Ended> {
    let mut command = netbench.disable_help_subcommand(true);
    command.build();
    match &options.folder {
        Some(folder) => {
            fs::create_dir_all(folder)
                .and_then(|()| write_pages(&command, folder))
                .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
        }
        None => output::write(&page(&command)?)?,
    }
    Ok(Ended::Well)
}

fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    for below in command.get_subcommands() {
        write_pages(below, folder)?;
    }
    let name = Page::new(command.clone()).get_filename();
    fs::write(folder.join(name), page(command)?)
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let page = Page::new(command.clone())
        .source(concat!("netbench ", env!("CARGO_PKG_VERSION")))
        .manual("netbench");
    page.render_title(&mut bytes)?;
    page.render_name_section(&mut bytes)?;
    synopsis(command).to_writer(&mut bytes)?;
    page.render_description_section(&mut bytes)?;
    page.render_options_section(&mut bytes)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut bytes)?;
    }
    if let Some(after) = command.get_after_help() {
        after_help(&after.to_string()).to_writer(&mut bytes)?;
    }
    if command.get_version().is_some() {
        page.render_version_section(&mut bytes)?;
    }
    Ok(ascii(&String::from_utf8_lossy(&bytes)).into_bytes())
}

/// Returns the usage line of the help, without a list of every option.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let mut page = Roff::new();
    page.control("SH", ["SYNOPSIS"]);
    for line in usage.lines() {
        page.text([roman(line.trim_start())]);
        page.control("br", []);
    }
    page
}

/// Replaces other characters by their numbers: groff reads bytes as Latin-1 by default.
fn ascii(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for c in page.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            text.push_str(&format!("\\[u{:04X}]", u32::from(c)));
        }
    }
    text
}

/// Formats the text after the options of the help: lists, such as lists of examples, keep their
/// lines and become sections; the rest is running text.
fn after_help(text: &str) -> Roff {
    let mut page = Roff::new();
    let mut notes = Vec::new();
    for block in text.split("\n\n") {
        match block.split_once(":\n") {
            Some((title, list)) if !title.contains('\n') => {
                page.control("SH", [title.to_uppercase().as_str()]);
                page.control("nf", []);
                for line in list.lines() {
                    page.text([roman(line)]);
                }
                page.control("fi", []);
            }
            _ => notes.push(block),
        }
    }
    if !notes.is_empty() {
        page.control("SH", ["NOTES"]);
    }
    for note in notes {
        page.control("PP", []);
        page.text([roman(note)]);
    }
    page
}
