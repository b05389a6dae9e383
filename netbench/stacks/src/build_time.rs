//! The time that the build of a program took, in a file next to the program.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::{Instant, SystemTime},
};

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

use crate::BuildError;

/// The time of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildTime {
    /// Wall-clock time, in milliseconds.
    pub wall_ms: u64,
    /// CPU time of all processors together, in milliseconds.
    pub cpu_ms: u64,
}

impl BuildTime {
    /// Runs a build, and returns its result with the time that it took.
    pub fn measure<T>(build: impl FnOnce() -> T) -> (T, Self) {
        let (cpu_ms, begun) = (children_cpu_ms(), Instant::now());
        let built = build();
        let took = Self {
            wall_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            cpu_ms: children_cpu_ms().saturating_sub(cpu_ms),
        };
        (built, took)
    }
}

/// Runs a build of `built`, and records the time that it took if the file has changed.
pub(crate) fn recording(
    built: &Path,
    build: impl FnOnce() -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let made = modified(built);
    let (ended, took) = BuildTime::measure(build);
    if ended.is_ok() && modified(built) != made {
        record(built, took);
    }
    ended
}

/// Returns the time that the build of `program` took. A file older than the program belongs to
/// another build.
pub(crate) fn of(program: &Path) -> Option<BuildTime> {
    let file = beside(program);
    let recorded = modified(&file)? >= modified(program)?;
    let text = recorded.then(|| fs::read(&file).ok())??;
    serde_json::from_slice(&text).ok()
}

/// Stores the time of a build. A failure is no error: the worker does not need the file.
pub(crate) fn record(program: &Path, took: BuildTime) {
    if let Ok(text) = serde_json::to_vec(&took) {
        let _ = fs::write(beside(program), text);
    }
}

/// Deletes the stored time of a program's build.
pub fn forget(program: &Path) {
    let _ = fs::remove_file(beside(program));
}

fn beside(program: &Path) -> PathBuf {
    let mut name = OsString::from(program);
    name.push(".build.json");
    PathBuf::from(name)
}

pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|about| about.modified()).ok()
}

/// Returns the CPU time of the ended children of this process and their descendants, in ms.
fn children_cpu_ms() -> u64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else {
        return 0;
    };
    let all = usage.user_time() + usage.system_time();
    let micros = all.tv_sec() * 1_000_000 + all.tv_usec();
    u64::try_from(micros / 1000).unwrap_or(0)
}
