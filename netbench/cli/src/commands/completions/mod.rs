pub(crate) mod args;

use clap::CommandFactory;

use self::args::Completions;
use super::Netbench;
use crate::{exit::Ended, output};

pub(crate) fn completions(options: &Completions) -> anyhow::Result<Ended> {
    let mut command = Netbench::command();
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "netbench", &mut script);
    output::write(&script)?;
    Ok(Ended::Well)
}
