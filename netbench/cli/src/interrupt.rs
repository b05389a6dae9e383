//! Ctrl-C, SIGTERM and SIGHUP. The first one stops what is being done, the second ends the process at once.
//!
//! By signal handlers and without a thread: a link must be opened while the process has one, and building a
//! worker before that takes minutes.

use std::{
    ffi::c_int,
    os::unix::process::CommandExt,
    process::{Command, ExitStatus},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use netbench_runner::end_workers;
use nix::{
    libc,
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, killpg, sigaction},
    unistd::Pid,
};

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The process group of the build that runs, if one does.
static BUILD: AtomicI32 = AtomicI32::new(0);

/// Whether there is something to keep: from then on the process ends by itself.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// What a command is asked to stop by Ctrl-C.
pub(crate) const CODE: u8 = 130;

/// While there is nothing to keep, how long workers and builds have to be ended.
const SECONDS: libc::c_uint = 2;

/// How often a wait looks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

const STOPPING: &[u8] = b"netbench: stopping; press Ctrl-C again to stop at once\n";

/// Becomes true with Ctrl-C. Until [`keep`] is called the process then ends within two seconds, whatever it is
/// doing.
pub(crate) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = STOP.get_or_init(Arc::default);
    let end = SigHandler::Handler(end);
    for (signal, handler) in [
        (Signal::SIGALRM, end),
        (Signal::SIGINT, SigHandler::Handler(hear)),
        (Signal::SIGTERM, SigHandler::Handler(hear)),
        (Signal::SIGHUP, SigHandler::Handler(hear)),
    ] {
        let action = SigAction::new(handler, SaFlags::SA_RESTART, SigSet::empty());
        // SAFETY: the handlers use atomics and calls that are safe in a handler.
        let old = unsafe { sigaction(signal, &action) }.context("cannot wait for Ctrl-C")?;
        // nohup's doing, which is to last.
        if signal == Signal::SIGHUP && matches!(old.handler(), SigHandler::SigIgn) {
            // SAFETY: as it was.
            unsafe { sigaction(signal, &old) }.context("cannot wait for Ctrl-C")?;
        }
    }
    Ok(Arc::clone(stop))
}

/// From now on there is something to keep.
pub(crate) fn keep() {
    KEEPS.store(true, Ordering::SeqCst);
    // What has been asked for meanwhile is done by who looks at the flag.
    // SAFETY: changes this process' alarm only.
    unsafe { libc::alarm(0) };
}

/// Whether the command was asked to stop.
pub(crate) fn is_asked() -> bool {
    let asked = |stop: &Arc<AtomicBool>| stop.load(Ordering::SeqCst);
    STOP.get().is_some_and(asked)
}

/// Whether the command was asked to stop, and there was nothing to keep.
pub(crate) fn in_vain() -> bool {
    is_asked() && !KEEPS.load(Ordering::SeqCst)
}

/// Runs a program to its end. Ctrl-C ends it, and what it has started.
pub(crate) fn status(command: &mut Command) -> anyhow::Result<ExitStatus> {
    watched_status(command, || {})
}

/// The same, and looks after it meanwhile, many times a second.
pub(crate) fn watched_status(
    command: &mut Command,
    look: impl FnMut(),
) -> anyhow::Result<ExitStatus> {
    let status = ended(command, Duration::MAX, look)?;
    status.context("it did not end")
}

/// As [`status`]; none where it did not end within `limit`, and was ended.
pub(crate) fn status_within(
    command: &mut Command,
    limit: Duration,
) -> anyhow::Result<Option<ExitStatus>> {
    ended(command, limit, || {})
}

fn ended(
    command: &mut Command,
    limit: Duration,
    mut look: impl FnMut(),
) -> anyhow::Result<Option<ExitStatus>> {
    let stop = stop_on_signals()?;
    let begun = Instant::now();
    // A terminal's Ctrl-C is passed on.
    let mut child = command.process_group(0).spawn()?;
    BUILD.store(i32::try_from(child.id()).unwrap_or(0), Ordering::SeqCst);
    loop {
        if let Some(status) = child.try_wait()? {
            BUILD.store(0, Ordering::SeqCst);
            return Ok(Some(status));
        }
        let is_asked = stop.load(Ordering::SeqCst);
        if is_asked || begun.elapsed() > limit {
            end_build();
            child.wait()?;
            BUILD.store(0, Ordering::SeqCst);
            if is_asked {
                bail!("stopped");
            }
            return Ok(None);
        }
        look();
        thread::sleep(LOOK);
    }
}

fn end_build() {
    let group = BUILD.load(Ordering::SeqCst);
    if group > 1 {
        // It may have ended just now.
        let _ended = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

extern "C" fn hear(_: c_int) {
    let Some(stop) = STOP.get() else { return };
    if stop.swap(true, Ordering::SeqCst) {
        // Asked twice: at once. Samples are stored as they come.
        end(0);
    }
    // SAFETY: both are safe in a handler, and the text is as long as that.
    unsafe {
        // A closed stderr does not keep a run from being stopped.
        let _ = libc::write(
            libc::STDERR_FILENO,
            STOPPING.as_ptr().cast(),
            STOPPING.len(),
        );
        if !KEEPS.load(Ordering::SeqCst) {
            libc::alarm(SECONDS);
        }
    }
}

extern "C" fn end(_: c_int) {
    end_workers();
    end_build();
    // SAFETY: safe in a handler.
    unsafe { libc::_exit(c_int::from(CODE)) }
}
