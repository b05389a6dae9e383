use std::{
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, bail};
use netbench_bogo::{
    KNOWN_SHIMS, KnownShim, NULL_SHIM, SHIMS_FOLDER, SHIMS_PACKAGE, ShimConfig, ShimExecutable,
    boringssl_shim,
};

use netbench_model::suggestion;

use crate::{
    exit::WrongInput,
    progress::Progress,
    workers::{cargo_build, source_tree},
};

use super::runs::Setup;

/// A shim that can be run.
pub(crate) struct Shim {
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
    /// The file of its configuration, for the runner.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) config: ShimConfig,
}

/// A shim by its name.
pub(crate) fn known(name: &str) -> anyhow::Result<&'static KnownShim> {
    KnownShim::named(name).ok_or_else(|| {
        let names: Vec<_> = KNOWN_SHIMS.iter().map(|shim| shim.name).collect();
        let (shown, suggestion) = (name.escape_debug(), suggestion(name, &names));
        WrongInput(format!("unknown shim \"{shown}\"; {suggestion}")).into()
    })
}

impl Shim {
    /// Finds a shim's program, or builds it.
    pub(crate) fn find(shim: &KnownShim, setup: &Setup<'_>) -> anyhow::Result<Self> {
        let (runner, progress) = (&setup.runner, &setup.progress);
        let program = match shim.executable {
            None => boringssl_shim(runner, setup.jobs, &mut |step| progress.stage(step))?,
            Some(executable) => find_built(executable, progress)?,
        };
        let tree = tree()?;
        Ok(Self {
            name: shim.name,
            program,
            config_file: shim.config_file(&tree),
            config: shim.config(&tree)?,
        })
    }
}

/// The shim that does nothing.
pub(crate) fn null(progress: &Progress) -> anyhow::Result<PathBuf> {
    find_built(NULL_SHIM, progress)
}

/// The source tree, which has the configurations and the stored outcomes.
pub(crate) fn tree() -> anyhow::Result<PathBuf> {
    let command = env::current_exe().context("cannot tell where this command is")?;
    source_tree(&command).context("netbench bogo needs netbench's source tree: run it there")
}

fn find_built(shim: ShimExecutable, progress: &Progress) -> anyhow::Result<PathBuf> {
    let executable = shim.name;
    let tree = tree()?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| tree.join("target"), PathBuf::from);
    let built = target.join("release").join(executable);
    let rebuilt = !is_up_to_date(&built, &tree.join(SHIMS_FOLDER));
    if rebuilt {
        progress.stage(&format!("Building {executable} (once)"));
        build(&tree, shim)?;
    }
    if !built.is_file() {
        bail!(
            "{executable} was built, but {} is not there",
            built.display()
        );
    }
    if rebuilt {
        // Cargo does not touch an executable that is up to date.
        fs::File::options()
            .append(true)
            .open(&built)
            .and_then(|file| file.set_modified(SystemTime::now()))
            .with_context(|| format!("cannot touch {}", built.display()))?;
    }
    Ok(built)
}

/// Whether `built` exists and no source of `package` has changed since.
fn is_up_to_date(built: &Path, package: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let Some(made) = time(built) else {
        return false;
    };
    let mut folders = vec![package.join("src")];
    let mut sources = vec![package.join("Cargo.toml")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                sources.push(path);
            }
        }
    }
    sources
        .iter()
        .all(|source| time(source).is_none_or(|changed| changed <= made))
}

fn build(tree: &Path, shim: ShimExecutable) -> anyhow::Result<()> {
    let mut arguments = vec!["-p", SHIMS_PACKAGE, "--bin", shim.name];
    if let Some(feature) = shim.feature {
        arguments.extend(["--features", feature]);
    }
    cargo_build(tree, &arguments, &[])
}
