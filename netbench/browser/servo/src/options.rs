use std::{ffi::OsString, path::PathBuf, str::FromStr};

use lexopt::{Arg, ValueExt};

/// Usage, for `--help`.
const HELP: &str = "\
Usage: netbench-servo [OPTIONS]

Opens pages in Servo, as commands on stdin request.

Options:
      --ca FILE       Trust the certificates of this PEM file beside the system's
      --profile DIR   Keep cookies, HSTS and storage in this folder
      --provider P    Provider of cryptography: aws-lc, ring [default: aws-lc]
      --version       Print the version";

/// The options of the command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// The PEM file of further roots.
    pub(crate) ca: Option<PathBuf>,
    /// The folder of the profile.
    pub(crate) profile: Option<PathBuf>,
    /// The provider of cryptography.
    pub(crate) provider: Provider,
    /// The action.
    pub(crate) action: Action,
}

/// The action of the program.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Opens pages.
    #[default]
    Browse,
    /// Prints the version.
    Version,
    /// Prints the usage.
    Help,
}

/// A provider of cryptography for rustls. A Servo that was built with another TLS library ignores it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    /// AWS-LC, which Servo's own embedders install.
    #[default]
    AwsLc,
    /// ring.
    Ring,
}

impl FromStr for Provider {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "aws-lc" => Ok(Self::AwsLc),
            "ring" => Ok(Self::Ring),
            _ => Err(format!("{text} is none of aws-lc, ring")),
        }
    }
}

impl Options {
    /// Parses the command line.
    ///
    /// # Errors
    /// Returns a description of the first unknown or incomplete option.
    pub(crate) fn parse() -> Result<Self, String> {
        Self::from_args(std::env::args_os().skip(1)).map_err(|error| error.to_string())
    }

    fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        let mut options = Self::default();
        let mut parser = lexopt::Parser::from_args(args);
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("ca") => options.ca = Some(parser.value()?.into()),
                Arg::Long("profile") => options.profile = Some(parser.value()?.into()),
                Arg::Long("provider") => options.provider = parser.value()?.parse()?,
                Arg::Long("version") => options.action = Action::Version,
                Arg::Long("help") | Arg::Short('h') => options.action = Action::Help,
                other => return Err(other.unexpected()),
            }
        }
        Ok(options)
    }
}

/// Returns the usage.
pub(crate) fn help() -> &'static str {
    HELP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Options, String> {
        Options::from_args(args.iter().map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn options_are_read() {
        let options = parsed(&["--ca", "roots.pem", "--provider=ring", "--profile", "p"]);
        let options = options.expect("options");
        assert_eq!(options.ca, Some("roots.pem".into()));
        assert_eq!(options.profile, Some("p".into()));
        assert_eq!(options.provider, Provider::Ring);
        assert_eq!(options.action, Action::Browse);
    }

    #[test]
    fn wrong_options_are_refused() {
        for (args, reason) in [
            (&["--provider", "nss"][..], "none of aws-lc, ring"),
            (&["--ca"], "missing"),
            (&["--what"], "--what"),
            (&["page"], "page"),
        ] {
            let error = parsed(args).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }
}
