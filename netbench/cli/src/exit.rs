use std::{error::Error, fmt::Display, process::ExitCode};

use netbench_link::LinkError;
use netbench_model::sanitize;
use netbench_stacks::FileError;

use crate::interrupt;

/// The end of a command that ran to completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ended {
    Well,
    /// The command ran, but no two samples could be compared.
    NothingToCompare,
    /// A check could establish neither that everything is right nor that something is wrong.
    CannotTell,
    /// A check found a defect: a case that regressed, a test that no longer passes.
    CheckFailed,
    /// Ctrl-C stopped the command; its results so far are stored and reported.
    Interrupted,
}

/// An error in the user's input, as opposed to one of the machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongInput(pub(crate) String);

/// Returns the error for a run that cannot be continued because something has changed.
pub(crate) fn cannot_continue(run: &str, why: impl Display) -> anyhow::Error {
    WrongInput(format!("run {run} cannot be continued: {why}")).into()
}

/// This machine cannot emulate a network, and the user did not choose loopback.
#[derive(Debug, thiserror::Error)]
#[error("cannot emulate a network: {0}. `--link none` measures over loopback instead")]
pub(crate) struct NoNetwork(pub(crate) LinkError);

/// Returns a [`WrongInput`], like `anyhow::bail!`.
macro_rules! bail_input {
    ($($text:tt)+) => { return Err($crate::exit::WrongInput(format!($($text)+)).into()) };
}

pub(crate) use bail_input;

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
    0  success; sites that failed are in the report
    1  a problem of this machine: no permission, no space, no worker
    2  the command line or an input file is wrong
    3  nothing could be compared
    4  a check failed: an evaluation's answer is no, --threshold,
       runs compare --fail-on-regression, bogo --check, scan --policy
    5  this machine cannot emulate a network, and --link none was not given
    6  a check cannot tell: runs compare --fail-on-regression, with too few rounds
  130  interrupted; what was measured is stored and reported";

/// The exit code of a [`NoNetwork`].
pub(crate) const NO_NETWORK: u8 = 5;

/// Formats an error with its causes. A cause that a message already contains is not repeated.
pub(crate) fn in_a_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !line.contains(&cause) {
            let colon = if line.is_empty() { "" } else { ": " };
            line.push_str(colon);
            line.push_str(&cause);
        }
    }
    line
}

/// Prints an error, with its causes, and returns the exit code.
pub(crate) fn code(result: anyhow::Result<Ended>) -> ExitCode {
    match result {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::NothingToCompare) => ExitCode::from(3),
        Ok(Ended::CheckFailed) => ExitCode::from(4),
        Ok(Ended::CannotTell) => ExitCode::from(6),
        Ok(Ended::Interrupted) => ExitCode::from(interrupt::CODE),
        // The error is the stop itself.
        Err(_) if interrupt::in_vain() => ExitCode::from(interrupt::CODE),
        Err(error) => {
            note!("netbench: {}", readable(&in_a_line(&error)));
            let code = match () {
                () if interrupt::is_asked() => interrupt::CODE,
                () if error.chain().any(is_wrong_input) => 2,
                () if error.is::<NoNetwork>() => NO_NETWORK,
                () => 1,
            };
            ExitCode::from(code)
        }
    }
}

/// Returns whether the command line or a file of the user is the cause.
fn is_wrong_input(cause: &(dyn Error + 'static)) -> bool {
    cause.is::<WrongInput>() || cause.is::<FileError>()
}

/// Removes control characters of a terminal from a message, such as those in a file's name, and the middle of very long
/// lines.
fn readable(message: &str) -> String {
    let lines: Vec<String> = message.lines().map(readable_line).collect();
    lines.join("\n")
}

fn readable_line(line: &str) -> String {
    const LONGEST: usize = 600;
    const END: usize = 200;
    let line = sanitize(line);
    let length = line.chars().count();
    if length <= LONGEST {
        return line;
    }
    let start: String = line.chars().take(LONGEST - END).collect();
    let end: String = line.chars().skip(length - END).collect();
    format!("{start} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> std::io::Error {
        std::io::Error::from_raw_os_error(13)
    }

    #[test]
    fn a_cause_is_said_once() {
        let cases = [
            (
                anyhow::Error::new(refused()).context("cannot write it"),
                "cannot write it: Permission denied (os error 13)",
            ),
            (
                anyhow::Error::new(refused())
                    .context("a.json: Permission denied (os error 13)")
                    .context("cannot store it"),
                "cannot store it: a.json: Permission denied (os error 13)",
            ),
            (anyhow::anyhow!("alone"), "alone"),
        ];
        for (error, line) in cases {
            assert_eq!(in_a_line(&error), line);
        }
    }
}
