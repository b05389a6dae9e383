//! One build: cargo runs in a folder that is removed afterwards.

use std::{
    collections::HashSet,
    env,
    ffi::OsStr,
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use netbench_model::{
    sanitize,
    ship::{Found, Shipped, ShippedCrate},
};
use netbench_stacks::{BuildTime, ShipStack};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{Project, ShipError, advisories, project::NAME, providers, sources, tools::Watched};

/// The interval at which a waiting thread polls.
const LOOK: Duration = Duration::from_millis(50);

/// The time limit of a step.
const LIMIT: Duration = Duration::from_secs(3600);

/// The time that cargo has to end after a signal.
const GRACE: Duration = Duration::from_secs(2);

/// The time that the program has to make its connector.
const START: Duration = Duration::from_secs(30);

/// Number of lines of cargo's output that are kept of a failure.
const KEPT: usize = 8;

/// The user's cargo and rustc, and the folder where results are kept.
#[derive(Debug, Clone)]
pub struct Toolchain {
    cargo: PathBuf,
    /// The output of `cargo --version`.
    pub cargo_version: String,
    /// The output of `rustc -vV`.
    pub rustc_version: String,
    host: String,
    cache: PathBuf,
}

/// Whether an earlier result may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// Use an earlier result.
    Earlier,
    /// Always build.
    Nothing,
}

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    #[serde(default)]
    resolve: Option<Resolve>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
}

/// A line that `cargo build --message-format json` prints.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    executable: Option<PathBuf>,
}

