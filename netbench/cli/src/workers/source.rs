//! This command's executable, and the source tree from which workers and shims are built.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};
use netbench_model::sanitize;
use netbench_runner::{Pin, go_build, java_build};

use crate::interrupt;

/// Number of lines of a failed build's log that its error quotes.
const QUOTED_LINES: usize = 12;

/// The tree from which this command was built, unless the command is a release for other machines.
const BUILT_FROM: Option<&str> = match option_env!("NETBENCH_RELEASE") {
    Some(_) => None,
    None => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
};

/// Returns the path of this command.
pub(crate) fn this_command() -> anyhow::Result<PathBuf> {
    env::current_exe().context("cannot tell where this command is")
}

/// A checkout of netbench.
#[derive(Debug, Clone)]
pub(crate) struct SourceTree {
    root: PathBuf,
}

impl SourceTree {
    /// Finds the checkout that contains the command, that contains the current directory, or that the command was built
    /// from.
    pub(crate) fn find() -> Option<Self> {
        let starts = [this_command().ok(), env::current_dir().ok()];
        let around = starts
            .into_iter()
            .flatten()
            .find_map(|start| start.ancestors().find_map(Self::at));
        around.or_else(|| Self::at(&Path::new(BUILT_FROM?).canonicalize().ok()?))
    }

    fn at(folder: &Path) -> Option<Self> {
        let whole = folder.join("Cargo.toml").is_file()
            && folder.join("netbench/cli/Cargo.toml").is_file()
            && folder.join("stacks").is_dir();
        whole.then(|| Self {
            root: folder.to_owned(),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns Cargo's target folder.
    pub(crate) fn target(&self) -> PathBuf {
        let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        self.root.join(target)
    }

    /// Builds `what`, which makes the file `built`.
    pub(crate) fn cargo_build(
        &self,
        profile: Profile,
        what: &[&str],
        built: &Path,
    ) -> anyhow::Result<()> {
        self.cargo(&[&["build", "--locked"], profile.arguments(), what].concat())?;
        if !built.is_file() {
            bail!("Cargo built it, but {} is not there", built.display());
        }
        Ok(())
    }

    /// Updates the lock file next to `manifest` to the needs of its workspace and to these versions.
    pub(crate) fn cargo_update(&self, manifest: &str, pins: &[Pin]) -> anyhow::Result<()> {
        let arguments = ["update", "--quiet", "--manifest-path", manifest];
        // The workspace is updated first, because the lock file may have several versions of a package.
        self.cargo(&[&arguments[..], &["--workspace"]].concat())?;
        for Pin { package, version } in pins {
            self.cargo(&[&arguments[..], &[package, "--precise", version]].concat())?;
        }
        Ok(())
    }

    fn cargo(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = arguments.join(" ");
        let mut command = Command::new(cargo);
        command
            .args(arguments)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            // stdout is reserved for the report.
            .stdout(Stdio::null());
        let status = interrupt::status(&mut command).with_context(|| {
            format!("cannot run `cargo {words}`; a Rust toolchain is needed (https://rustup.rs)")
        })?;
        if !status.success() {
            bail!("`cargo {words}` failed in {}", self.root.display());
        }
        Ok(())
    }

    /// Builds the Go program in `folder`, which makes the file `built`.
    pub(crate) fn go_build(&self, folder: &str, built: &Path) -> anyhow::Result<()> {
        self.other_build(
            folder,
            built,
            &OtherBuild {
                name: "go build",
                needs: "Go is needed (https://go.dev/dl)",
                command: go_build,
                advice: go_advice,
            },
        )
    }

    /// Compiles the Java program in `folder`, which makes the file `built`.
    pub(crate) fn java_build(&self, folder: &str, built: &Path) -> anyhow::Result<()> {
        let home =
            env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/javac").is_file());
        if !home.unwrap_or_else(|| super::in_path("javac").is_some()) {
            bail!(
                "cannot compile the worker of java: {}; a JDK is needed, 17 or later \
                 (on Debian and Ubuntu: apt-get install default-jdk-headless)",
                match home {
                    None => "there is no javac",
                    Some(_) => "there is no bin/javac in JAVA_HOME",
                }
            );
        }
        self.other_build(
            folder,
            built,
            &OtherBuild {
                name: "sh build",
                needs: "a shell is needed",
                command: java_build,
                advice: |_| "",
            },
        )
    }

    /// Runs a build without Cargo. The log of a failed build is kept.
    fn other_build(&self, folder: &str, built: &Path, build: &OtherBuild) -> anyhow::Result<()> {
        let folder = self.root.join(folder);
        let log = built.with_extension("log");
        let open = || {
            built.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::File::create(&log)
        };
        let file = open().with_context(|| format!("cannot write to {}", log.display()))?;
        // The program may be running while it is built again.
        let partial = built.with_extension(format!("{}.partial", std::process::id()));
        let mut command = (build.command)(&folder, &partial);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file);
        let status = interrupt::status(&mut command);
        let said = fs::read_to_string(&log).unwrap_or_default();
        let failed = status.as_ref().is_ok_and(|status| !status.success());
        if failed || status.is_err() {
            let _ = fs::remove_file(&partial);
        }
        let name = build.name;
        if failed {
            bail!(
                "`{name}` failed in {}{}; its log is {}\n{}",
                folder.display(),
                (build.advice)(&said),
                log.display(),
                last_lines(&said)
            );
        }
        // The log of a successful build is not needed.
        let _ = fs::remove_file(&log);
        status.with_context(|| format!("cannot run `{name}`; {}", build.needs))?;
        if fs::read(built).is_ok_and(|now| fs::read(&partial).is_ok_and(|made| made == now)) {
            // The program has not changed: the file keeps its age, as files that Cargo builds do.
            let _ = fs::remove_file(&partial);
            return Ok(());
        }
        fs::rename(&partial, built)
            .with_context(|| format!("`{name}` ended well, but {} is not there", built.display()))
    }
}

/// A profile of Cargo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

impl Profile {
    /// The profile with which this command was built: code that it shares with a program is compiled once. Only for
    /// programs that are not timed.
    pub(crate) const OWN: Self = if cfg!(debug_assertions) {
        Self::Dev
    } else {
        Self::Release
    };

    /// Returns the folder of the profile's builds in Cargo's target folder.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Dev => &[],
            Self::Release => &["--release"],
        }
    }
}

/// A build by another tool than Cargo.
struct OtherBuild {
    /// The command that a user would call.
    name: &'static str,
    /// Instructions for a missing tool.
    needs: &'static str,
    /// Returns the command that builds from this folder to this program.
    command: fn(&Path, &Path) -> Command,
    /// Returns advice on a failure, from the tool's output.
    advice: fn(&str) -> &'static str,
}

/// Returns advice on a failed build of Go, if its output shows the cause.
fn go_advice(said: &str) -> &'static str {
    let about_version = [
        "requires go ",
        "requires Go ",
        "invalid go version",
        "download go1.",
    ];
    if about_version.iter().any(|words| said.contains(words)) {
        ": a newer Go is needed (https://go.dev/dl), or GOTOOLCHAIN=auto and a network to fetch it from"
    } else {
        ""
    }
}

fn last_lines(said: &str) -> String {
    let readable = |line: &str| sanitize(&line.replace('\t', "    "));
    let lines: Vec<String> = said.lines().map(readable).collect();
    lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
}
