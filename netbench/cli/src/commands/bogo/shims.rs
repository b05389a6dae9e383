use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Context;
use netbench_bogo::{
    KNOWN_SHIMS, KnownShim, LibraryVersion, MadeBy, NULL_SHIM, OutcomesIn, SHIMS_FOLDER,
    SHIMS_PACKAGE, ShimConfig, ShimExecutable, boringssl_shim, go_shim, linked_library,
};

use netbench_stacks::{Host, Pin, pinned_workspace};
use openssl_src::{RELEASES, Release};

use crate::{
    output::unknown,
    progress::Progress,
    workers::{Profile, SourceTree, Terminal},
};

use super::runs::Setup;

/// The environment variable that passes a version of rustls to the build of the shims.
const RUSTLS: &str = "NETBENCH_SHIM_RUSTLS";

/// A shim that is ready to run.
pub(crate) struct Shim {
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
    /// The program behind the shim, if there is one.
    pub(crate) behind: Option<PathBuf>,
    /// The system's libraries that the program is linked with, if its source does not fix them.
    libraries: Vec<PathBuf>,
    /// The library's version, if the shim's source does not fix the version.
    pub(crate) library: Option<String>,
    /// The shim's configuration file, for the runner.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) config: ShimConfig,
}

pub(crate) fn known(name: &str) -> anyhow::Result<&'static KnownShim> {
    KnownShim::named(name).ok_or_else(|| {
        let names: Vec<_> = KNOWN_SHIMS.iter().map(|shim| shim.name).collect();
        unknown("unknown shim", name, &names).into()
    })
}

impl Shim {
    pub(crate) fn find(shim: &KnownShim, setup: &Setup<'_>) -> anyhow::Result<Self> {
        let (runner, progress) = (&setup.runner, &setup.progress);
        let (mut behind, mut library, mut libraries) = (None, None, Vec::new());
        let program = match shim.made_by {
            MadeBy::Boringssl => {
                boringssl_shim(runner, setup.jobs, &mut |step| progress.stage(step))?
            }
            MadeBy::Cargo(executable) => find_built(executable, progress)?,
            MadeBy::CargoWithSystemLibrary(executable) => {
                let stack = netbench_stacks::stack("openssl-system")?;
                stack.map_or(Ok(()), |stack| stack.build.has_needs(executable.name))?;
                let program = find_built(executable, progress)?;
                let linked = linked_library(runner, &program)?;
                (library, libraries) = (Some(linked.version), linked.files);
                program
            }
            MadeBy::GoBehind(executable, toolchain) => {
                let program = find_built(executable, progress)?;
                let go = go_shim(runner, toolchain, &mut |step| progress.stage(step))?;
                (behind, library) = (Some(go.program), Some(go.version));
                program
            }
        };
        let tree = tree()?;
        Ok(Self {
            name: shim.name,
            program,
            behind,
            libraries,
            library,
            config_file: shim.config_file().map(|path| tree.root().join(path)),
            config: shim.config(&OutcomesIn::Tree(tree.root().to_owned()))?,
        })
    }

    /// Returns the arguments that the shim has in every test.
    pub(crate) fn extra(&self) -> Vec<String> {
        let behind = self.behind.iter();
        let behind = behind.flat_map(|path| ["-program".to_owned(), path.display().to_string()]);
        behind.collect()
    }

    /// Returns whether the source tree determines the library, and not the system.
    pub(crate) fn library_is_fixed(&self) -> bool {
        self.libraries.is_empty()
    }

    /// Returns the programs and libraries on which the shim's results depend.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Path> {
        let all = [Some(&self.program), self.behind.as_ref()];
        let all = all.into_iter().flatten().chain(&self.libraries);
        all.map(PathBuf::as_path)
    }
}

pub(crate) fn null(progress: &Progress) -> anyhow::Result<PathBuf> {
    find_built(NULL_SHIM, progress)
}

/// Finds the source tree, which contains the shims and stores the outcomes.
pub(crate) fn tree() -> anyhow::Result<SourceTree> {
    SourceTree::find().context(
        "running the protocol tests needs netbench's source tree; `netbench bogo --stored` shows stored outcomes without it",
    )
}

fn find_built(shim: ShimExecutable, progress: &Progress) -> anyhow::Result<PathBuf> {
    let executable = shim.name;
    let tree = tree()?;
    let (target, shims) = (tree.target(), tree.root().join(SHIMS_FOLDER));
    let (mut package, mut sources) = (SHIMS_PACKAGE, vec![shims.clone()]);
    let target = match shim.library {
        LibraryVersion::Locked => target,
        LibraryVersion::OpenSsl(line) => target.join(format!("openssl@{line}")),
        LibraryVersion::Rustls(version) => target.join(format!("rustls@{version}")),
        LibraryVersion::OwnWorkspace(folder) => {
            package = executable;
            sources.push(shims.join(folder));
            target.join(folder)
        }
    };
    let built = target.join(Profile::UNTIMED.folder()).join(executable);
    if sources.iter().all(|source| is_up_to_date(&built, source)) {
        return Ok(built);
    }
    progress.stage(&format!("Building {executable} (once)"));
    let mut what = vec!["-p", package, "--bin", executable];
    if let Some(feature) = shim.feature {
        what.extend(["--features", feature]);
    }
    let folder = target.display().to_string();
    let (setting, manifest);
    match shim.library {
        LibraryVersion::Locked => {}
        LibraryVersion::OpenSsl(line) => {
            let release = RELEASES.iter().find(|release| release.line == line);
            let release = release.with_context(|| format!("there is no OpenSSL {line}"))?;
            Terminal.openssl(*release, tree.root(), &[])?;
            setting = format!("env.{}='{line}'", Release::VARIABLE);
            what.extend(["--target-dir", &folder, "--config", &setting]);
        }
        LibraryVersion::Rustls(version) => {
            let pin = Pin {
                package: "rustls".to_owned(),
                version: version.to_owned(),
            };
            let workspace = target.join("shim");
            manifest = pinned_workspace(&tree, SHIMS_FOLDER, &[pin], &what, &workspace, &Terminal)?;
            setting = format!("env.{RUSTLS}='{version}'");
            what.extend(["--target-dir", &folder, "--config", &setting]);
            what.extend(["--manifest-path", &manifest]);
        }
        LibraryVersion::OwnWorkspace(folder_of_shim) => {
            let workspace = shims.join(folder_of_shim);
            manifest = workspace.join("Cargo.toml").display().to_string();
            what.extend(["--target-dir", &folder, "--manifest-path", &manifest]);
        }
    }
    tree.cargo_build(Profile::UNTIMED, &what, &built, &Terminal)?;
    // Cargo does not touch an executable that is up to date.
    fs::File::options()
        .append(true)
        .open(&built)
        .and_then(|file| file.set_modified(SystemTime::now()))
        .with_context(|| format!("cannot touch {}", built.display()))?;
    Ok(built)
}

/// Returns whether `built` exists and no source of `package` has changed since.
fn is_up_to_date(built: &Path, package: &Path) -> bool {
    let Some(made) = modified(built) else {
        return false;
    };
    let mut paths = vec![package.join("src"), package.join("Cargo.toml")];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        } else if modified(&path).is_some_and(|changed| changed > made) {
            return false;
        }
    }
    true
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|about| about.modified()).ok()
}