/// A folder that is removed with its contents.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // A file that cannot be removed stays in a folder of caches.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Toolchain {
    /// Finds the cargo that CARGO names, or the one in the PATH. Results are kept in `cache`.
    ///
    /// # Errors
    /// Returns an error if there is no cargo, or if it does not report its version.
    pub fn find(cache: PathBuf) -> Result<Self, ShipError> {
        let [cargo, rustc] = [("CARGO", "cargo"), ("RUSTC", "rustc")].map(|(name, otherwise)| {
            let given = env::var_os(name).filter(|value| !value.is_empty());
            PathBuf::from(given.unwrap_or_else(|| otherwise.into()))
        });
        let cargo_version = said(&cargo, "--version")?;
        let rustc_version = said(&rustc, "-vV")?;
        let host = rustc_version
            .lines()
            .find_map(|line| line.strip_prefix("host: "));
        let host = host.unwrap_or_default().to_owned();
        Ok(Self {
            cargo,
            cargo_version,
            rustc_version,
            host,
            cache,
        })
    }

    /// Builds the client, or finds the result of an earlier build of the same client.
    ///
    /// # Errors
    /// Returns an error if cargo fails, the program does not start, or `stop` becomes true.
    pub fn ship(
        &self,
        stack: &ShipStack,
        project: &Project,
        reuse: Reuse,
        stop: &AtomicBool,
    ) -> Result<Shipped, ShipError> {
        let key = self.key(project);
        let kept = self.cache.join(format!("{key}.json"));
        if reuse == Reuse::Earlier
            && let Some(mut shipped) = read(&kept)
        {
            shipped.found = Found::Cached;
            return Ok(shipped);
        }
        let name = format!("build-{}-{}", &key[..16], std::process::id());
        let folder = Folder(self.cache.join(name));
        let shipped = self.build(stack, project, &folder.0, stop)?;
        // If the file cannot be written, the next run builds again.
        if let Ok(text) = serde_json::to_vec(&shipped) {
            let _ = fs::write(&kept, text);
        }
        Ok(shipped)
    }

    /// Returns a digest of every input that a result depends on.
    fn key(&self, project: &Project) -> String {
        let mut digest = Sha256::new();
        let flags = [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CC",
            "CFLAGS",
            "CXX",
            "CXXFLAGS",
        ];
        let flags = flags.map(|name| env::var_os(name).unwrap_or_default());
        let texts = [
            project.sha256(),
            self.cargo_version.clone(),
            self.rustc_version.clone(),
        ];
        let all = texts
            .iter()
            .map(OsStr::new)
            .chain(flags.iter().map(OsStr::new));
        for text in all.chain([OsStr::new(advisories::READ_ON)]) {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text.as_encoded_bytes());
        }
        format!("{:x}", digest.finalize())
    }

    fn build(
        &self,
        stack: &ShipStack,
        project: &Project,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Shipped, ShipError> {
        project.write(folder)?;
        let watched = Watched::new(folder.join("tools"))?;
        let platform = ["--filter-platform", &self.host];
        let describe = [&["metadata", "--format-version", "1"][..], &platform].concat();
        let describe = self.command(folder, &watched, &describe);
        let described = run(describe, folder, "cargo metadata", stop)?;
        let fetch = ["fetch", "--locked", "--target", &self.host];
        let fetch = self.command(folder, &watched, &fetch);
        run(fetch, folder, "cargo fetch", stop)?;
        let build = [
            "build",
            "--release",
            "--locked",
            "--message-format",
            "json-render-diagnostics",
        ];
        let build = self.command(folder, &watched, &build);
        let (built, took) = BuildTime::measure(|| run(build, folder, "cargo build", stop));
        let (compiled, program) = artifacts(&built?);
        let program = program.ok_or_else(|| ShipError::Failed {
            what: "cargo build",
            said: "it made no program".to_owned(),
        })?;
        let about = fs::metadata(&program).map_err(ShipError::file(&program))?;
        let metadata: Metadata =
            serde_json::from_str(&described).map_err(|error| ShipError::Failed {
                what: "cargo metadata",
                said: error.to_string(),
            })?;
        let providers = providers(&metadata);
        starts(&program, folder, stop).map_err(|error| match error {
            ShipError::Failed { said, .. } if providers.len() > 1 => ShipError::Providers {
                providers: providers.clone(),
                said,
            },
            other => other,
        })?;
        let crates = crates(metadata, &compiled)?;
        let advisories = crates
            .iter()
            .flat_map(|of| advisories::of(&of.name, &of.version));
        Ok(Shipped {
            program_bytes: about.len(),
            build_cpu_ms: took.cpu_ms,
            build_ms: took.wall_ms,
            advisories: advisories.collect(),
            advisories_of: advisories::READ_ON.to_owned(),
            crates,
            providers,
            tools: watched.started(),
            fips: stack.fips.clone(),
            found: Found::Built,
        })
    }

    fn command(&self, folder: &Path, watched: &Watched, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.cargo);
        command
            .args(arguments)
            .current_dir(folder)
            .env("PATH", watched.path())
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .env("CARGO_TERM_COLOR", "never")
            // An object in a compiler's cache would make a second build cost no time.
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTC_WORKSPACE_WRAPPER");
        command
    }
}

/// Checks that the program makes its connector.
fn starts(program: &Path, folder: &Path, stop: &AtomicBool) -> Result<(), ShipError> {
    const WHAT: &str = "the client that was built";
    let mut command = Command::new(program);
    command.current_dir(folder);
    let begun = Instant::now();
    let said = run(command, folder, WHAT, stop)?;
    if said.trim() == "ready" && begun.elapsed() < START {
        return Ok(());
    }
    Err(ShipError::Failed {
        what: WHAT,
        said: "it does not make its connector".to_owned(),
    })
}

/// Returns the packages that were compiled, and the program.
fn artifacts(messages: &str) -> (HashSet<String>, Option<PathBuf>) {
    let mut compiled = HashSet::new();
    let mut program = None;
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<Message>(line) else {
            continue;
        };
        if message.reason == "compiler-artifact" {
            compiled.insert(message.package_id);
            program = message.executable.or(program);
        }
    }
    (compiled, program)
}

/// Returns the cryptography providers that rustls has features for.
fn providers(metadata: &Metadata) -> Vec<String> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let features = nodes
        .filter(|node| {
            let mut packages = metadata.packages.iter();
            packages.any(|package| package.id == node.id && package.name == "rustls")
        })
        .flat_map(|node| &node.features);
    let features: Vec<&str> = features.map(String::as_str).collect();
    providers::of_features(&features)
}

