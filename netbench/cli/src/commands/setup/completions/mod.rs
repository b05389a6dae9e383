//! `netbench setup completions`: prints a script by which a shell asks the command itself for completions. The script is
//! small, and its completions are as new as the command.

mod candidates;

use clap::{Args, Command};
use clap_complete::{CompleteEnv, Shell, env::Shells};

use crate::{
    exit::{Ended, bail_input},
    output,
};

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to generate for
    pub(crate) shell: Shell,
}

/// The variable in which the script gives the shell's name when it asks.
const ASKED: &str = "NETBENCH_COMPLETE";

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

/// Answers a shell that asks for completions of netbench's command line by its script. Returns whether a shell asked.
pub(crate) fn answers(netbench: fn() -> Command) -> bool {
    let asked = CompleteEnv::with_factory(|| candidates::added_to(netbench())).var(ASKED);
    let folder = std::env::current_dir().ok();
    // No error message may appear on the user's command line.
    asked
        .try_complete(std::env::args_os(), folder.as_deref())
        .unwrap_or(true)
}
