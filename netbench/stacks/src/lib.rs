//! The registry of stacks. A stack is a folder with a `stack.toml`, which describes it and the build of its worker; no
//! other file lists stacks.
//!
//! This crate must never print: a [`Host`] shows the progress of builds and runs their programs. Start reading at
//! [`stacks`], then [`Program`]; `file.rs` has the format of `stack.toml`.

pub mod build_time;
mod error;
mod file;
mod host;
mod needs;
mod pinned;
mod program;
mod recipe;
mod registry;
mod servers;
mod servo;
mod servo_openssl;
mod together;
mod tree;

use std::{env, os::unix::fs::PermissionsExt, path::PathBuf};

pub use build_time::BuildTime;
pub use error::{BuildError, FileError};
pub use file::ShipStack;
pub use host::Host;
pub use needs::Need;
pub use pinned::pinned_workspace;
pub use program::{Found, Program};
pub use recipe::{Build, CargoRecipe, CommandRecipe, Pin, Recipe};
pub use registry::{Fips, Licence, Stack, command_recipe, ship_stacks, stack, stacks};
pub use servers::{installed_servers, web_server};
pub use servo::build_servo;
pub use servo_openssl::{PatchError, patched_servo_net};
pub use together::build_together;
pub use tree::{Profile, SourceTree, this_command};

/// Finds a program in the directories of `PATH`, as a shell does.
pub fn in_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|file| {
        let about = file.metadata();
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

/// Returns the folder `netbench/NAME` in the user's cache folder, for files that can be made again.
///
/// # Errors
/// Returns an error if the user has no cache folder, or if the folder cannot be made.
pub fn cache_folder(name: &str) -> Result<PathBuf, BuildError> {
    let cache = openssl_src::user_cache().ok_or(BuildError::NoCache)?;
    let folder = cache.join("netbench").join(name);
    std::fs::create_dir_all(&folder).map_err(BuildError::file("make", &folder))?;
    Ok(folder)
}
