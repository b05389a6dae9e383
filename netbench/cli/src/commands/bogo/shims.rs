use std::{
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, bail};
use netbench_bogo::{Runner, ShimConfig, boringssl_shim};

use crate::{
    exit::WrongInput,
    workers::{cargo_build, source_tree},
};

use super::progress::Say;

/// A shim that there is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KnownShim {
    pub(crate) name: &'static str,
    /// The executable, and the feature of the shims' package that it is built with; none where
    /// BoringSSL's own build makes it.
    executable: Option<(&'static str, &'static str)>,
    /// Its configuration, in the source tree.
    config: Option<&'static str>,
    /// What differs from that, where the configuration is another stack's too.
    exceptions: Option<&'static str>,
}

const KNOWN: [KnownShim; 4] = [
    KnownShim {
        name: "boringssl",
        executable: None,
        config: None,
        exceptions: None,
    },
    KnownShim {
        name: "openssl",
        executable: Some(("netbench-bogo-openssl", "openssl")),
        config: Some("openssl.json"),
        exceptions: None,
    },
    KnownShim {
        name: "rustls",
        executable: Some(("netbench-bogo-rustls", "rustls")),
        config: Some("rustls.json"),
        exceptions: None,
    },
    KnownShim {
        name: "rustls-ring",
        executable: Some(("netbench-bogo-rustls-ring", "rustls-ring")),
        config: Some("rustls.json"),
        exceptions: Some("rustls-ring.json"),
    },
];

const NULL: KnownShim = KnownShim {
    name: "null",
    executable: Some(("netbench-bogo-null", "")),
    config: None,
    exceptions: None,
};

const PACKAGE: &str = "netbench-bogo-shims";

/// A shim that can be run.
pub(crate) struct Shim {
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
    /// The configuration's place, for the runner.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) config: ShimConfig,
}

/// A shim by its name.
pub(crate) fn known(name: &str) -> anyhow::Result<&'static KnownShim> {
    KNOWN.iter().find(|shim| shim.name == name).ok_or_else(|| {
        let names: Vec<_> = KNOWN.iter().map(|shim| shim.name).collect();
        let shown = name.escape_debug();
        WrongInput(format!(
            "there is no shim of \"{shown}\"; there are {}",
            names.join(", ")
        ))
        .into()
    })
}

/// Finds a shim's program, or builds it.
pub(crate) fn find(
    shim: &KnownShim,
    runner: &Runner,
    jobs: u32,
    say: &Say,
) -> anyhow::Result<Shim> {
    let program = match shim.executable {
        None => boringssl_shim(runner, jobs, &mut |step| say.step(step))?,
        Some((executable, feature)) => find_built(executable, feature, say)?,
    };
    Ok(Shim {
        name: shim.name,
        program,
        config_file: shim.config.map(config_file).transpose()?,
        config: config(shim)?,
    })
}

/// A shim's configuration; the empty one if it has none.
pub(crate) fn config(shim: &KnownShim) -> anyhow::Result<ShimConfig> {
    let mut config = match shim.config {
        Some(file) => ShimConfig::read(&config_file(file)?)?,
        None => ShimConfig::default(),
    };
    if let Some(file) = shim.exceptions {
        config = config.except(&config_file(file)?)?;
    }
    Ok(config)
}

fn config_file(name: &str) -> anyhow::Result<PathBuf> {
    Ok(tree()?.join("bogo-shims/configs").join(name))
}

/// The shim that does nothing.
pub(crate) fn null(say: &Say) -> anyhow::Result<PathBuf> {
    let (executable, feature) = NULL.executable.context("the null shim has a program")?;
    find_built(executable, feature, say)
}

/// The source tree, where configurations and kept outcomes are.
pub(crate) fn tree() -> anyhow::Result<PathBuf> {
    let command = env::current_exe().context("cannot tell where this command is")?;
    source_tree(&command).context("netbench bogo needs netbench's source tree: run it there")
}

fn find_built(executable: &str, feature: &str, say: &Say) -> anyhow::Result<PathBuf> {
    let tree = tree()?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| tree.join("target"), PathBuf::from);
    let built = target.join("release").join(executable);
    let rebuilt = !is_newer(&built, &tree.join("bogo-shims"));
    if rebuilt {
        say.step(&format!("building {executable}, which is needed once"));
        build(&tree, executable, feature)?;
    }
    if !built.is_file() {
        bail!(
            "{executable} was built, but {} is not there",
            built.display()
        );
    }
    if rebuilt {
        // Cargo leaves the time of what had not to be built anew.
        fs::File::options()
            .append(true)
            .open(&built)
            .and_then(|file| file.set_modified(SystemTime::now()))
            .with_context(|| format!("cannot touch {}", built.display()))?;
    }
    Ok(built)
}

/// Whether `built` is there and no source in `package` has changed since.
fn is_newer(built: &Path, package: &Path) -> bool {
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

fn build(tree: &Path, executable: &str, feature: &str) -> anyhow::Result<()> {
    let mut what = vec!["-p", PACKAGE, "--bin", executable];
    if !feature.is_empty() {
        what.extend(["--features", feature]);
    }
    cargo_build(tree, &what)
}
