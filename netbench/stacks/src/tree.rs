//! This command's executable, and the source tree from which workers and shims are built.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use netbench_tls::sanitize;

use crate::{BuildError, CommandRecipe, Host, Pin};

/// Number of lines of a failed build's log that its error quotes.
const QUOTED_LINES: usize = 12;

/// The tree from which this command was built, unless the command is a release for other machines.
const BUILT_FROM: Option<&str> = match option_env!("NETBENCH_RELEASE") {
    Some(_) => None,
    None => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
};

/// Returns the path of this command.
///
/// # Errors
/// Returns an error if the system does not report it.
pub fn this_command() -> Result<PathBuf, BuildError> {
    env::current_exe().map_err(BuildError::file("find", Path::new("this command")))
}

/// A checkout of netbench.
#[derive(Debug, Clone)]
pub struct SourceTree {
    root: PathBuf,
}

impl SourceTree {
    /// Finds the checkout that contains the command, that contains the current directory, or that the command was built
    /// from.
    pub fn find() -> Option<Self> {
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

    /// Returns the top of the checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns Cargo's target folder.
    pub fn target(&self) -> PathBuf {
        let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        self.root.join(target)
    }

    /// Calls `cargo build` with these arguments, which makes the file `built`.
    ///
    /// # Errors
    /// Returns an error if the build fails, or does not make the file.
    pub fn cargo_build(
        &self,
        profile: Profile,
        arguments: &[&str],
        built: &Path,
        host: &dyn Host,
    ) -> Result<(), BuildError> {
        let build = ["build", "--locked"];
        self.cargo(&[&build[..], profile.arguments(), arguments].concat(), host)?;
        if built.is_file() {
            return Ok(());
        }
        let command = "cargo build".to_owned();
        Err(BuildError::NotMade(command, built.to_owned()))
    }

    /// Updates the lock file next to `manifest` to the needs of its workspace and to these versions.
    pub(crate) fn cargo_update(
        &self,
        manifest: &str,
        pins: &[Pin],
        host: &dyn Host,
    ) -> Result<(), BuildError> {
        let arguments = ["update", "--quiet", "--manifest-path", manifest];
        // The workspace is updated first, because the lock file may have several versions of a package.
        self.cargo(&[&arguments[..], &["--workspace"]].concat(), host)?;
        pins.iter().try_for_each(|pin| {
            let pin = [pin.package.as_str(), "--precise", pin.version.as_str()];
            self.cargo(&[&arguments[..], &pin].concat(), host)
        })
    }

    /// Calls Cargo with these arguments.
    pub(crate) fn cargo(&self, arguments: &[&str], host: &dyn Host) -> Result<(), BuildError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = format!("cargo {}", arguments.join(" "));
        let mut command = Command::new(cargo);
        command
            .args(arguments)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            // stdout is reserved for the report.
            .stdout(Stdio::null());
        match host.status(&mut command) {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(BuildError::Failed(words, self.root.clone())),
            Err(error) => {
                let advice = match error.kind() {
                    io::ErrorKind::NotFound => "; a Rust toolchain is needed (https://rustup.rs)",
                    _ => "",
                };
                Err(BuildError::Run(words, advice, error))
            }
        }
    }

    /// Runs a build without Cargo of the source in `folder`, which makes the file `built`. The log of a failed build is
    /// kept.
    pub(crate) fn other_build(
        &self,
        folder: &str,
        recipe: &CommandRecipe,
        built: &Path,
        host: &dyn Host,
    ) -> Result<(), BuildError> {
        let folder = self.root.join(folder);
        let log = built.with_extension("log");
        let made = built.parent().map_or(Ok(()), fs::create_dir_all);
        let file = made.and_then(|()| fs::File::create(&log));
        let file = file.map_err(BuildError::file("write to", &log))?;
        // The program may be running while it is built again.
        let partial = built.with_extension(format!("{}.partial", std::process::id()));
        let mut command = recipe.command(&folder, &partial);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file);
        let status = host.status(&mut command);
        let said = fs::read_to_string(&log).unwrap_or_default();
        let name = recipe.name();
        let failed = status.as_ref().is_ok_and(|status| !status.success());
        if failed || status.is_err() {
            let _ = fs::remove_file(&partial);
        }
        if failed {
            let advice = recipe.advice(&said);
            return Err(BuildError::FailedWithLog {
                command: name,
                folder,
                advice: advice.map_or_else(String::new, |advice| format!(": {advice}")),
                log,
                end: last_lines(&said),
            });
        }
        // The log of a successful build is not needed.
        let _ = fs::remove_file(&log);
        status.map_err(|error| BuildError::Run(name.clone(), "", error))?;
        if same(built, &partial) {
            // The program has not changed: the file keeps its age, as files that Cargo builds do.
            let _ = fs::remove_file(&partial);
            return Ok(());
        }
        fs::rename(&partial, built).map_err(|_| BuildError::NotMade(name, built.to_owned()))
    }
}

/// A profile of Cargo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The profile without optimization.
    Dev,
    /// The profile for programs that are not timed, with optimization of few crates.
    Quick,
    /// The profile of releases, with optimization.
    Release,
}

impl Profile {
    /// The profile of programs that are not timed: code that they share with this command is compiled once.
    pub const UNTIMED: Self = if cfg!(debug_assertions) {
        Self::Dev
    } else {
        Self::Quick
    };

    /// Returns the folder of the profile's builds in Cargo's target folder.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Quick => "quick",
            Self::Release => "release",
        }
    }

    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Dev => &[],
            Self::Quick => &["--profile", "quick"],
            Self::Release => &["--release"],
        }
    }
}

fn last_lines(said: &str) -> String {
    let said = said.replace('\t', "    ");
    let lines: Vec<String> = said.lines().map(sanitize).collect();
    lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
}

/// Returns whether two files exist and have the same content.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    fs::read(one).is_ok_and(|one| fs::read(other).is_ok_and(|other| one == other))
}
