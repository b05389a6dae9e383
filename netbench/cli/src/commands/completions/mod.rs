pub(crate) mod args;

use clap::CommandFactory;

use self::args::Completions;
use super::Netbench;
use crate::exit::Ended;

/// Writes a shell's completion script to stdout.
pub(crate) fn completions(options: &Completions) -> anyhow::Result<Ended> {
    let mut command = Netbench::command();
    clap_complete::generate(
        options.shell,
        &mut command,
        "netbench",
        &mut std::io::stdout(),
    );
    Ok(Ended::Well)
}
