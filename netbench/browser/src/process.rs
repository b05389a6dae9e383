//! A browser's processes and its folder, which are removed when this process ends, however it ends.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command},
    thread,
    time::{Duration, Instant},
};

use netbench_scratch::Folder;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use crate::{
    BrowserError, Limit,
    error::Unanswered,
    threads::{Threads, processes},
};

/// The maximum length of a browser's message that is shown.
const LONGEST_WORDS: usize = 300;

/// The name of the file for its stderr, in its folder.
const STDERR: &str = "stderr";

/// The action of a browser that quits, in errors.
pub(crate) const QUIT: &str = "end";

/// The beginning of a line of stderr with a message of the page's console.
const CONSOLE: &str = "console: ";

/// The polling interval for its end.
const LOOK: Duration = Duration::from_millis(10);

/// The time limit of the wait for killed processes.
const DYING: Duration = Duration::from_secs(1);

/// Makes a folder for a browser and its profile.
pub(crate) fn folder() -> Result<Folder, BrowserError> {
    Folder::new("netbench-browser-").map_err(BrowserError::profile("its folder"))
}

/// A browser with its folder.
#[derive(Debug)]
pub(crate) struct Process {
    browser: &'static str,
    group: Group,
    /// The last field: the folder is removed when the processes have ended.
    folder: Folder,
}

/// A process and all processes of its group, which are killed when this value is dropped.
#[derive(Debug)]
struct Group(Child);

impl Process {
    /// Starts the command of a browser in a new process group.
    pub(crate) fn start(
        browser: &'static str,
        command: &mut Command,
        mut folder: Folder,
    ) -> Result<Self, BrowserError> {
        let started = File::create(folder.path().join(STDERR))
            .and_then(|stderr| command.stderr(stderr).process_group(0).spawn());
        let child = started.map_err(BrowserError::start(browser))?;
        let guarded = folder.guard_group(child.id());
        // From here on, dropping the value ends the process.
        let process = Self {
            browser,
            group: Group(child),
            folder,
        };
        guarded.map_err(BrowserError::start(browser))?;
        Ok(process)
    }

    /// Returns the streams of a process whose stdin and stdout are piped.
    pub(crate) fn pipes(&mut self) -> Result<(ChildStdin, ChildStdout), BrowserError> {
        let Group(child) = &mut self.group;
        let pipes = child.stdin.take().zip(child.stdout.take());
        pipes.ok_or_else(|| BrowserError::start(self.browser)(io::ErrorKind::BrokenPipe.into()))
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.group.0.try_wait(), Ok(Some(_)))
    }

    /// Returns the scheduler's counters of the threads of all its processes.
    pub(crate) fn threads(&self) -> Threads {
        Threads::of_group(self.group.id())
    }

    /// Waits until a browser that was told to quit has ended, and returns its folder.
    pub(crate) fn ended(mut self, limit: Limit<'_>) -> Result<Folder, BrowserError> {
        while !self.has_ended() {
            if let Err(unanswered) = limit.check() {
                return Err(self.failed(unanswered, QUIT));
            }
            thread::sleep(LOOK);
        }
        // Its other processes may still run.
        drop(self.group);
        Ok(self.folder)
    }

    /// Returns the error of a missing answer, with the process's messages.
    pub(crate) fn failed(&self, unanswered: Unanswered, doing: &str) -> BrowserError {
        let (browser, doing) = (self.browser, doing.to_owned());
        match unanswered {
            Unanswered::Stopped => BrowserError::Stopped,
            Unanswered::Late => BrowserError::Hung { browser, doing },
            Unanswered::Refused(what) => BrowserError::Answer {
                browser,
                what: netbench_model::sanitize_prefix(&what, LONGEST_WORDS),
            },
            Unanswered::Ended => self.ending(doing),
        }
    }

    fn ending(&self, doing: String) -> BrowserError {
        let browser = self.browser;
        let words = self.last_words();
        let mut lines = words.lines();
        if let Some(line) =
            lines.find(|line| line.contains("no-sandbox") || line.contains("No usable sandbox"))
        {
            return BrowserError::Sandbox {
                browser,
                said: netbench_model::sanitize_prefix(line, LONGEST_WORDS),
            };
        }
        BrowserError::Ended {
            browser,
            doing,
            said: end(&words),
        }
    }

    pub(crate) fn folder_path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the end of its stderr.
    fn last_words(&self) -> String {
        let bytes = last_bytes(&self.folder_path().join(STDERR));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }
}

impl Group {
    fn id(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.0.id()).unwrap_or(i32::MAX))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let until = Instant::now() + DYING;
        let group = self.id();
        let mut killed = killpg(group, Signal::SIGKILL);
        let _ = self.0.wait();
        // The other processes of its group are not children of this process.
        while killed.is_ok() && runs(group) && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
            killed = killpg(group, Signal::SIGKILL);
        }
    }
}

fn last_bytes(path: &Path) -> io::Result<Vec<u8>> {
    const LONGEST: u64 = 8_192;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST)))?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the reason for the end of a browser from its stderr, after a colon, with the page's last console message.
fn end(stderr: &str) -> String {
    let lines = stderr.lines().rev().filter(|line| !line.trim().is_empty());
    let (console, lines): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.starts_with(CONSOLE));
    // The handlers of crashes of Chromium and of SpiderMonkey write after the reason of the crash.
    let fatal = lines
        .iter()
        .find(|line| line.contains(":FATAL:") || line.contains("fatal runtime error"));
    let reason = fatal.or(lines.first());
    let parts: Vec<String> = [reason, console.first()]
        .into_iter()
        .flatten()
        .map(|line| netbench_model::sanitize_prefix(line, LONGEST_WORDS))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(": {}", parts.join("; "))
}

/// Returns whether a process of the group runs. One that has ended may remain as a zombie, where no parent
/// waits for it.
fn runs(group: Pid) -> bool {
    processes(group).map_or(true, |mut running| running.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_an_end_is_that_of_the_crash() {
        for (stderr, reason) in [
            ("", ""),
            ("a\n\nb\n \n", ": b"),
            ("[1:FATAL:x] why\nhandler\n", ": [1:FATAL:x] why"),
            (
                "console: log: 1\nconsole: log: 2\nfatal runtime error: stack overflow\nmozalloc_abort",
                ": fatal runtime error: stack overflow; console: log: 2",
            ),
            ("console: log: 1", ": console: log: 1"),
        ] {
            assert_eq!(end(stderr), reason, "{stderr}");
        }
    }
}
