use std::{
    fs::File,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use netbench_model::{PartState, Thresholds};
use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{Signal, kill},
    },
    unistd::{Pid, getpid, getppid},
};

use super::{
    parts::{Step, Work, run_in},
    progress::PartProgress,
};
use crate::{config, exit::NO_NETWORK, workers::this_command};

/// The interval at which a waiting thread polls.
const LOOK: Duration = Duration::from_millis(50);

/// The longest time that a part may take, including builds on first use.
const LIMIT: Duration = Duration::from_secs(2 * 3600);

/// The longest time in which a part must store its results, after it is asked to stop.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// Runs one step as a separate process: a crash does not reach this process, and creating namespaces needs a process
/// without threads. `workers` are the arguments for the workers of the user. Returns the state of the part after it.
pub(super) fn step(
    step: &Step<'_>,
    workers: &[String],
    thresholds: &Thresholds,
    folder: &Path,
    stop: &AtomicBool,
    progress: &PartProgress,
) -> anyhow::Result<PartState> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut command = Command::new(this_command()?);
    // The stored command line has the name of the command, not a path on this machine.
    command.arg0("netbench");
    if config::is_settled() {
        command.arg(format!("--{}", config::IGNORE));
    }
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    match &step.work {
        Work::Printed {
            arguments, file, ..
        } => {
            let path = folder.join(file);
            let beside = path.with_extension("part");
            let file = File::create(&beside)
                .with_context(|| format!("cannot write {}", beside.display()))?;
            command
                .args(arguments)
                .args(progress.verbosity())
                .stdout(file);
            let end = follow(&mut command, stop, progress)?;
            match end {
                PartState::Done => std::fs::rename(&beside, &path),
                _ => std::fs::remove_file(&beside),
            }
            .with_context(|| format!("cannot store {}", path.display()))?;
            Ok(end)
        }
        Work::Run {
            folder: name,
            create,
            unstored,
            ..
        } => {
            let folder = folder.join(name);
            let run = match run_in(&folder) {
                Some(run) => run,
                None => create(&folder, thresholds)?,
            };
            // The user has agreed to the whole evaluation.
            command
                .arg("run")
                .arg(run.path())
                .arg("--yes")
                .args(workers)
                .args(unstored.arguments())
                .args(progress.verbosity())
                .stdout(Stdio::null());
            follow(&mut command, stop, progress)
        }
    }
}

fn follow(
    command: &mut Command,
    stop: &AtomicBool,
    progress: &PartProgress,
) -> anyhow::Result<PartState> {
    let parent = getpid();
    // SAFETY: between fork and exec the closure makes two system calls and allocates no memory.
    unsafe {
        command.pre_exec(move || {
            // The process must not outlive its parent, which may have ended already.
            prctl::set_pdeathsig(Signal::SIGINT)?;
            if getppid() == parent {
                Ok(())
            } else {
                Err(Errno::ECHILD.into())
            }
        });
    }
    // Only this process receives Ctrl-C, and passes it on once.
    command.process_group(0);
    let mut child = command.spawn().context("cannot start a part")?;
    let last = Mutex::new(String::new());
    let stderr = child.stderr.take();
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            let lines = stderr
                .into_iter()
                .flat_map(|err| BufReader::new(err).split(b'\n'));
            for line in lines.map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line);
                let line = line.strip_prefix("netbench: ").unwrap_or(&line).trim_end();
                if !line.is_empty() {
                    progress.line(line);
                    line.clone_into(&mut last.lock().unwrap_or_else(PoisonError::into_inner));
                }
            }
        });
        wait(&mut child, stop, progress)
    })?;
    let last = last.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(match status {
        // Exit code 3: the step ran, but found nothing to compare, which the report explains. Exit code 4: a figure is
        // beyond a threshold, by which the evaluation answers too.
        Some(status) if matches!(status.code(), Some(0 | 3 | 4)) => PartState::Done,
        Some(status) if status.code() == Some(130) || stop.load(Ordering::Relaxed) => {
            PartState::Interrupted
        }
        Some(status) if status.code() == Some(NO_NETWORK.into()) => {
            PartState::Unsupported { why: last }
        }
        Some(status) if last.is_empty() => PartState::Failed {
            why: status.to_string(),
        },
        Some(_) => PartState::Failed { why: last },
        None => PartState::Failed {
            why: format!("it took longer than {} s", LIMIT.as_secs()),
        },
    })
}

/// Waits for the process, and returns `None` if it took too long.
fn wait(
    child: &mut Child,
    stop: &AtomicBool,
    progress: &PartProgress,
) -> anyhow::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a part")? {
            return Ok(Some(status));
        }
        progress.tick();
        let late = begun.elapsed() > LIMIT;
        match asked {
            None if late || stop.load(Ordering::Relaxed) => {
                interrupt(child);
                asked = Some(Instant::now());
            }
            Some(asked) if asked.elapsed() > STOP_LIMIT => {
                // The process may have ended just now.
                let _killed = child.kill();
                let status = child.wait().context("cannot wait for a part")?;
                return Ok((!late).then_some(status));
            }
            _ => {}
        }
        thread::sleep(LOOK);
    }
}

fn interrupt(child: &Child) {
    if let Ok(process) = i32::try_from(child.id()) {
        // The process may have ended just now.
        let _ended = kill(Pid::from_raw(process), Signal::SIGINT);
    }
}
