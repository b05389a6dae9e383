use std::path::PathBuf;

use clap::{Args, ValueHint};
use netbench_stacks::cache_folder;

use crate::{exit::Ended, output, show};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench runs demo                     an evaluation's page, in the browser
  netbench runs demo --output page.html";

/// The page of a published evaluation.
const PAGE: &[u8] =
    include_bytes!("../../../../../results/2026-11-27-235128-vm-evaluate/report.html");

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Write the page to FILE and do not open it [default: a file in the cache folder, opened in the browser]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// Shows the page of a stored evaluation. Nothing is built or measured.
pub(crate) fn demo(options: &Demo) -> anyhow::Result<Ended> {
    let page = match &options.output {
        Some(file) => file.clone(),
        None => cache_folder("reports")?.join("demo.html"),
    };
    output::write_file(&page, PAGE)?;
    note!("netbench: the page is {}", page.display());
    if options.output.is_none() {
        show::open(&page);
    }
    Ok(Ended::Well)
}
