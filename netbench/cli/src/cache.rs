//! Files that are kept between runs and can be made again.

use std::{env, path::PathBuf};

use anyhow::{Context, bail};

/// Returns the folder `netbench/NAME` in the user's cache folder.
pub(crate) fn folder(name: &str) -> anyhow::Result<PathBuf> {
    let given = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = match (given("XDG_CACHE_HOME"), given("HOME")) {
        (Some(cache), _) => cache,
        (None, Some(home)) => home.join(".cache"),
        (None, None) => {
            bail!("no cache folder: neither XDG_CACHE_HOME nor HOME is set")
        }
    };
    let folder = cache.join("netbench").join(name);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}
