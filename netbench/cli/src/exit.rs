use std::process::ExitCode;

/// How a command ended, when it did what it was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ended {
    Well,
    /// It ran, but no two samples could be compared.
    NothingToCompare,
    /// A check found what is not as it should be: a case that regressed, a test that no longer passes.
    CheckFailed,
    /// By Ctrl-C; what there was is stored and reported.
    Interrupted,
}

/// An error in what the user gave, as opposed to one of the machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongInput(pub(crate) String);

/// As `anyhow::bail!`, with a [`WrongInput`].
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
    4  a check failed: compare --fail-on-regression, bogo --check
  130  interrupted; what was measured is stored and reported";

/// Prints an error, with its causes, and gives the exit code.
pub(crate) fn code(result: anyhow::Result<Ended>) -> ExitCode {
    match result {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::NothingToCompare) => ExitCode::from(3),
        Ok(Ended::CheckFailed) => ExitCode::from(4),
        Ok(Ended::Interrupted) => ExitCode::from(130),
        Err(error) => {
            note!("netbench: {error:#}");
            let wrong_input = error.chain().any(|cause| cause.is::<WrongInput>());
            ExitCode::from(if wrong_input { 2 } else { 1 })
        }
    }
}
