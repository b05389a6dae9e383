//! `netbench completions`: a script by which a shell asks the command itself what may follow. The script is
//! small, and what it offers is as new as the command.

pub(crate) mod args;
mod candidates;

use clap_complete::{CompleteEnv, env::Shells};

use self::args::Completions;
use crate::{
    exit::{Ended, bail_input},
    output,
};

/// Set by the script to the shell's name when it asks.
const ASKED: &str = "NETBENCH_COMPLETE";

/// Prints the script.
pub(crate) fn completions(options: &Completions) -> anyhow::Result<Ended> {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&options.shell.to_string()) else {
        bail_input!("{} has no completion", options.shell);
    };
    let mut script = Vec::new();
    shell.write_registration(ASKED, "netbench", "netbench", "netbench", &mut script)?;
    output::write(&script)?;
    Ok(Ended::Well)
}

/// Whether a shell asks by its script what may follow; then it is answered.
pub(crate) fn answers() -> bool {
    let asked = CompleteEnv::with_factory(candidates::command).var(ASKED);
    let folder = std::env::current_dir().ok();
    // Nothing that goes wrong may end up on the user's command line.
    asked
        .try_complete(std::env::args_os(), folder.as_deref())
        .unwrap_or(true)
}
