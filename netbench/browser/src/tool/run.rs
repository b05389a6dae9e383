//! One run of a program, with limits of its time and of the output that is kept.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use nix::{
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, killpg},
    },
    unistd::Pid,
};

use crate::{BrowserError, Limit, error::Unanswered};

/// The polling interval for its end.
const LOOK: Duration = Duration::from_millis(2);

/// The maximum size of its output that is read.
const LONGEST: u64 = 256 << 10;

/// The exit status of a program, and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// Returns the last line of its stderr, or of its stdout if that is empty.
    pub(super) fn last_line(&self) -> String {
        let line = [&self.stderr, &self.stdout].into_iter().find_map(|text| {
            let mut lines = text.lines().rev();
            lines.find(|line| !line.trim().is_empty())
        });
        netbench_model::sanitize_prefix(line.unwrap_or_default().trim(), 300)
    }
}

/// Runs the program, and waits for its end. Its output goes to files in `folder`.
pub(super) fn run(
    name: &'static str,
    mut command: Command,
    folder: &Path,
    limit: Limit<'_>,
) -> Result<Ran, BrowserError> {
    let start = BrowserError::start(name);
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    // SAFETY: between fork and exec the closure makes one system call.
    unsafe {
        // Where this process is killed, no other process would end the program.
        command.pre_exec(|| Ok(set_pdeathsig(Signal::SIGKILL)?));
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&stdout).map_err(&start)?)
        .stderr(File::create(&stderr).map_err(&start)?)
        .process_group(0)
        .spawn()
        .map_err(&start)?;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(&start)? {
            break status;
        }
        if let Err(over) = limit.check() {
            if let Ok(group) = i32::try_from(child.id()) {
                let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            }
            let _ = child.wait();
            return Err(match over {
                Unanswered::Stopped => BrowserError::Stopped,
                _ => BrowserError::Hung {
                    browser: name,
                    doing: "fetch the page".to_owned(),
                },
            });
        }
        thread::sleep(LOOK);
    };
    let ran = Ran {
        code: status.code().unwrap_or_default(),
        stdout: text(&stdout).map_err(&start)?,
        stderr: text(&stderr).map_err(&start)?,
    };
    match status.signal() {
        None => Ok(ran),
        Some(signal) => Err(BrowserError::Ended {
            browser: name,
            doing: "fetch the page".to_owned(),
            said: format!(": signal {signal}: {}", ran.last_line()),
        }),
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
