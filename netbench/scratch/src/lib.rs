//! A folder for a program that netbench starts. The folder is removed when its owner ends, however the owner
//! ends.
//!
//! This crate must never start anything but its guard. Start reading at [`Folder`].

use std::{
    fs,
    io::{self, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The longest time for which killed processes may still write to their folder.
const ENDING: Duration = Duration::from_secs(5);

/// The guard's script, which runs on once no process holds its input open. If the guard was given groups of
/// processes, the script first kills the last one, and then removes the folder. Killed processes go on to write
/// for a moment. (dash does not accept `kill -KILL --`.)
const GUARD: &str = r#"
while read -r next; do group=$next; done; tries=0
while [ -n "$group" ] && kill -s KILL -- "-$group" && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.05; done
until rm -rf -- "$1" || [ $tries -gt 200 ]; do tries=$((tries + 1)); sleep 0.05; done"#;

/// A private folder. It is removed when this value is dropped, or when this process ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    guard: Guard,
}

/// A process that outlives this process where this one is killed.
#[derive(Debug)]
struct Guard {
    child: Child,
    held: ChildStdin,
}

impl Folder {
    /// Makes a folder in the directory for temporary files that only its owner can enter. The folder's name
    /// begins with `prefix`.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be made, or if there is no shell for its guard.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir()?;
        let guard = Guard::start(folder.path())?;
        let path = folder.keep();
        Ok(Self { path, guard })
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the guard also kill this group of processes where this process is killed. An earlier group is no longer
    /// guarded: its processes must have ended.
    ///
    /// # Errors
    /// Returns an error if the guard has ended.
    pub fn guard_group(&mut self, group: u32) -> io::Result<()> {
        writeln!(self.guard.held, "{group}")
    }
}

impl Drop for Folder {
    /// Removes the folder as soon as no process writes to it any more.
    fn drop(&mut self) {
        let until = Instant::now() + ENDING;
        while fs::remove_dir_all(&self.path).is_err()
            && self.path.exists()
            && Instant::now() < until
        {
            thread::sleep(Duration::from_millis(10));
        }
        // The guard has no more work.
        let _ = self.guard.child.kill();
        let _ = self.guard.child.wait();
    }
}

impl Guard {
    fn start(folder: &Path) -> io::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", GUARD, "netbench-guard"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let held = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_when_it_is_dropped() {
        let folder = Folder::new("netbench-scratch-test-").unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "text").unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn the_guard_removes_it_once_its_owner_is_gone() {
        let mut folder = Folder::new("netbench-scratch-test-").unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "text").unwrap();
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        // As the end of this process would, this closes the guard's input.
        folder.guard.held = ChildStdin::from(std::os::fd::OwnedFd::from(writer));
        let until = Instant::now() + ENDING;
        while path.exists() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(!path.exists());
    }
}
