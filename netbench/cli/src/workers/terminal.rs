//! The terminal as the host of builds: shows their progress, and Ctrl-C ends them.

use std::{
    fs, io,
    path::Path,
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

use indicatif::ProgressBar;
use netbench_stacks::{BuildError, Host};
use openssl_src::{Build, Release, Step, Watch};

use crate::{interrupt, progress::Shown};

/// The interval at which the log is read.
const LOOK: Duration = Duration::from_millis(500);

/// The interval between two lines if there is no terminal.
const LINE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Terminal;

impl Host for Terminal {
    fn note(&self, line: &str) {
        note!("netbench: {line}");
    }

    fn status(&self, command: &mut Command) -> io::Result<ExitStatus> {
        interrupt::status(command, || {}).map_err(as_io)
    }

    fn openssl(
        &self,
        release: Release,
        folder: &Path,
        compilers: &[(&str, String)],
    ) -> Result<(), BuildError> {
        let version = release.version;
        let mut build = Build::of(release);
        if let Some((_, compiler)) = compilers.iter().find(|(name, _)| *name == "CC") {
            build.compiler(compiler);
        }
        let built = build.installed(folder, &mut Shows { version });
        built
            .map(drop)
            .map_err(|source| BuildError::Openssl(version, source))
    }
}

fn as_io(error: anyhow::Error) -> io::Error {
    error.downcast().unwrap_or_else(io::Error::other)
}

/// Shows the number of compiled files.
struct Shows {
    version: &'static str,
}

impl Watch for Shows {
    fn wait(&mut self, step: &Step<'_>, command: &mut Command) -> io::Result<ExitStatus> {
        match *step {
            Step::Configure => {
                note!("netbench: OpenSSL {}: configuring", self.version);
                Terminal.status(command)
            }
            Step::Compile { files, log } => self.compile(files, log, command).map_err(as_io),
            Step::Install => Terminal.status(command),
        }
    }
}

impl Shows {
    fn compile(
        &self,
        files: usize,
        log: &Path,
        command: &mut Command,
    ) -> anyhow::Result<ExitStatus> {
        let shown = Shown::on_stderr(false);
        let bar = shown.bar("{msg} {wide_bar} {pos}/{len} files, {eta} left");
        bar.set_message(format!("OpenSSL {}", self.version));
        bar.set_length(files as u64);
        self.log(shown, &bar, files);
        let (mut looked, mut said) = (Instant::now(), Instant::now());
        let status = interrupt::status(command, || {
            if looked.elapsed() < LOOK {
                return;
            }
            looked = Instant::now();
            bar.set_position(compiled(log));
            if said.elapsed() >= LINE {
                said = looked;
                self.log(shown, &bar, files);
            }
        });
        bar.finish_and_clear();
        status
    }

    fn log(&self, shown: Shown, bar: &ProgressBar, files: usize) {
        if shown == Shown::Log {
            let done = bar.position();
            let text = format!("OpenSSL {}: {done} of {files} files", self.version);
            shown.line(bar, &text);
        }
    }
}

/// Returns the number of files whose compilation has begun.
fn compiled(log: &Path) -> u64 {
    let said = fs::read(log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    said.lines()
        .filter(|line| line.contains(Step::COMPILES))
        .count() as u64
}
