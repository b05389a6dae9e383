//! This executable as a child that runs one scenario.

use std::{
    error::Error,
    fmt, fs,
    io::{BufRead, BufReader, Read},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::PathBuf,
    process::{self, Command, Stdio},
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::scenario;

const LIMIT: Duration = Duration::from_secs(60);
/// The user number of `nobody`, on every system.
const NOBODY: u32 = 65534;

/// The user as whom the child runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// The user who runs the tests.
    Own,
    /// An ordinary user, where root runs the tests.
    Nobody,
}

impl User {
    pub(crate) fn is_root() -> bool {
        // SAFETY: the call only reads.
        unsafe { libc::geteuid() == 0 }
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "own_user",
            Self::Nobody => "nobody",
        })
    }
}

/// A running scenario, which ends when it is dropped.
pub(crate) struct Child {
    process: process::Child,
    lines: mpsc::Receiver<String>,
}

impl Child {
    /// Runs a scenario to its end and returns its answer.
    pub(crate) fn run(words: &[&str], user: User) -> Result<Value, Box<dyn Error>> {
        Self::start(words, user)?.answer()
    }

    /// Starts a scenario.
    pub(crate) fn start(words: &[&str], user: User) -> Result<Self, Box<dyn Error>> {
        let copy;
        let mut command = match user {
            User::Own => Command::new(std::env::current_exe()?),
            User::Nobody => {
                copy = Copy::make()?;
                let mut command = Command::new(&copy.path);
                command.uid(NOBODY).gid(NOBODY).current_dir("/");
                command
            }
        };
        command
            .arg(scenario::WORD)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // The child has a new process group, so that a scenario that hangs can be ended with all processes
        // that it started.
        let mut process = command.stderr(Stdio::piped()).process_group(0).spawn()?;
        let (sender, lines) = mpsc::channel();
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
        thread::spawn(move || {
            for line in stdout
                .into_iter()
                .flat_map(|out| BufReader::new(out).lines())
                .flatten()
            {
                if sender.send(line).is_err() {
                    return;
                }
            }
            let mut complaint = String::new();
            let _ = stderr.map(|mut err| err.read_to_string(&mut complaint));
            let _ = sender.send(complaint);
        });
        Ok(Self { process, lines })
    }

    /// Returns the scenario's answer, or its error message.
    pub(crate) fn answer(&mut self) -> Result<Value, Box<dyn Error>> {
        let line = self
            .lines
            .recv_timeout(LIMIT)
            .map_err(|_| format!("no answer in {LIMIT:?}"))?;
        serde_json::from_str(&line).map_err(|_| line.trim().to_owned().into())
    }

    /// Ends only the scenario's own process, as `kill -9` does.
    pub(crate) fn kill(&mut self) -> std::io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let group = self.process.id().cast_signed();
        // The scenario ends when its standard input does.
        drop(self.process.stdin.take());
        if let Ok(None) = self.process.try_wait() {
            thread::sleep(Duration::from_millis(100));
        }
        if let Ok(None) = self.process.try_wait() {
            // SAFETY: the group belongs to the child, and the child has not been waited for.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
        let _ = self.process.wait();
    }
}

/// A copy of this executable that every user may run, which a build folder need not allow.
struct Copy {
    path: PathBuf,
}

impl Copy {
    /// Makes the copy once; it is removed by the last line of this process.
    fn make() -> Result<&'static Self, Box<dyn Error>> {
        static COPY: OnceLock<Copy> = OnceLock::new();
        if let Some(copy) = COPY.get() {
            return Ok(copy);
        }
        let folder = std::env::temp_dir().join(format!("netbench-link-test-{}", process::id()));
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        let path = folder.join("link");
        // Another process copies: a file that this one wrote is busy in the children that other tests start.
        let copied = Command::new("cp")
            .arg(std::env::current_exe()?)
            .arg(&path)
            .status()?;
        if !copied.success() {
            return Err(format!("cannot copy to {}", path.display()).into());
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(COPY.get_or_init(|| Self { path }))
    }

    fn remove() {
        let folder = std::env::temp_dir().join(format!("netbench-link-test-{}", process::id()));
        let _ = fs::remove_dir_all(folder);
    }
}

/// Removes the copy that `start` has made.
pub(crate) fn clean_up() {
    Copy::remove();
}