fn crates(metadata: Metadata, compiled: &HashSet<String>) -> Result<Vec<ShippedCrate>, ShipError> {
    let mut crates = Vec::new();
    for package in metadata.packages {
        if !compiled.contains(&package.id) || package.name == NAME {
            continue;
        }
        let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
        let lines = sources::count(folder).map_err(ShipError::file(folder))?;
        crates.push(ShippedCrate {
            name: sanitize(&package.name),
            version: sanitize(&package.version),
            licence: package.license.map(|licence| sanitize(&licence)),
            unsafe_lines: lines.with_unsafe,
            c_lines: lines.of_c,
        });
    }
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

/// Runs a step to its end, and returns its output.
fn run(
    mut command: Command,
    folder: &Path,
    what: &'static str,
    stop: &AtomicBool,
) -> Result<String, ShipError> {
    let (out, err) = (folder.join("printed"), folder.join("said"));
    let program = PathBuf::from(command.get_program());
    let child = command
        .stdin(Stdio::null())
        .stdout(create(&out)?)
        .stderr(create(&err)?)
        // One signal ends the command and every process that it starts.
        .process_group(0)
        .spawn()
        .map_err(ShipError::file(&program))?;
    let status = wait(child, stop).map_err(ShipError::file(folder))?;
    match status {
        None => Err(ShipError::Stopped),
        Some(status) if status.success() => read_lossy(&out),
        Some(_) => {
            let said = read_lossy(&err)?;
            let offline = [
                "failed to download",
                "Could not resolve host",
                "network failure",
            ];
            let what = match offline.iter().any(|words| said.contains(words)) {
                true => {
                    "the crates could not be downloaded, and are not kept from an earlier build"
                }
                false => what,
            };
            Err(ShipError::Failed {
                what,
                said: last_words(&said),
            })
        }
    }
}

fn create(path: &Path) -> Result<File, ShipError> {
    File::create(path).map_err(ShipError::file(path))
}

fn read_lossy(path: &Path) -> Result<String, ShipError> {
    let bytes = fs::read(path).map_err(ShipError::file(path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the end of cargo's output, without the instructions of build scripts to cargo, which can
/// be long.
fn last_words(said: &str) -> String {
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with("cargo:")
        })
        .collect();
    let last = &lines[lines.len().saturating_sub(KEPT)..];
    sanitize(&last.join(" | "))
}

/// Waits for a child. Returns `None` where the child had to be killed.
fn wait(mut child: Child, stop: &AtomicBool) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if stop.load(Ordering::Relaxed) || begun.elapsed() > LIMIT {
            end(&mut child)?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

fn end(child: &mut Child) -> std::io::Result<()> {
    let group = Pid::from_raw(child.id().cast_signed());
    // The signal fails where all processes have ended already.
    let _ = killpg(group, Signal::SIGTERM);
    let asked = Instant::now();
    while child.try_wait()?.is_none() {
        if asked.elapsed() > GRACE {
            let _ = killpg(group, Signal::SIGKILL);
            child.wait()?;
            break;
        }
        thread::sleep(LOOK);
    }
    // The second signal kills the processes that outlive the child.
    let _ = killpg(group, Signal::SIGKILL);
    Ok(())
}

fn said(program: &Path, argument: &str) -> Result<String, ShipError> {
    let output = Command::new(program).arg(argument).output();
    let output = output.map_err(|source| ShipError::NoCargo {
        program: program.to_owned(),
        source,
    })?;
    Ok(sanitize_lines(&String::from_utf8_lossy(&output.stdout)))
}

fn sanitize_lines(text: &str) -> String {
    let lines: Vec<String> = text.trim().lines().map(sanitize).collect();
    lines.join("\n")
}

fn read(path: &Path) -> Option<Shipped> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_of_a_failed_build_script_is_kept() {
        let noise = "  cargo:rustc-check-cfg=cfg(ossl300)\n".repeat(100);
        let said = format!("   Compiling a\nerror: no space\n\n  --- stdout\n{noise}");
        assert_eq!(
            last_words(&said),
            "   Compiling a | error: no space |   --- stdout"
        );
    }
}
