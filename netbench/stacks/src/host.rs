use std::{
    io,
    path::Path,
    process::{Command, ExitStatus},
};

use openssl_src::Release;

use crate::BuildError;

/// The user's side of a build: shows its progress, and can end its programs.
pub trait Host {
    /// Shows a step of a build.
    fn note(&self, line: &str);

    /// Runs a program to its end.
    ///
    /// # Errors
    /// Returns an error if the program did not start, or was stopped.
    fn status(&self, command: &mut Command) -> io::Result<ExitStatus>;

    /// Builds a release of OpenSSL, unless it is cached, with the compilers of these environment variables. Cargo's
    /// settings are those of `folder`. The worker's own build would show no progress for minutes.
    ///
    /// # Errors
    /// Returns an error if the build fails.
    fn openssl(
        &self,
        release: Release,
        folder: &Path,
        compilers: &[(&str, String)],
    ) -> Result<(), BuildError>;
}
